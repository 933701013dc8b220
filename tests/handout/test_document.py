"""The handout: which cards it takes, and what its document holds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from jinja2 import ChoiceLoader, DictLoader

import derive
from derive.card import Card
from derive.errors import CardError, VerificationError
from derive.handout import MODES, Head, Item, Selection, bounds, document
from derive.render import latex
from derive.render.guard import displayed
from derive.render.latex import layouts
from derive.render.pdf import compile_latex, engine
from derive.sheet import Math
from derive.verify.report import Check, Report, Verdict
from tests.bank import named, solved

HAND = r"""---
id: by_hand
course: Other course
tags: [cnn]
---
# Question
(3 pts) What is 50 % of $x_1$? \input{/etc/passwd}

# Solution
It is $\frac{x_1}{2}$, **half** of it.
"""
BARE = "---\nid: bare\n---\n# Question\nNothing is known of this.\n"


@cache
def items() -> tuple[Item, ...]:
    names = ("czech", "overlapping", "one_d")
    return (*(Item(Card.read(named(name)), solved(name)) for name in names), Item(Card.parse(HAND)), Item(Card.parse(BARE)))


@cache
def made(mode: str) -> str:
    return document(items(), Head("Exam & test", "A_B", "3 June"), mode)


@pytest.mark.parametrize("mode", ["space", "marking"])
def test_each_page_has_its_number(mode: str) -> None:
    _, _, after = made(mode).rpartition(r"\pagestyle{")
    assert after.startswith("headandfoot}") and r"\footer{}{}{\footnotesize \thepage\,/\,\numpages}" in made(mode)


def test_room_to_write_in_proportion_to_the_points_and_no_answer() -> None:
    text = made("space")
    assert [int(part.split("}")[0]) for part in text.split(r"\writingspace{")[1:]] == [5, 5, 5, 3, 5]
    assert r"\question[5]" in text and r"\question[3]" in text and r"Points & 5 & -- & -- & 3 & -- & 8 \\" in text
    assert "Name:" in text and "half" not in text.partition(r"\begin{document}")[2]
    assert displayed(text) == []


def test_the_whole_solution_or_the_cards_own() -> None:
    text = made("solutions")
    assert text.count(r"\begin{worked}") == 4 and text.count(r"\writingspace{") == 1
    assert r"It is $\frac{x_1}{2}$, \textbf{half} of it." in text and "Worked example" in text
    blocks = [b for item in items() if item.solution for b in replace(item.solution.sheet, closing=()).blocks("standard")]
    assert displayed(text) == [" ".join(b.latex.split()) for b in blocks if isinstance(b, Math)]
    assert "Read from the card" not in text and "Checked" not in text and "(line " not in text


def test_a_solution_on_paper_has_its_program_in_full_detail_alone() -> None:
    solution = derive.solve(named("affine_layer"), code=True)
    item = Item(Card.read(named("affine_layer")), solution)
    assert "np.zeros" not in document([item], Head(), "solutions")
    assert "np.zeros" in document([item], Head(), "solutions", detail="full")


def test_the_key_has_the_answers_alone() -> None:
    text = made("key")
    assert "Uvažujte" not in text and "Worked example" not in text and "No solution." in text
    assert r"\textbf{Max pooling: backward message}" in text and r"\textbf{by\_hand}" in text


def test_the_guide_to_marking() -> None:
    text = made("marking")
    assert text.count(r"\step{5}") == 3 and "Typical mistakes" in text and "out of 5" in text


@pytest.mark.parametrize(("mode", "old", "new"), [
    ("space", r"\question\BLOCK{if question.points is not none}[\VAR{question.points}]", r"\question\BLOCK{if question.points is not none}[9]"),
    ("marking", r"\step{\VAR{share.points}}", r"\step{1}"),
])
def test_points_that_only_the_page_changes_are_caught(mode: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = latex.layouts("handout")
    assert pages.loader is not None
    source, *_ = pages.loader.get_source(pages, "handout.tex")
    assert old in source
    changed = pages.overlay(loader=ChoiceLoader([DictLoader({"handout.tex": source.replace(old, new)}), pages.loader]))
    monkeypatch.setattr(latex, "layouts", lambda folder: changed if folder == "handout" else layouts(folder))
    with pytest.raises(VerificationError, match="the printed points are not those that count"):
        document(items(), Head(), mode)


def test_what_shares_points_follows_what_has_them() -> None:
    card = Card.parse(named("lstm_by_name").read_text("utf-8").replace("(12p)", "(2p)"))
    text = document((Item(card, solved("lstm_by_name")),), Head("Exam", "", ""), "marking")
    assert r"\also{and with it the message}" in text and r"\step{}" not in text


def test_text_is_escaped_and_courses_have_headings() -> None:
    text = made("space")
    assert r"Exam \& test" in text and r"A\_B" in text and r"\input{" not in text and r"50 \%" in text
    assert text.count(r"\fullwidth{\section*{") == 1
    assert r"\fullwidth" not in document(items(), Head(), "space", by_course=False)


def test_many_questions_have_a_table_of_several_rows() -> None:
    text = document(items() * 5, Head(), "space")
    assert text.count("Reached &") == 3 and r"& 25 & Total \\" in text and r"& 40 \\" in text


def test_a_question_that_cannot_be_set_names_its_line() -> None:
    card = Card.parse(BARE.replace("Nothing", r"$\write$ 1"), "q.md")
    with pytest.raises(CardError, match=r"q\.md:5: `\\write`"):
        document([Item(card)], Head(), "space")


def test_a_solution_of_its_own_that_cannot_be_set_is_left_out() -> None:
    card = Card.parse(HAND.replace(r"\frac{x_1}{2}", r"\write"))
    assert r"\begin{worked}" not in document([Item(card)], Head(), "solutions").partition(r"\begin{document}")[2]


def test_a_refuted_sheet_is_not_printed() -> None:
    bad = Report((Check("jacobian", "f = x", Verdict.REFUTED, "", "x = 1"),))
    item = items()[0]
    assert item.solution is not None
    with pytest.raises(VerificationError):
        document([replace(item, solution=replace(item.solution, report=bad))], Head(), "key")


@pytest.mark.skipif(engine() is None, reason="no TeX with the packages of a sheet")
@pytest.mark.parametrize(("mode", "program"), [*((mode, "pdflatex") for mode in MODES), ("key", "lualatex")])
def test_it_compiles_without_a_box_that_sticks_out(mode: str, program: str) -> None:
    compiled = compile_latex(made(mode), program, seconds=120, runs=1)
    assert compiled.pdf.startswith(b"%PDF")
    assert [line for line in compiled.overfull if "hbox" in line] == []


def card(id: str, course: str = "", tags: str = "[]", difficulty: str = "", points: int = 0) -> Card:
    opening = f"({points}p) " if points else ""
    level = f"difficulty: {difficulty}\n" if difficulty else ""
    return Card.parse(f"---\nid: {id}\ncourse: {course}\ntags: {tags}\n{level}---\n# Question\n{opening}Q\n")


BANK = [
    card("q10", "Vision", "[cnn, max-pooling]", "3", 5),
    card("q9", "Learning", "[cnn, '#exam']", "2", 2),
    card("q2", "vision", "cnn, exam", "1"),
    card("q1", "Learning", "[]", "hard", 8),
]
CHOSEN = [
    ({"order": "given"}, "q10 q9 q2 q1"),
    ({}, "q9 q1 q10 q2"),  # by course, whatever its capitals; within one as given
    ({"order": "id"}, "q1 q2 q9 q10"),
    ({"order": "difficulty"}, "q2 q9 q10 q1"),  # those without one come last
    ({"order": "points"}, "q9 q10 q1 q2"),
    ({"tags": ("cnn",), "order": "given"}, "q10 q9 q2"),
    ({"tags": ("CNN", "#exam"), "order": "given"}, "q9 q2"),
    ({"tags": ("none",)}, ""),
    ({"courses": ("VISION",), "order": "given"}, "q10 q2"),
    ({"courses": ("Vision", "Learning"), "order": "given"}, "q10 q9 q2 q1"),
    ({"difficulty": (2, 3), "order": "given"}, "q10 q9"),
    ({"difficulty": (1, 2), "tags": ("exam",), "order": "given"}, "q9 q2"),
]


@pytest.mark.parametrize(("options", "ids"), CHOSEN)
def test_selection(options: dict[str, Any], ids: str) -> None:
    assert " ".join(c.id for c in Selection(**options).of(BANK)) == ids


@pytest.mark.parametrize(("written", "found"), [("2", (2, 2)), ("2-3", (2, 3)), (" 1 – 12 ", (1, 12))])
def test_bounds(written: str, found: tuple[int, int]) -> None:
    assert bounds(written) == found


@pytest.mark.parametrize("written", ["", "3-2", "a", "1-2-3", "-1", "1.5"])
def test_what_is_no_range_of_difficulty(written: str) -> None:
    with pytest.raises(CardError, match="write `2` or `2-3`"):
        bounds(written)
