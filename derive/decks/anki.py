"""A deck of Anki: a note for each card, which the next import of the same card updates.

The numbers of note, deck and note type follow from the card's id and its course.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from derive.decks.html import Writer, blocks, displayed, inline, inside
from derive.errors import CardError, Problem, VerificationError
from derive.render import Part
from derive.render.dialect import question
from derive.render.guard import guard, guard_sentences
from derive.render.pictures import figure_name, svg
from derive.sheet import Scene, sections
from derive.words import environment, templates, wording

if TYPE_CHECKING:
    from derive.render.guard import Solved

_FIELDS = ("Id", "Question", "Answer", "Steps")
_UNNAMED = "derive"  # the deck of cards without a course
_FIRST, _SPAN = 1_300_000_000_000, 300_000_000_000  # Anki's numbers are milliseconds since 1970: those of ten years
_DATE = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP archive knows


def part(solution: Solved, detail: str = "standard") -> str:
    """What a deck needs of one card: its fields as HTML, course, tags, and pictures by name, as JSON."""
    say: Any = wording(solution.sheet.language, "notes")
    card, (answer, *rest) = solution.card, solution.sheet.parts(detail)
    name, course = card.id if card else solution.module.key, card.course if card else ""
    mark = f"derive-{_digest(course, name):016x}-"  # media of all decks lie in one folder

    def picture(scene: Scene) -> str:
        return mark + re.sub(r"[^a-zA-Z0-9._-]+", "_", figure_name(solution, scene))

    asked = question(card, lambda text, line: Writer(line).document(text)) or inline(solution.sheet.title)
    front = _pages().get_template("question.html").render(points=card.points if card else None, question=asked, say=say)
    steps = [{"heading": inline(heading.text) if heading else say.solution(), "body": blocks(own, picture)}
             for heading, own in sections(block for found in rest for block in found)]  # fmt: skip
    fields = (inline(name) if card is None else _plain(name), front, blocks(answer, picture),
              _pages().get_template("steps.html").render(steps=steps))  # fmt: skip
    guard("\n".join(fields[2:]), solution.sheet, detail, displayed)
    guard_sentences(inside("\n".join(fields[2:])), solution.sheet, detail)
    return json.dumps({
        "id": name, "course": course, "fields": fields, "tags": [t for t in map(_tag, card.tags if card else ()) if t],
        "media": {picture(f.scene): svg(f.scene) for f in solution.sheet.figures(detail)},
    }, ensure_ascii=False)  # fmt: skip


def collected(parts: Sequence[Part]) -> bytes:
    """The deck of some cards, each with the second in which it was written; the same cards give the same bytes.

    Raises :class:`CardError` where ``genanki`` is missing, and :class:`VerificationError` where the finished file has
    other fields than its parts.
    """
    ready()
    from genanki import Deck, Model, Note, Package

    class Dated(Note):
        """A note with its own number and age."""

        def write_to_db(self, cursor: Any, timestamp: float, deck_id: int, id_gen: Any) -> None:
            super().write_to_db(cursor, self.written, deck_id, itertools.count(self.number))

    newest = max((given.written for given in parts), default=0)
    model = Model(
        _number("derive", *_FIELDS), "derive", fields=[{"name": name} for name in _FIELDS],
        templates=[{"name": "derive", "qfmt": _file("front.html"), "afmt": _file("back.html")}], css=_file("style.css"))
    decks: dict[str, Any] = {}
    media: dict[str, bytes] = {}
    taken: set[int] = set()
    for given in parts:
        found = json.loads(given.text)
        course = found["course"]
        deck = decks.setdefault(course, Deck(_number("deck", course), _plain(course) or _UNNAMED))
        note = Dated(model, list(found["fields"]), tags=found["tags"], due=len(deck.notes),
                     guid=f"{_digest('note', course, found['id']):016x}")  # fmt: skip
        number = _number("note", course, found["id"])
        note.written, note.number = given.written, next(n for n in itertools.count(number) if n not in taken)
        taken.add(note.number)
        deck.add_note(note)
        media |= {name: picture.encode() for name, picture in found["media"].items()}
    with sqlite3.connect(":memory:") as database:
        Package(list(decks.values())).write_to_db(database.cursor(), newest, itertools.count(1))
        database.commit()
        _refuse_others(database, parts)
        return _zipped(database.serialize(), media)


def render(solution: Solved, detail: str = "standard") -> bytes:
    """The deck of one card, as old as ``SOURCE_DATE_EPOCH`` says."""
    pinned = os.environ.get("SOURCE_DATE_EPOCH", "")
    return collected([Part(part(solution, detail), int(pinned) if pinned.isdecimal() else 0)])


def ready() -> None:
    """Raise :class:`CardError` where the extra is missing."""
    try:
        import genanki  # noqa: F401
    except ImportError:
        raise CardError("`--format anki` needs the extra `anki`: `pip install 'derive-sheets[anki]'`") from None


def _refuse_others(database: sqlite3.Connection, parts: Sequence[Part]) -> None:
    wanted = sorted("\x1f".join(json.loads(given.text)["fields"]) for given in parts)
    if wanted != sorted(fields for fields, in database.execute("SELECT flds FROM notes")):
        raise VerificationError(Problem("the finished deck has other fields than were checked"))


def _zipped(database: bytes, media: dict[str, bytes]) -> bytes:
    names = {str(n): name for n, name in enumerate(media)}
    files = {"collection.anki2": database, "media": json.dumps(names).encode(),
             **{n: media[name] for n, name in names.items()}}  # fmt: skip
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _digest(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8], "big")


def _number(*parts: str) -> int:
    return _FIRST + _digest(*parts) % _SPAN


def _plain(text: str) -> str:
    """A name in one line, no part of which opens a tag or a field."""
    return " ".join(re.sub(r"[<>&{}\[\]\x00-\x1f]+", " ", text).split())


def _tag(text: str) -> str:
    return re.sub(r"[\s\"'<>&]+", "_", text).strip("_")


@cache
def _file(name: str) -> str:
    return (templates() / "decks" / name).read_text("utf-8").strip()


@cache
def _pages() -> Any:
    return environment("decks")
