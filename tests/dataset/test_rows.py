"""A row claims what holds: its numbers, its lines, and that its wrong solutions are wrong, where it says."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import derive
from derive import Card
from derive.dataset import planted
from derive.dataset.draw import Drawn, drawn
from derive.dataset.key import key
from derive.dataset.made import new_layers
from derive.dataset.row import row
from derive.dataset.wording import said_by
from derive.errors import DeriveError
from derive.expr import MINUS_ONE, Add, Expr, Node, mul
from derive.module import Module
from derive.numbers import Numbers
from derive.question import module_of
from tests.dataset.by_torch import numbers

CHAINS = (
    Drawn(0, 1, "linear -> tanh -> squared_error", letters=(("target", "t"),)),
    Drawn(0, 2, "linear(bias=false) -> prelu", letters=(("input", "u"), ("weights", "A"))),
    Drawn(0, 3, "max_pool(kernel_size=(3), stride=(2))", rank=1),
    Drawn(0, 4, "avg_pool(kernel_size=(2, 2), stride=(1, 2)) -> sigmoid", rank=2),
    Drawn(0, 5, r"linear(units=3) -> tanh(function=\phi) -> softmax -> categorical_cross_entropy", (r"\phi(s) = s \arctan(s)",)),
    Drawn(0, 6, "conv1d(kernel_size=(3), stride=(2), channels=false) -> softplus"),
    Drawn(0, 7, "adaptive_avg_pool(output_size=(3)) -> tanh", rank=1),
)  # fmt: skip
Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [json.loads(row(layer)) for layer in CHAINS]


def card_of(row: Row, solution: str = "") -> Card:
    return Card.parse(f"---\nid: row\n{row['statement']}---\n# Question\nDerive.\n\n# Solution\n{solution}")


def test_each_line_is_proved_or_tested_and_nothing_is_missing(rows: list[Row]) -> None:
    for found in rows:
        assert {line["verdict"] for line in found["solution"]} <= {"proved", "tested", ""}
        assert found["answer"] and all(line["rules"] for line in found["solution"] if line["part"] == "step" and "partial" in line["latex"].partition("=")[0])
        report = derive.check(card_of(found, "\n\n".join(f"$$ {line['latex']} $$" for line in found["solution"])))
        assert report.complete, report


def test_each_wrong_solution_is_refuted_where_it_says(rows: list[Row]) -> None:
    assert sum(len(found["wrong"]) for found in rows) >= 2 * len(rows) - 2
    for found in rows:
        for wrong in found["wrong"]:
            report = derive.check(card_of(found, "".join(f"$$ {line['latex']} $$\n" for line in wrong["solution"])))
            first = next(c for c in report.checks if c.verdict == "refuted")
            assert first.latex.strip() == wrong["solution"][wrong["line"]]["latex"]
            assert first.counterexample == wrong["counterexample"]
            assert {line["verdict"] for line in wrong["solution"][:wrong["line"]]} <= {"proved", "tested", ""}


def test_each_wording_says_the_same_layer_and_asks_the_same(rows: list[Row]) -> None:
    for found in rows:
        meant = said_by(module_of(card_of(found)))
        assert len(found["questions"]) >= 2
        for question in found["questions"]:
            assert said_by(module_of(Card.parse(f"---\nid: row\n---\n# Question\n{question['text']}\n"))) == meant


def test_gradients_are_difference_quotients(rows: list[Row]) -> None:
    for found in rows:
        module = module_of(card_of(found))
        forward, output = Numbers(module).forward, module.output
        given = {name: arrayed(values) for name, values in numbers(found, "given").items()}
        upstream = arrayed(next(iter(numbers(found, "upstream").values()), {(): 1.0}))
        gradients = {name.removeprefix("delta_"): values for name, values in numbers(found, "backward").items()}
        gradients |= {name.split("/")[1]: values for name, values in numbers(found, "derivatives").items() if name.startswith(f"{output}/")}
        assert {*gradients} & {*given}
        for name, values in gradients.items():
            for at, value in values.items() if name in given else ():
                step = np.zeros_like(given[name])
                step[at] = 1e-6
                up, down = (forward(**given | {name: given[name] + sign * step}) for sign in (1, -1))
                assert np.sum(upstream * (up - down)) / 2e-6 == pytest.approx(value, abs=1e-5, rel=1e-5)


def arrayed(values: dict[tuple[int, ...], float]) -> Any:
    shape = tuple(n + 1 for n in max(values))
    return np.array([values[at] for at in itertools.product(*map(range, shape))]).reshape(shape)


def test_pytorch_finds_the_same(rows: list[Row]) -> None:
    pytest.importorskip("torch")
    from tests.dataset.recomputed import recomputed

    for found in rows:
        seen = recomputed(found)
        assert seen["wrong"] == len(found["wrong"]) and seen["unseen"] == 0 and seen["right"] > 1 and seen["numbers"] > 1


def test_a_mistake_that_computes_the_same_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def same(before: Node, value: Expr, module: Module) -> Iterator[tuple[str, Expr]]:
        yield "sign", Add((value, mul(MINUS_ONE, value), value))

    monkeypatch.setattr(planted, "KINDS", (same,))
    assert json.loads(row(CHAINS[0]))["wrong"] == []


def test_a_row_that_cannot_be_verified_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    from derive.dataset import row as rows_

    honest: Callable[..., Any] = rows_.judged
    monkeypatch.setattr(rows_, "judged", lambda *given: derive.records.replace(told := honest(*given), verdicts=("not read", *told.verdicts[1:])))
    with pytest.raises(DeriveError, match="neither proved nor tested"):
        row(CHAINS[0])


def test_a_layer_in_other_letters_is_the_same_layer() -> None:
    one, other = (key(Drawn(0, 0, "linear -> tanh -> squared_error", letters=letters).module())
                  for letters in ((), (("input", "v"), ("weights", "a"), ("target", "d"))))  # fmt: skip
    assert one == other
    assert key(Drawn(0, 0, "leaky_relu").module()) == key(Drawn(0, 0, "prelu").module())
    sized = [key(Drawn(0, 0, f"max_pool(kernel_size=({k}), stride=({s}))", rank=1).module()) for k in (2, 3) for s in (1, 2)]
    assert len({one, *sized}) == 5
    own = [key(Drawn(0, 0, r"tanh(function=\phi)", (rf"\phi(s) = {f}",)).module()) for f in (r"\tanh(s)", r"\sin(s)")]
    assert own[0] == key(Drawn(0, 0, "tanh").module()) != own[1]


def test_no_layer_comes_twice_and_there_are_enough() -> None:
    found = [layer for layer, _ in itertools.islice(new_layers(5, 0, set()), 300)]
    assert len({key(layer.module()) for layer in found}) == 300
    assert found[-1].number < 400  # of those drawn few do not fit or come again


def test_what_is_drawn_follows_from_the_seed_and_the_number_alone() -> None:
    assert drawn(1, 7) == drawn(1, 7) != drawn(2, 7)
    assert importlib.util.find_spec("derive.dataset") is not None


def test_a_gradient_that_goes_to_the_whole_window_and_a_sum_over_windows_that_is_lost_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from derive.dataset import row as rows_

    monkeypatch.setattr(rows_, "WRONG", 9)
    monkeypatch.setattr(rows_, "_TRIES", 9)
    found = json.loads(row(CHAINS[2]))["wrong"]
    assert {"gradient to the whole window", "overlap lost", "upstream gradient lost", "sign"} <= {wrong["mistake"] for wrong in found}
    assert len({str(wrong["solution"]) for wrong in found}) == len(found)


def test_nothing_is_kept_of_a_layer_that_does_not_come_again() -> None:
    check = sys.modules["derive.check"]
    row(CHAINS[0])
    assert not check._judges and not check._modules and check._derived.cache_info().currsize == 0
