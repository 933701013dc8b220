"""Answers to a question: what is given, the mark, the first mistake and what follows, and the formats for programs."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import derive
from derive.check.report import Report
from derive.cli import main

CARD = r"""---
id: neuron
points: 6
---

# Question
Let $s = \sum_j w_j x_j + b$ and $\ell = (y - \tanh(s))^2$ with target $y$ and trainable $w$, $b$.
Derive the parameter messages.

---
# Solution
"""
S = r"\frac{\partial \ell}{\partial s}"
W, B = r"\frac{\partial \ell}{\partial w_j}", r"\frac{\partial \ell}{\partial b}"
WHOLE = rf"""Let $p = \tanh(s)$. Then ${S} = -2 (y - p) (1 - p^2)$. Hence

$$ {W} = -2 (y - p) (1 - p^2) x_j, \quad {B} = -2 (y - p) (1 - p^2). $$"""


@pytest.fixture(scope="module")
def card() -> derive.Card:
    return derive.Card.parse(CARD)


def statuses(report: Report) -> list[str]:
    return [str(a.status) for a in report.asked]


def test_a_whole_answer_earns_all_points(card: derive.Card) -> None:
    report = derive.check(card, text=WHOLE)
    assert report.ok and report.complete and statuses(report) == ["given", "given"]
    assert report.points is not None and (report.points.low, report.points.high, report.points.total) == (6, 6, 6)
    assert [d.latex for d in report.definitions] == [r"p = \tanh(s)"]


def test_steps_that_give_it_together_imply_it_and_what_is_left_out_is_missing(card: derive.Card) -> None:
    text = rf"We have ${S} = -2 (y - \tanh(s)) (1 - \tanh^2(s))$ and ${W} = {S} x_j$."
    report = derive.check(card, text=text)
    assert statuses(report) == ["implied", "missing"] and report.ok and not report.complete
    assert report.missing == (B,) and report.points is not None and report.points.high < report.points.total


def test_derivatives_along_a_chain_imply_what_is_written_with_them(card: derive.Card) -> None:
    r"""∂ℓ/∂p and ∂p/∂s give the ∂ℓ/∂s of ∂ℓ/∂b = ∂ℓ/∂s; the second of them alone does not."""
    slope = r"Let $p = \tanh(s)$. $\frac{\partial p}{\partial s} = 1 - p^2$ and "
    chain = rf"{slope} $\frac{{\partial \ell}}{{\partial p}} = -2 (y - p)$, ${B} = {S}$."
    report = derive.check(card, text=chain)
    assert statuses(report) == ["missing", "implied"]
    assert report.points is not None and report.points.low == report.points.high > 0
    assert statuses(derive.check(card, text=rf"{slope} ${B} = {S}$.")) == ["missing", "missing"]


def test_what_is_not_read_leaves_a_range(card: derive.Card) -> None:
    report = derive.check(card, text=rf"We have ${W} = \oint_q^7 x_j$.")
    assert statuses(report) == ["open", "open"]
    assert report.points is not None and (report.points.low, report.points.high) == (0, 6)


def test_the_first_mistake_is_told_from_what_follows_from_it(card: derive.Card) -> None:
    text = WHOLE.replace("-2", "2")
    first, *others = derive.check(card, text=text).checks
    assert first.mistake == "the sign is wrong" and first.follows is None
    assert [(str(c.verdict), c.follows, c.mistake) for c in others] == [("refuted", 1, None)] * 2


@pytest.mark.parametrize(("wrong", "mistake"), [
    ("2 (y - p) (1 - p^2) x_j", "the sign is wrong"),
    ("-(y - p) (1 - p^2) x_j", "a factor 2 is lost"),
    ("-2 (y - p) x_j", "the chain is cut short: a factor `∂p/∂s` is missing"),
    ("-2 (y - p) (1 - p^2) w_j", "`w` stands where `x` belongs"),
    ("-2 (y - p) (1 - p^2) x_j b", "a factor too many: `b`"),
])
def test_a_known_mistake_is_named(card: derive.Card, wrong: str, mistake: str) -> None:
    found = derive.check(card, text=rf"Let $p = \tanh(s)$. Then ${W} = {wrong}$.").checks[0]
    assert found.mistake == mistake and found.counterexample


LINEAR = r"""---
id: linear
---

