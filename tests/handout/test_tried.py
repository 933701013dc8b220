"""What is seen of many variants: each flaw that is planted is found, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from derive.card import Card
from derive.cli import main
from derive.errors import CardError, DeriveError
from derive.handout.pieces import Answer, Piece
from derive.handout.tried import Spread, Tried, tried
from derive.variants import Variant
from tests.bank import VARIED

CARD = Card.parse("---\nid: q\n---\n# Question\nQ\n")


def piece(y: float = 1, x: tuple[float, ...] = (1, 2), steps: int = 3, tied: bool = False) -> Piece:
    return Piece({}, (Answer("y", str(y), (y,)), Answer("∂y/∂x", str(list(x)), x)), tied, steps)


def of(*found: Piece | DeriveError, choices: str = "") -> Tried:
    drawn = choices or "abcdefgh"[: len(found)]
    variants = [Variant(n, (("c", c),), CARD) for n, c in enumerate(drawn, 1)]
    return tried("q", 7, list(zip(variants, found, strict=True)))


def test_nothing_is_wrong_with_good_ones() -> None:
    found = of(piece(1, (1, 2)), piece(2, (0, 3), 5), piece(-4, (5, 5.5), 4))
    assert (found.solved, found.unsolved, found.repeated, found.same_answer, found.all_zero, found.all_equal, found.tied) == (3, {}, (), (), {}, {}, ())
    assert found.answers == (Spread("y", 3, -4, 1, 2, 0.0), Spread("∂y/∂x", 3, 0, 2.5, 5.5, 0.1667))
    assert found.work == Spread("work", 3, 6, 7, 8, 0.0)


FLAWS: list[tuple[list[Any], str, str, Any]] = [
    ([CardError("a kink"), piece(), CardError("a kink"), CardError("no")], "", "unsolved", {"a kink": (1, 3), "no": (4,)}),
    ([piece(1), piece(1), piece(3)], "aab", "repeated", (2,)),
    ([piece(1), piece(1), piece(3)], "abc", "same_answer", (2,)),
    ([piece(1), piece(1), piece(1)], "aab", "same_answer", (3,)),
    ([piece(0), piece(1, (0, 0))], "", "all_zero", {"y": (1,), "∂y/∂x": (2,)}),
    ([piece(5, (3, 3)), piece(1, (0, 0)), piece(2, (3, 2))], "", "all_equal", {"∂y/∂x": (1,)}),
    ([piece(1), piece(2, tied=True)], "", "tied", (2,)),
]  # fmt: skip


@pytest.mark.parametrize(("pieces", "choices", "field", "value"), FLAWS)
def test_each_flaw_is_found(pieces: list[Any], choices: str, field: str, value: Any) -> None:
    assert getattr(of(*pieces, choices=choices), field) == value


def test_of_formulas_there_is_no_spread() -> None:
    found = of(Piece({}, (Answer("∂y/∂x", "p − t"),), steps=2), Piece({}, (Answer("∂y/∂x", "2 p"),), steps=4))
    assert found.answers == (Spread("∂y/∂x", 2),) and found.work == Spread("work", 2, 2, 3, 4, 0.0) and not found.all_zero


POOLING = VARIED[3].read_text("utf-8")


def run(path: Path, *arguments: str) -> Any:
    return CliRunner().invoke(main, ["try", str(path), "-n", "6", "--no-cache", "-j", "1", *arguments])


def write(place: Path, text: str) -> Path:
    path = place / "q.md"
    path.write_text(text, "utf-8")
    return path


def test_ties_of_a_pooling_are_seen_and_none_where_numbers_are_distinct(tmp_path: Path) -> None:
    assert VARIED[3].stem == "pooling_numbers"
    good = json.loads(run(VARIED[3], "--format", "json").stdout)
    assert good["tied"] == [] and good["unsolved"] == {} and good["count"] == 6
    bad = json.loads(run(write(tmp_path, POOLING.replace("distinct integers 0..20", "integers 0..1")), "--format", "json").stdout)
    assert len(bad["tied"]) == 6 and "Y" in {a["name"] for a in bad["answers"]}


def test_the_table_and_the_plot(tmp_path: Path) -> None:
    plot = tmp_path / "spread.svg"
    found = run(VARIED[4], "--plot", str(plot))
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("relu_network_numbers: 6 variants of seed 0, ")
    assert {line.split()[0] for line in found.stdout.splitlines()[-6:]} == {"h", "y", "∂y/∂W", "∂y/∂v", "∂y/∂x", "work"}
    assert plot.read_text("utf-8").startswith("<svg") and ">work<" in plot.read_text("utf-8")
    assert run(VARIED[4], "--plot", str(plot)).stdout == found.stdout


def test_where_none_can_be_solved_the_exit_code_says_why(tmp_path: Path) -> None:
    text = "---\nid: q\nvary_c: [1, 2]\n---\n# Question\nLet $y = \\sum_i \\max(x_i, {{c}})$. Take $x = (1, 2)$. Compute $y$ and $\\partial y/\\partial x$.\n"
    found = run(write(tmp_path, text))
    assert found.exit_code == 2 and "0 solved" in found.stdout and "  cannot be solved                     6  " in found.stdout


@pytest.mark.parametrize(("arguments", "said"), [
    (("--format", "xml"), "unknown format `xml`"), (("--plot", "a.png"), "a plot is `.svg`, not `.png`; name it so"),
])  # fmt: skip
def test_what_is_wrong_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    found = run(VARIED[3], *arguments)
    assert found.exit_code == 2 and said in found.stderr and found.stderr.count("\n") == 1


def test_a_card_without_choices_is_told(tmp_path: Path) -> None:
    assert "leaves no choice open" in run(write(tmp_path, "---\nid: q\n---\n# Question\nQ\n")).stderr
