"""The files of a run: which cards are read, and how their sheets are written, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from derive.card import Card, text_of
from derive.errors import CardError, DeriveError, Problem, unwritten
from derive.records import dataclass
from derive.sections import begins

OUTPUT = Path("output")  # where finished sheets go unless the user says otherwise
_NOTE = ".obsidian.md"  # made of a card, and none itself


@dataclass(frozen=True)
class Job:
    """A card to solve; its files are called ``stem``; ``inside``: it was found in a folder."""

    path: Path
    card: Card
    stem: str
    inside: bool = False


def jobs(paths: Iterable[Path], output: Path) -> tuple[list[Job], list[DeriveError], list[str]]:
    """(cards, errors of those that are none, notes on what was skipped) of files and folders.

    Folders are searched for ``*.md``, outside ``output`` and hidden folders; what has
    no front matter is skipped there, and so is a finished sheet whose card is there too.
    Two cards of one id are an error.
    """
    found: dict[Path, Job] = {}
    errors: list[DeriveError] = []
    notes: list[str] = []
    for path in paths:
        inside = path.is_dir()
        files = _cards_in(path, output) if inside else [path]
        if inside and not files:
            notes.append(f"{path}: no `.md` file in this folder")
        for file in files:
            place = _real(file)
            if place in found:
                continue
            if inside and not _begins_as_card(file):
                notes.append(f"{file}: skipped, not a card (no front matter)")
                continue
            try:
                card = Card.read(file)
                found[place] = Job(file, card, card.stem, inside)
            except DeriveError as error:
                errors.append(error)
    return [*_without_duplicates(list(found.values()), errors)], errors, notes


def files_in(paths: Iterable[Path], output: Path) -> list[Path]:
    """The files that :func:`jobs` looks at, each once."""
    found = (file for path in paths for file in (_cards_in(path, output) if path.is_dir() else [path]))
    return list({_real(file): file for file in found}.values())


def _real(path: Path) -> Path:
    """The path without links; where they go in a circle, reading or writing it says so (``Path.resolve`` raises)."""
    return Path(os.path.realpath(path))


def _cards_in(folder: Path, output: Path) -> list[Path]:
    def searched(path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        ours = _real(output) != _real(folder) and _real(output) in _real(path).parents
        return path.is_file() and not hidden and not ours and not path.name.endswith(_NOTE)

    return sorted(filter(searched, folder.rglob("*.md")))


def _begins_as_card(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return begins([opened.read(100).decode("utf-8", "replace").split("\n")[0]])
    except OSError:
        return True  # reading it says why not


def _without_duplicates(found: list[Job], errors: list[DeriveError]) -> Iterable[Job]:
    names: dict[str, list[Job]] = {}
    for job in found:
        names.setdefault(job.stem.casefold(), []).append(job)
    for same in names.values():
        same = [job for job in same if not job.card.generated] or same  # a sheet of ours beside its card is no card
        if len(same) == 1:
            yield same[0]
            continue
        first, *others = same
        for other in others:
            message = f"the id `{other.card.id}` is also that of {first.path}; give each card its own"
            errors.append(CardError(Problem(message, str(other.path), other.card.key_line("id"))))


def keep_hand_written(target: Path, job: Job) -> None:
    """Raise :class:`CardError` where ``target``, the card itself or another file, is in part somebody's own work.

    A card without a solution may take one; any other file is overwritten only if its solution bears
    our mark and nobody has edited it since.
    """
    own = _real(target) == _real(job.path)
    if not own and not target.is_file():  # a folder, or nothing: writing says what is wrong
        return
    try:
        card = job.card if own else Card.read(target)
    except CardError:
        raise CardError(Problem("is no sheet of this program; --force overwrites it", str(target))) from None
    if not card.generated and (card.solution.strip() or not own):
        message = "the solution was written by hand; --force overwrites it"
        raise CardError(Problem(message, str(target), card.solution_line))


def written_at(path: Path) -> int:
    """The second in which a file was written, or the one that ``SOURCE_DATE_EPOCH`` pins; 0 where there is no file."""
    pinned = os.environ.get("SOURCE_DATE_EPOCH", "")
    if pinned.isdecimal():
        return int(pinned)
    return int(path.stat().st_mtime) if path.is_file() else 0


def unchanged(job: Job) -> None:
    """Raise :class:`CardError` where the card has been saved again since it was read: its sheet would undo that."""
    if text_of(job.path) != job.card.text:
        raise CardError(Problem("the card was changed while it was solved; solve it again", str(job.path)))


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write the files, each whole; none if one cannot be prepared.

    Raises :class:`CardError` where a folder or file cannot be written, a full disk as ``RenderError``.
    """
    ready: list[tuple[str, Path]] = []
    path = Path()
    try:
        for path, content in contents.items():
            ready.append((_prepared(path, content), path))
        while ready:
            temporary, path = ready[0]
            os.replace(temporary, _real(path))
            ready.pop(0)
    except OSError as error:
        raise unwritten(error, path) from None
    finally:
        for temporary, _ in ready:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _prepared(path: Path, content: str | bytes) -> str:
    """A temporary file beside ``path`` with its content; renaming it is atomic."""
    target = _real(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    data = content.encode("utf-8") if isinstance(content, str) else content
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "the file is write-protected")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if target.exists():
            shutil.copymode(target, name)
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
    except OSError:
        os.unlink(name)
        raise
    return name