# Question
A layer computes $y_i = \sum_j W_{ij} x_j + b_i$. Let $\delta_i = \frac{\partial L}{\partial y_i}$. Derive the backward and the
parameter messages.
"""


@pytest.mark.parametrize(("wrong", "mistake"), [
    (r"\frac{\partial L}{\partial x_j} = \sum_i \delta_i W_{ji}", "a transpose is lost, or one too many: `W`"),
    (r"\frac{\partial L}{\partial W_{ij}} = \delta_j x_i", "two indices are swapped"),
    (r"\frac{\partial L}{\partial b_i} = 1", "the upstream gradient is left out"),
])
def test_mistakes_with_indices_are_named(wrong: str, mistake: str) -> None:
    found = derive.check(derive.Card.parse(LINEAR), text=f"${wrong}$").checks[0]
    assert (str(found.verdict), found.mistake) == ("refuted", mistake)


def test_a_class_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "card.md").write_text(CARD, "utf-8")
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "a.md").write_text(f"---\nname: a\n---\n{WHOLE}", "utf-8")
    (answers / "b.tex").write_text("\\documentclass{article}\n\\begin{document}\n" + WHOLE.replace("-2", "2")
                                   + "\n\\end{document}\n", "utf-8")
    (answers / "c.md").write_text("It is obvious.", "utf-8")

    def run(written: str, *more: str) -> tuple[int, str]:
        found = CliRunner().invoke(main, ["check", str(tmp_path / "card.md"), "--answer", str(answers), "--format",
                                          written, *more])
        return found.exit_code, found.output

    code, rows = run("csv")
    assert code == 1 and [line.split(",")[1:4] for line in rows.splitlines()[1:]] == [
        ["6.0", "6.0", "6"], ["5.0", "5.0", "6"], ["0.0", "0.0", "6"]]
    code, found = run("json")
    first, second, third = json.loads(found)
    assert first["ok"] and first["complete"] and not second["ok"] and len(third["missing"]) == 2
    assert set(first) == {"file", "ok", "complete", "checks", "definitions", "asked", "missing", "points"}
    assert set(second["checks"][0]) == {"line", "latex", "verdict", "reason", "counterexample", "mistake", "follows"}
    code, found = run("sarif")
    levels = [r["level"] for r in json.loads(found)["runs"][0]["results"]]
    assert levels.count("error") == 3 and levels.count("warning") == 2
    code, found = run("text")
    assert "b.tex:3: refuted" in found and "it follows from line 3" in found and "c.md: 0 of 6 points" in found
    assert CliRunner().invoke(main, ["check", str(tmp_path), "--answer", str(answers)]).exit_code == 2


def test_strict_asks_for_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "card.md").write_text(CARD + f"We have ${B} = -2 (y - \\tanh(s)) (1 - \\tanh^2(s))$.", "utf-8")
    plain = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert plain.exit_code == 0 and f"missing: {W.replace('w_j', 'w_{j}')}" in plain.output
    assert CliRunner().invoke(main, ["check", str(tmp_path), "--strict"]).exit_code == 1


def test_answers_that_cannot_be_read_or_have_too_many_formulas_get_one_line(tmp_path: Path) -> None:
    equation = r"$\frac{\partial y_k}{\partial s_k} = 1$ and "
    (tmp_path / "many.md").write_text(equation * 500, "utf-8")
    (tmp_path / "latin.md").write_bytes(b"\xe9")
    (tmp_path / "card.md").write_text(CARD, "utf-8")
    os.mkfifo(tmp_path / "pipe.md")
    found = [CliRunner().invoke(main, ["check", str(tmp_path / "card.md"), "--answer", str(tmp_path / f"{name}.md")])
             for name in ("many", "latin", "pipe", "missing")]
    assert [result.exit_code for result in found] == [2] * 4 and all(r.output.count("\n") == 1 for r in found)
    assert "at most 400 of a solution" in found[0].output and "not UTF-8" in found[1].output
    assert "it is a pipe" in found[2].output and "cannot be read" in found[3].output
