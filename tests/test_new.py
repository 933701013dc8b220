"""New question cards: for every layer of the catalogue, and solved where a sheet of it is covered."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import derive
from derive.commands.catalogue import layers, new
from derive.errors import CardError, UnsupportedError
from derive.layers import LAYERS, POOLINGS
from derive.layers.catalogue import Pooling
from derive.new import numeric_card, question_card
from derive.notation import gather, read
from derive.question import module_of
from derive.sheet import Math, Table
from derive.variants import drawn

GEOMETRY: dict[str, dict[str, Any]] = {"window": {"kernel_size": (3, 2), "stride": 2, "padding": (1, 0)}, "global": {},
                                       "adaptive": {"output_size": (2, 3)}}
ODD: dict[str, list[dict[str, Any]]] = {  # of medians
    "window": [{"kernel_size": 3}, {"kernel_size": (3,), "stride": 2}, {"kernel_size": (3, 1, 3), "dilation": (2, 1, 1)}],
    "global": [{}, {"dims": 1}, {"dims": 3}, {"input_size": (3, 5)}],
    "adaptive": [{"output_size": 3, "input_size": (9, 3)}, {"output_size": (2,), "input_size": (5,)}],
}


def geometry(spec: Pooling) -> dict[str, Any]:
    return ODD[spec.form][0] if "median" in spec.name else GEOMETRY[spec.form]


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_a_card_holds_the_layer_s_own_formula(spec: Pooling) -> None:
    card = derive.Card.parse(question_card(spec.name, geometry(spec)))
    assert card.front_matter["layer"] == spec.name and spec.words in card.question
    (formula,) = [line.strip("$ ") for line in card.question.splitlines() if line.startswith("$$")]
    module = derive.layer(spec.name, **geometry(spec))
    table = module.table.extended(s for s in gather([formula]).symbols if module.table.named(s.name) is None)
    assert read(formula, table) is module.equations[0]
    assert card.solution.strip() == ""


WINDOWS: list[dict[str, Any]] = [
    {"kernel_size": 3}, {"kernel_size": (3,), "stride": 2, "padding": 1}, {"kernel_size": 3, "input_size": (4, 6)},
    {"kernel_size": (3, 1, 3), "stride": (2, 1, 1), "padding": (1, 0, 1)}, {"kernel_size": 3, "dilation": 2, "stride": 1},
    {"kernel_size": 3, "padding": ((0, 1), 2), "ceil_mode": True}, {"kernel_size": 3, "stride": 1, "padding": "same"},
    {"kernel_size": (3,), "tie_rule": "split"},
]
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "window": WINDOWS, "global": [{"dims": 1}, {}, {"dims": 3}, {"input_size": (3, 5)}],
    "adaptive": [{"output_size": 3}, {"output_size": (2,)}, {"output_size": (3, 2), "input_size": (5, 6)}],
}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "norm": [{"norm": 3}, {"norm": 2.5}], "sharpness": [{"sharpness": -2}],
    "count_include_pad": [{"count_include_pad": False}], "divisor_override": [{"divisor_override": 5}],
}


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_a_new_card_is_read_as_it_was_meant(spec: Pooling) -> None:
    options = [o for name in spec.options for o in OPTIONS.get(name, [])]
    geometries = (ODD if "median" in spec.name else ARGUMENTS)[spec.form]
    first = len(spec.name) % 3  # another third of the windows for each layer
    for arguments in [*geometries[first::3], *({**geometries[0], **o} for o in options)]:
        meant = derive.layer(spec.name, **arguments)
        found = module_of(derive.Card.parse(question_card(spec.name, arguments)))
        assert (found.equations, found.receptive_field) == (meant.equations, meant.receptive_field), arguments
        assert (found.tie_rule, found.input_size, found.name) == (meant.tie_rule, meant.input_size, meant.name), arguments
        assert found.asked == ("jacobian", "vjp")


@pytest.mark.parametrize("padding", ["same", (1, 0), ((0, 1), (2, 0)), ((1, 2), (0, 3)), ((1, 1), (0, 3)), ((2, 3), 0), 1])
@pytest.mark.parametrize("rest", [{}, {"dilation": 2}, {"stride": (2, 1)}, {"ceil_mode": True}])
def test_the_words_alone_say_the_windows(padding: Any, rest: dict[str, Any]) -> None:
    arguments = {"kernel_size": (4, 3), "stride": 2, "padding": padding, **rest}
    if padding == "same":
        arguments["stride"] = 1
    text = question_card("max_pool", arguments)
    keys = ("kernel_size:", "stride:", "padding:", "dilation:", "ceil_mode:")
    bare = "\n".join(line for line in text.splitlines() if not line.startswith(keys))
    meant = derive.layer("max_pool", **arguments)
    assert "((" not in bare and module_of(derive.Card.parse(bare)).receptive_field == meant.receptive_field


def test_a_formula_may_have_its_terms_in_another_order() -> None:
    text = question_card("avg_pool", {"kernel_size": 3, "stride": 2, "ceil_mode": True})
    other = text.replace("n - 2k", "- 2k + n").replace(r"\min(3, m - 2l)", r"\min(m - 2l, 3)")
    assert other != text and module_of(derive.Card.parse(other)).inputs == ("x",)


def test_no_card_that_cannot_be_solved() -> None:
    with pytest.raises(CardError, match="can have an even number of entries"):
        question_card("median_pool", {"kernel_size": 3, "padding": 1})


def run(command: click.Command, *arguments: str) -> Any:
    return CliRunner().invoke(command, arguments, catch_exceptions=True)


def test_the_command_reads_sizes_per_axis(tmp_path: Any) -> None:
    target = tmp_path / "card.md"
    found = run(new, "max_pool", "--kernel-size", "3x2", "--stride", "2", "--padding", "0+1,2", "--ceil-mode", "-o", str(target))
    assert found.exit_code == 0 and found.output.strip() == str(target)
    text = target.read_text("utf-8")
    assert "kernel_size: [3, 2]\nstride: [2, 2]\npadding: [[0, 1], 2]\nceil_mode: true\n" in text
    assert "windows of size 3×2 and stride 2; the input is padded by one row at the bottom, and two columns on the left and right; the last window may run beyond the end" in text
    again = run(new, "max_pool", "--kernel-size", "3", "-o", str(target))
    assert again.exit_code == 2 and "exists" in again.output


def test_numbers_of_a_layer_s_own() -> None:
    assert "norm: 2.5\n" in run(new, "lp_pool", "--kernel-size", "2", "--norm", "5/2").output
    assert "sharpness: 1/3\n" in run(new, "global_lse_pool", "--sharpness", "1/3").output
    assert run(new, "lp_pool", "--kernel-size", "2", "--norm", "two").exit_code == 2
    assert run(new, "max_pool", "--kernel-size", "two").exit_code == 2
    assert run(new, "max_pool").exit_code == 2


def test_the_catalogue_is_listed_with_its_formulas() -> None:
    lines = run(layers).output.splitlines()
    assert [line.split()[0] for line in lines] == [spec.name for spec in LAYERS]
    assert lines[0].endswith("  f_{k,l} = max_{(i, j) ∈ Ω(k, l)} x_{i,j}")


# --- with numbers ----------------------------------------------------------------------------------------------------

NUMERIC: dict[str, list[dict[str, Any]]] = {
    "window": [{"kernel_size": 3, "stride": 1}, {"kernel_size": (3,), "stride": 2, "padding": 1}], "global": [{}, {"dims": 1}],
    "adaptive": [{"output_size": (2, 3)}, {"output_size": (2,)}],
}
ODD_NUMERIC: dict[str, list[dict[str, Any]]] = {
    "window": [{"kernel_size": 3}], "global": [{}, {"dims": 1}], "adaptive": [{"output_size": (2,), "input_size": (6,)}]}


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_a_card_with_numbers_is_read_with_them_and_solved(spec: Pooling) -> None:
    for arguments in (ODD_NUMERIC if "median" in spec.name else NUMERIC)[spec.form]:
        open_ = derive.Card.parse(numeric_card(spec.name, arguments, None))
        chosen = {name.removeprefix("values."): np.array(eval(text)) for name, text in drawn(open_, 7, 1).choices}
        text = numeric_card(spec.name, arguments, 7)
        module = module_of(derive.Card.parse(text))
        assert "{{" not in text and "vary_" not in text and text == numeric_card(spec.name, arguments, 7) != numeric_card(spec.name, arguments, 8)
        assert {name.replace("delta_f", "delta"): [v for _, v in sorted(entries)] for name, entries in module.values} == {
            name: list(numbers.flat) for name, numbers in chosen.items()}
        assert module.name == spec.name and chosen.keys() == ({"x"} if spec.form == "global" else {"x", "delta"})
    solution = derive.solve(derive.Card.parse(text))
    assert solution.report.ok and [b for b in solution.sheet.answer if isinstance(b, Table) or isinstance(b, Math) and b.name == "numbers"]


OTHERS = ("linear", "glu", "embedding", "depthwise_conv1d", "batch_norm", "attention", "rnn", "relu", "gelu", "softmax",
          "squared_error", "categorical_cross_entropy", "huber")
OFF_PAGE = {"maxout", "conv1d", "conv2d", "depthwise_conv2d", "pointwise_conv2d", "conv_transpose1d", "conv_transpose2d", "instance_norm", "group_norm"}


@pytest.mark.parametrize("name", OTHERS)
def test_a_card_with_numbers_of_any_layer_is_solved(name: str) -> None:
    text = numeric_card(name, {}, 7)
    solution = derive.solve(derive.Card.parse(text))
    assert solution.report.ok and text == numeric_card(name, {}, 7)
    assert {*solution.module.given} <= {*dict(solution.module.values)}
    assert [b for b in solution.sheet.answer if isinstance(b, Table) or isinstance(b, Math) and b.name == "numbers"]


def test_another_seed_gives_other_numbers() -> None:
    assert numeric_card("linear", {}, 7) != numeric_card("linear", {}, 8)


@pytest.mark.parametrize("name", sorted(OFF_PAGE))
def test_numbers_that_fit_no_page_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match="do not fit a page"):
        numeric_card(name, {}, 7)


def test_numbers_of_other_layers_are_not_left_open() -> None:
    found = run(new, "linear", "--vary")
    assert found.exit_code == 3 and "leave out --vary" in found.output


def test_the_numbers_of_a_card_are_numpy_s() -> None:
    solution = derive.solve(derive.Card.parse(numeric_card("avg_pool", {"kernel_size": 2, "stride": 1, "input_size": (3, 3)}, 1)))
    values = {name: np.array([[float(v) for _, v in sorted(e)]]) for name, e in solution.module.values}
    x, delta = values["x"].reshape(3, 3), values["delta_f"].reshape(2, 2)
    expected = np.zeros((3, 3))
    for k, l in np.ndindex(2, 2):
        expected[k : k + 2, l : l + 2] += delta[k, l] / 4
    numbers = " ".join(b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.name == "numbers")
    for value in (*expected.flat, *(x[k : k + 2, l : l + 2].mean() for k, l in np.ndindex(2, 2))):
        exact = Fraction(abs(value))
        assert str(exact.numerator) in numbers and str(exact.denominator) in numbers


@pytest.mark.parametrize(("arguments", "said"), [
    (("--kernel-size", "2x2x2"), "numbers of an input with three axes do not fit a page; leave out --numeric"),
    (("--kernel-size", "2", "--input-size", "9x9"), "an input of 9 × 9 is more than is computed by hand"),
])  # fmt: skip
def test_what_is_not_computed_by_hand_is_refused(arguments: tuple[str, ...], said: str) -> None:
    found = run(new, "max_pool", "--numeric", *arguments)
    assert found.exit_code == 3 and said in found.output


def test_the_command_draws_numbers_or_leaves_them_open() -> None:
    first = run(new, "max_pool", "--kernel-size", "2", "--numeric", "--seed", "7")
    assert first.exit_code == 0 and first.output == numeric_card("max_pool", {"kernel_size": 2}, 7)
    assert "vary_values.x: distinct integers -4..20, 4 x 4\n" in run(new, "max_pool", "--kernel-size", "2", "--vary").output
