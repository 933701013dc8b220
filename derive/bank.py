"""The files of a run: which cards are read, and how their sheets are written, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem
from derive.front_matter import begins


@dataclass(frozen=True)
class Job:
    """A card to solve; its files are called ``stem``."""

    path: Path
    card: Card
    stem: str


def jobs(paths: Iterable[Path], output: Path) -> tuple[list[Job], list[DeriveError], list[str]]:
    """(cards, errors of those that are none, notes on what was skipped) of files and folders.

    Folders are searched for ``*.md``, outside ``output`` and hidden folders; what has
    no front matter is skipped there.  Two cards of one id are an error.
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
                found[place] = Job(file, card, _stem(card.id))
            except DeriveError as error:
                errors.append(error)
    return [*_without_duplicates(list(found.values()), errors)], errors, notes


def _real(path: Path) -> Path:
    """The path without links; where they go in a circle, reading or writing it says so (``Path.resolve`` raises)."""
    return Path(os.path.realpath(path))


def _cards_in(folder: Path, output: Path) -> list[Path]:
    def searched(path: Path) -> bool:
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        ours = _real(output) != _real(folder) and _real(output) in _real(path).parents
        return path.is_file() and not hidden and not ours

    return sorted(filter(searched, folder.rglob("*.md")))


def _begins_as_card(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return begins([opened.read(100).decode("utf-8", "replace").split("\n")[0]])
    except OSError:
        return True  # reading it says why not


def _stem(card_id: str) -> str:
    """A file name of the id, without what file systems or shells take amiss."""
    return re.sub(r"[^\w.-]+", "_", card_id).strip(".")[:100] or "card"


def _without_duplicates(found: list[Job], errors: list[DeriveError]) -> Iterable[Job]:
    names: dict[str, list[Job]] = {}
    for job in found:
        names.setdefault(job.stem.casefold(), []).append(job)
    for same in names.values():
        if len(same) == 1:
            yield same[0]
            continue
        first, *others = same
        for other in others:
            message = f"the id `{other.card.id}` is also that of {first.path}; give each card its own"
            errors.append(CardError(Problem(message, str(other.path), other.card.key_line("id"))))


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """Write the files, each whole; none if one cannot be prepared.

    Raises :class:`CardError` where a folder or file cannot be written.
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
        raise CardError(Problem(f"cannot be written: {error.strerror or error}", str(path))) from None
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
