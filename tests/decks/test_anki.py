"""A deck of Anki, imported into a real collection: a second import updates and doubles nothing."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from derive.card import Card
from derive.decks.anki import collected, part
from derive.decks.html import displayed
from derive.errors import CardError, VerificationError
from derive.render import Part, render
from tests.bank import CARDS, REFUSED, solved
from tests.render.example import CARD, SHEET, Solution
from tests.render.test_notes import hostile

pytest.importorskip("genanki")
NAMES = ("max_pooling_numbers", "relu_layer", "one_neuron_step")
YEAR = 1_700_000_000


def opened(deck: bytes) -> tuple[list[tuple[Any, ...]], dict[str, Any], dict[str, bytes]]:
    """(notes, the collection's row, media by name)."""
    with zipfile.ZipFile(io.BytesIO(deck)) as archive:
        names = json.loads(archive.read("media"))
        media = {name: archive.read(n) for n, name in names.items()}
        with sqlite3.connect(":memory:") as database:
            database.deserialize(archive.read("collection.anki2"))
            notes = database.execute("SELECT guid, mod, tags, flds, mid FROM notes").fetchall()
            models, decks = database.execute("SELECT models, decks FROM col").fetchone()
    return notes, {"models": json.loads(models), "decks": json.loads(decks)}, media


def test_the_same_cards_give_the_same_bytes() -> None:
    parts = [Part(part(solved(name)), YEAR) for name in NAMES]
    assert collected(parts) == collected(parts)
    assert render(Solution(), "anki") == render(Solution(), "anki")


def test_a_note_has_question_answer_and_steps_to_open() -> None:
    ((_, _, tags, fields, _),), row, media = opened(bytes(render(Solution(), "anki", "full")))
    name, question, answer, steps = fields.split("\x1f")
    assert (name, tags.split()) == ("batch_004", ["cnn", "max-pooling"])
    assert "<h3>Question (5 points)</h3>" in question and r"\(\frac" in question
    assert displayed(answer + steps) == [" ".join(m.latex.split()) for m in SHEET.formulas()]
    assert steps.count("<details>") == 2 and "<summary>The window</summary>" in steps
    assert {d["name"] for d in row["decks"].values()} == {"Default", "Statistical Machine Learning"}
    ((file, picture),) = media.items()
    assert f'<img src="{file}"' in steps and picture.startswith(b"<svg") and file.endswith("batch_004-window.svg")


def test_numbers_follow_from_id_and_course() -> None:
    def numbers(text: str) -> tuple[Any, ...]:
        (note,), row, media = opened(bytes(render(Solution(card=Card.parse(text)), "anki", "full")))
        return note[0], note[4], {*row["decks"]} - {"1"}, {*media}

    one = numbers(CARD)
    assert numbers(CARD.replace("2. What", "2. Tell what")) == one
    renamed, moved = numbers(CARD.replace("id: batch_004", "id: b5")), numbers(CARD.replace("Statistical ", ""))
    assert renamed[0] != one[0] != moved[0] and renamed[1] == moved[1] == one[1]
    assert renamed[2] == one[2] != moved[2] and not renamed[3] & one[3] | moved[3] & one[3]


def test_what_a_question_writes_stays_text() -> None:
    solution = hostile()
    assert solution.card is not None
    card = Card.parse(solution.card.text.replace("id: batch_004", "id: '<b>{{x}} ../q'").replace("tags: [cnn", "tags: ['a \"b', '<i>', cnn")
                      .replace("Statistical", "<u>..::{{s}}"))  # fmt: skip
    ((_, _, tags, fields, _),), row, media = opened(bytes(render(replace(solution, card=card), "anki", "full")))
    assert fields.startswith("b x ../q\x1f") and "<script" not in fields and "[sound" not in fields
    assert tags.split() == ["a_b", "i", "cnn", "max-pooling"]
    assert "u ..:: s Machine Learning" in {" ".join(d["name"].split()) for d in row["decks"].values()}
    assert all("/" not in name and not name.startswith(".") for name in media)


def test_a_changed_formula_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from derive.decks import anki

    right = anki.blocks
    monkeypatch.setattr(anki, "blocks", lambda *given: right(*given).replace(r"\delta_&#123;f,kl", r"\delta_&#123;f,lk"))
    with pytest.raises(VerificationError, match="vjp: the finished file shows"):
        part(Solution(), "full")


def test_other_fields_in_the_file_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    import genanki

    monkeypatch.setattr(genanki.Note, "_format_fields", lambda self: "\x1f".join(self.fields).replace("kl", "lk"))
    with pytest.raises(VerificationError, match="other fields than were checked"):
        collected([Part(part(Solution()))])


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genanki", None)
    with pytest.raises(CardError, match=r"needs the extra `anki`: `pip install 'derive-sheets\[anki\]'`"):
        render(Solution(), "anki")


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Any]:
    kept = pytest.importorskip("anki.collection").Collection(str(tmp_path / "collection.anki2"))
    yield kept
    kept.close()


def imported(collection: Any, deck: bytes) -> tuple[int, int, int, int]:
    """How many notes an import found new, updated, and unchanged, and how many there are then."""
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    file = Path(collection.path).with_name("deck.apkg")
    file.write_bytes(deck)
    request = ImportAnkiPackageRequest(package_path=str(file), options=ImportAnkiPackageOptions(merge_notetypes=True))
    log = collection.import_anki_package(request).log
    return len(log.new), len(log.updated), len(log.duplicate), collection.note_count()


def test_a_second_import_updates_and_doubles_nothing(collection: Any) -> None:
    parts = [part(solved(name)) for name in NAMES]
    assert imported(collection, collected([Part(text, YEAR) for text in parts])) == (3, 0, 0, 3)
    assert imported(collection, collected([Part(text, YEAR) for text in parts])) == (0, 0, 3, 3)
    (learnt,) = map(collection.get_card, collection.find_cards("receives"))
    learnt.type = learnt.queue = 2
    learnt.ivl, learnt.due, learnt.reps = 30, 90, 5
    collection.update_card(learnt)
    changed = [Part(parts[0].replace("receives", "takes"), YEAR + 60), *(Part(text, YEAR) for text in parts[1:])]
    assert imported(collection, collected(changed)) == (0, 1, 2, 3)
    (note,) = map(collection.get_note, collection.find_notes("takes"))
    (card,) = note.cards()
    assert (collection.decks.name(card.did), note.tags, note["Id"]) == ("Deep Learning", ["cnn", "pooling"], "max_pooling_numbers")
    assert (card.id, card.ivl, card.reps) == (learnt.id, 30, 5)
    shown = card.render_output()
    assert r"\(2 \times 2\)" in shown.question_text and "<details>" in shown.answer_text and collection.card_count() == 3
    assert len(list(Path(collection.media.dir()).glob("derive-*-max_pooling_numbers-*.svg"))) == 2


@pytest.mark.some(60)
@pytest.mark.parametrize("name", [path.stem for path in CARDS if path not in REFUSED])
def test_every_card_has_its_note(name: str) -> None:
    (note,), _, _ = opened(bytes(render(solved(name), "anki")))
    assert displayed(note[3]) == [" ".join(m.latex.split()) for m in solved(name).sheet.blocks("standard") if hasattr(m, "latex")]
