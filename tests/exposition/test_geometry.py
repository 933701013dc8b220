"""The words on windows: right for each geometry."""

from __future__ import annotations

from typing import Any

import pytest

import derive
from derive.calculus.one_window import derivation
from derive.card import Card
from derive.exposition.sheet import compose
from derive.question import module_of
from derive.sheet import Bullets, Math, Prose
from tests.bank import composed

WORDS: list[tuple[dict[str, Any], list[str]]] = [
    ({"kernel_size": 2}, ["(2 × 2, stride 2, no padding) tile the input", "lies in exactly one window"]),
    ({"kernel_size": 1}, ["every window is a single entry"]),
    ({"kernel_size": 3, "stride": 1}, ["overlap, because the kernel is larger than the stride", "up to nine windows"]),
    ({"kernel_size": 3, "stride": 2, "padding": 1}, ["padding 1) overlap", "up to four", "windows are clipped"]),
    ({"kernel_size": 2, "stride": 3}, ["the stride (3) is larger than the kernel (2 × 2)", "gaps between the windows"]),
    ({"kernel_size": (1, 4), "stride": (1, 2)}, ["(1 × 4, stride 1 × 2, no padding) overlap", "up to two windows"]),
    ({"kernel_size": 3, "stride": 2, "dilation": 2},
     ["dilation 2", "overlap and leave gaps at the same time", "because the cells of a window are 2 apart"]),
    ({"kernel_size": (3,), "stride": 2, "ceil_mode": True},
     ["(length 3, stride 2", "The last window may run beyond the end of the input"]),
    ({"kernel_size": 2, "dims": 3}, ["(2 × 2 × 2, stride 2, no padding) tile"]),
    ({"kernel_size": 2, "padding": 2}, ["shifted by the padding", "lie wholly in padding", r"their value is $-\infty$"]),
    ({"kernel_size": 2, "padding": ((0, 1), (0, 0))}, ["padded by one row at the bottom) meet edge to edge. An"]),
]


def words(arguments: dict[str, Any]) -> str:
    sheet = compose(derivation(derive.layer("max_pool", **arguments)))
    return " ".join(block.text for block in sheet.answer if isinstance(block, Prose)).replace("\u00a0", " ")


@pytest.mark.parametrize(("arguments", "phrases"), WORDS, ids=lambda v: str(v))
def test_words(arguments: dict[str, Any], phrases: list[str]) -> None:
    found = words(arguments)
    assert [p for p in phrases if p not in found] == [], found


AVERAGES: list[tuple[str, dict[str, Any], str]] = [
    ("avg_pool", {"padding": 1}, "those in the padding counted as zeros"),
    ("avg_pool", {"padding": 1, "count_include_pad": False}, "padding does not count"),
    ("avg_pool", {"padding": 1, "divisor_override": 4}, "divided by the same number"),
    ("avg_pool", {"ceil_mode": True}, "cells beyond the input do not count"),
]


@pytest.mark.parametrize(("name", "arguments", "phrase"), AVERAGES)
def test_what_an_average_counts(name: str, arguments: dict[str, Any], phrase: str) -> None:
    solution = derive.solve(derive.layer(name, kernel_size=(3,), stride=2, **arguments))
    assert phrase in derive.render(solution, "md")


def test_adaptive_windows() -> None:
    text = derive.render(derive.solve(derive.layer("adaptive_avg_pool", output_size=(3,), input_size=(5,))), "md")
    assert "the output has 3 entries whatever the size of the input" in text and "up to two windows" in text


def test_windows_of_one_entry_pass_the_message_on() -> None:
    solution = derive.solve(derive.layer("max_pool", kernel_size=1))
    shown = {m.name: m.latex for m in solution.sheet.answer if isinstance(m, Math)}
    assert shown["message_here_x"] == r"\delta_{x,ij} = \delta_{f,ij}"
    assert "several entries of a window tie" not in words({"kernel_size": 1})


def test_the_size_of_the_output_is_stated_and_checked() -> None:
    solution = derive.solve(derive.layer("avg_pool", kernel_size=3, stride=2, padding=1))
    sizes = next(c for c in solution.report.checks if c.name == "output_size")
    assert sizes.verdict == "proved" and r"\frac{n - 1}{2}" in sizes.latex


def test_sizes_and_derivatives_are_those_that_the_card_writes() -> None:
    pool = r"Let $y_t = \max_{0 \le a < 2} x_{2t+a}$ over $x_0, \dots, x_{T-1}$. Derive"
    card = Card.parse(f"---\nid: t\n---\n# Question\n{pool} $\\partial L / \\partial x_i$ from $g_t = \\partial L / \\partial y_t$.\n")
    shown = {m.name: m.latex for m in compose(derivation(module_of(card))).answer if isinstance(m, Math)}
    assert shown["message_x"].startswith(r"\frac{\partial L}{\partial x_{i}} = \sum_{t : i \in \Omega(t)} g_{t}")
    assert shown["output_size"] == r"M = \left\lfloor \frac{T - 2}{2} \right\rfloor + 1"


@pytest.mark.parametrize(("formula", "said"), [
    (r"y_k = \max(x_{2k-1}, x_{2k})$ for $k = 1, \dots, K", "Coordinates are counted from 0: $y_{k}$ and $x_{i}$ below are "
     "what the question writes as $y_{k+1}$ and $x_{i+1}$."),
    (r"y_k = \max_{0 \le a < 3} x_{k+a}$ for $k = 1, \dots, K", "Coordinates are counted from 0: $y_{k}$ and $x_{i}$ below "
     "are what the question writes as $y_{k+1}$ and $x_{i+1}$."),
    (r"y_k = \max(x_{2k}, x_{2k+1})$ for $k = 0, \dots, K-1", ""),
])
def test_what_the_question_counts_from_1_is_told_and_its_number_of_outputs_keeps_its_letter(formula: str, said: str) -> None:
    card = Card.parse(f"---\nid: t\n---\n# Question\nMax pooling: ${formula}$. Derive the backward message.\n")
    solution = derive.solve(card)
    first = solution.sheet.answer[0]
    assert isinstance(first, Prose) and (first.text == said if said else "counted from" not in first.text)
    sizes = next(b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.name == "output_size")
    assert sizes.startswith("K = ") and solution.report.ok


def test_an_input_of_a_known_size_says_how_many_outputs_there_are() -> None:
    assert "so 6 × 6 give 3 × 3" in words({"kernel_size": 3, "stride": 2, "padding": 1, "input_size": (6, 6)})


def test_names_of_tensors_are_shown_as_letters() -> None:
    solution = composed("lstm_cell")
    items = [i for block in solution.sheet.blocks() if isinstance(block, Bullets) for i in block.items]
    assert any(i.startswith("taken as inputs") and "$h_{t-1}$" in i for i in items) and not any("`W_f`" in i for i in items)
