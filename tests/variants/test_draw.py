"""Variants: the same for the same seed, written in so that they are read as what was drawn, and solved as any card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import derive
from derive.card import Card
from derive.commands.solve import solve
from derive.errors import CardError
from derive.question import module_of
from derive.render import files
from derive.sections import lines_of
from derive.variants import drawn
from tests.bank import ROOT, VARIED

GALLERY = ROOT / "output" / "gallery"
ALL = r"""---
id: every_kind
vary_k: [2, 3]
vary_X: distinct integers -9..9, 3 x {{k}}
vary_x:
  decimals -2..2 by 0.25, {{k}}
# a comment
vary_f:
  - '\max(0, s)'
  - 'it''s'
kernel_size: '{{k}}'
note: 'k is {{k}}, f is {{f}}'
vary_t: one-hot, 3
vary_y: signs
---
# Question
{{k}} cells; $X = {{X}}$, $x = {{ x }}$, {{f}}, $t = {{t}}$, {{y}}.
"""


def variants(text: str = ALL, count: int = 40) -> Iterator[tuple[dict[str, str], Card]]:
    card = Card.parse(text, "q.md")
    for n in range(1, count + 1):
        found = drawn(card, 7, n)
        yield dict(found.choices), found.card


def matrix(text: str) -> np.ndarray[Any, Any]:
    return np.array(eval(text))


def test_what_is_drawn_is_of_its_kind_and_varies() -> None:
    found = [choices for choices, _ in variants()]
    assert {c["k"] for c in found} == {"2", "3"} and {c["f"] for c in found} == {r"\max(0, s)", "it's"}
    assert {c["y"] for c in found} == {"-1", "1"}
    assert {c["t"] for c in found} == {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"}
    for c in found:
        X, x = matrix(c["X"]), matrix(c["x"])
        assert X.shape == (3, int(c["k"])) and len({*X.flat}) == X.size and abs(X).max() <= 9
        assert x.shape == (int(c["k"]),) and ((4 * x) % 1 == 0).all() and abs(x).max() <= 2
    assert len({c["X"] for c in found}) == len(found)


def test_the_choices_are_written_in_and_lines_stay_where_they_are() -> None:
    for choices, card in variants(count=8):
        assert len(lines_of(card.text)) == len(lines_of(ALL)) and card.question_line == 17 and "{{" not in card.text
        assert card.front_matter == {"id": "every_kind", "kernel_size": int(choices["k"]), "note": f"k is {choices['k']}, f is {choices['f']}"}
        assert f"# k: {choices['k']}\n" in card.text and "# a comment\n" in card.text
        X, x = matrix(choices["X"]), matrix(choices["x"])
        rows = r" \\ ".join(" & ".join(map(str, row)) for row in X)
        assert rf"$X = \begin{{pmatrix}} {rows} \end{{pmatrix}}$" in card.question
        assert rf"$x = ({', '.join(f'{n:g}' for n in x)})^\top$" in card.question
        assert card.question.startswith(f"{choices['k']} cells;") and f", ${choices['y']}$." in card.question


def test_the_same_seed_gives_the_same_and_another_key_changes_nothing_beside_it() -> None:
    card, more = Card.parse(ALL), Card.parse(ALL.replace("vary_y", "vary_z: [1, 2]\nvary_y") + "{{z}}\n")
    first = drawn(card, 7, 3)
    assert first == drawn(card, 7, 3) and first.choices != drawn(card, 8, 3).choices
    assert {*first.choices} <= {*drawn(more, 7, 3).choices}
    # as every machine draws it
    assert first.said == "k = 3, X = [[7, -8, -6], [-7, -3, 1], [-4, 9, 4]], x = [0, 0.25, -2], f = \\max(0, s), t = [0, 1, 0], y = 1"


SCALARS = [
    ("2{{a}}", "2(-3)"), ("x - {{a}}", "x - (-3)"), ("{{a}}^2", "(-3)^2"), ("= {{a}} x", "= -3 x"), ("({{a}}, 1)", "(-3, 1)"),
    ("x^{{a}}", "x^{-3}"), ("x_{ {{a}} }", "x_{ -3 }"), (r"\frac{{a}}{2}", r"\frac{-3}{2}"), (r"\frac{1}{{a}}", r"\frac{1}{-3}"),
    ("2{{b}}", "2(4)"), ("{{b}}3", "(4)3"), ("x{{b}}", "x4"), ("{{b}} {{b}}", "4 (4)"), ("{{b}}^2", "4^2"), (r"\cdot {{a}}", r"\cdot (-3)"),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "written"), SCALARS)
def test_a_number_does_not_run_into_its_neighbours(formula: str, written: str) -> None:
    card = Card.parse(f"---\nid: q\nvary_a: integers -3..-3\nvary_b: [4]\n---\n# Question\n${formula}$ {{{{a}}}}{{{{b}}}}\n")
    assert drawn(card, 0, 1).card.question == f"${written}$ $-3$4\n"


@pytest.mark.parametrize("path", VARIED, ids=lambda path: path.stem)
def test_what_is_read_is_what_was_drawn(path: Any) -> None:
    card = Card.read(path)
    for n in range(1, 5):
        variant = drawn(card, 1, n)
        module = module_of(variant.card)
        read = {name.replace("delta_Y", "delta"): [v for _, v in sorted(entries)] for name, entries in module.values}
        for name, text in variant.choices:
            if name.startswith("values."):
                assert read[name.removeprefix("values.")] == [Fraction(str(v)) for v in matrix(text).flat]


@pytest.mark.parametrize("path", VARIED, ids=lambda path: path.stem)
def test_the_first_variant_is_solved_and_its_sheet_is_in_the_gallery(path: Any) -> None:
    card = drawn(Card.read(path), 0, 1).named
    solution = derive.solve(card)
    assert solution.report.ok
    for file, text in {f"{card.id}.md": derive.render(solution, "md"), **files(solution, "md")}.items():
        assert (GALLERY / file).read_text("utf-8") == text, "`make gallery` writes them anew"


def test_the_command_solves_a_variant(tmp_path: Any) -> None:
    def run(*options: str) -> Any:
        return CliRunner().invoke(solve, [str(VARIED[1]), "--format", "md", "-o", str(tmp_path), "--no-cache", *options])

    found = run("--variant", "3", "--seed", "7")
    assert found.exit_code == 0, found.output
    (file,) = tmp_path.glob("*.md")
    assert file.name == f"{VARIED[1].stem}_3.md" and re.search(rf"^id: {VARIED[1].stem}_3$", file.read_text("utf-8"), re.M)
    assert run().exit_code == 2 and "left open" in run().output
    assert run("--variant", "1", "--in-place").exit_code == 2


def test_an_id_that_is_no_word_is_quoted() -> None:
    card = Card.parse("---\nid: 'a: it''s'\nvary_k: [2]\n---\n# Question\n{{k}}\n")
    assert drawn(card, 0, 4).named.id == "a: it's_4"
    with pytest.raises(CardError, match="on one line"):
        _ = drawn(Card.parse("---\nid:\n  q\nvary_k: [2]\n---\n# Question\n{{k}}\n"), 0, 4).named
