"""A layer at given numbers: shapes, values, messages, and what is refused."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from derive.calculus.messages import Messages
from derive.errors import CardError
from derive.evaluation import Evaluation, evaluate
from derive.evaluation.draw import draw
from derive.evaluation.formats import as_html, as_json, as_markdown, for_terminal, number, sections
from derive.evaluation.values import read_values
from derive.sheet import Sheet
from derive.solve import Solution
from derive.verify.report import Report
from tests.bank import SAMPLE, solved
from tests.calculus.zoo import ZOO

X = [[1, 5, 2, 0], [3, 5, 7, 1], [0, 0, 0, 0], [0, 9, 0, 1]]


@cache
def pooling(tie_rule: str = "first") -> Solution:
    return solved(SAMPLE.stem, tie_rule)


@cache
def layer(name: str) -> Solution:
    """A layer whose numbers are asked for, without its sheet."""
    module = ZOO[name].module()
    return Solution(None, module, Sheet("", (), ()), Report(()), Messages(module))


def test_pooling() -> None:
    found = evaluate(pooling(), {"x": X, "upstream": [[1, 2], [3, 4]]})
    assert found.output.values.tolist() == [[5, 7], [9, 1]]
    assert found.mask is not None and found.mask.values.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1]]
    assert found.messages[0].values.tolist() == [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4]]
    assert found.jacobians[0].entries == (((0, 0), (0, 1), 1), ((0, 1), (1, 2), 1), ((1, 0), (3, 1), 1), ((1, 1), (3, 3), 1))


def test_the_upstream_gradient_is_ones_unless_given_and_has_two_names() -> None:
    ones = evaluate(pooling(), {"x": X})
    assert (ones.upstream.values == 1).all()
    for key in ("upstream", "delta_f", "δ_f"):
        assert (evaluate(pooling(), {"x": X, key: [[2, 2], [2, 2]]}).messages[0].values == 2 * ones.messages[0].values).all()


@pytest.mark.parametrize(("rule", "entries"), [("first", ["$x_{01}$"]), ("last", ["$x_{11}$"]), ("split", ["$x_{01}$, $x_{11}$"])])
def test_the_tie_rule_shows_in_what_is_selected(rule: str, entries: list[str]) -> None:
    selected = next(s for s in sections(evaluate(pooling(rule), {"x": X})) if s.title == "Selected entries")
    assert selected.tables[0].rows[0][1:] == tuple(entries)
    assert rule in selected.tables[0].note


@pytest.mark.parametrize("name", ZOO)
def test_every_layer_at_random_numbers_in_every_format(name: str) -> None:
    values = draw(layer(name), 3)
    found = evaluate(layer(name), values)
    again = draw(layer(name), 3)
    assert all((values[k] == again[k]).all() for k in values)
    assert np.isfinite(found.output.values).all()
    delta = found.upstream.values
    for jacobian, message in zip(found.jacobians, found.messages, strict=True):
        total = np.zeros(jacobian.shape[1])
        for out, into, value in jacobian.entries or ():
            total[into] += delta[out] * value
        np.testing.assert_allclose(message.values, total, atol=1e-9)
    assert json.loads(as_json(found))["backward"].keys() == {m.name for m in found.messages}
    assert as_markdown(found).count("## ") == len(sections(found))
    HTMLParser().feed(as_html(found))


def test_random_numbers_have_the_size_that_the_question_states() -> None:
    module = pooling().module
    assert all(draw(replace(pooling(), derivation=Messages(replace(module, input_size=(4, 6)))), seed)["x"].shape == (4, 6)
               for seed in (1, 2))


def test_random_numbers_keep_to_what_the_card_states() -> None:
    values = draw(layer("softmax_cross_entropy"), 1)
    assert values["t"].sum() == pytest.approx(1)


REFUSED = [
    ({"x": X, "y": 1}, "unknown tensor `y`; the layer takes `x` and `upstream`"),
    ({}, "`x` is missing; the layer takes `x`"),
    ({"x": [1.0, 2.0]}, "`x` has shape (2,), but (H, W) is expected"),
    ({"x": [X]}, "`x` has shape (1, 4, 4), but (H, W) is expected"),
    ({"x": np.zeros((0, 4))}, "`x` has shape (0, 4): it is empty"),
    ({"x": [[1.0]]}, "the kernel spans 2 cells, but the padded input has only 1"),
    ({"x": X, "upstream": [1, 2]}, "`upstream` has shape (2,), but (2, 2) is expected, that of the output `f`"),
    ({"x": X, "upstream": [[1]], "delta_f": [[1]]}, "the upstream gradient is given twice"),
    ({"x": [[float("nan"), 1], [1, 1]]}, "`x` is not a number (NaN) at (0, 0)"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "message"), REFUSED)
def test_what_does_not_fit_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(CardError) as raised:
        evaluate(pooling(), values)
    assert message in str(raised.value)


def test_shapes_that_do_not_fit_each_other_are_all_named() -> None:
    with pytest.raises(CardError) as raised:
        evaluate(layer("linear"), {"x": np.ones(4), "W": np.ones((3, 5)), "b": np.ones((2, 2))})
    assert str(raised.value).splitlines() == [
        "`W` has shape (3, 5), but (n, 4) is expected to fit `x`",
        "`b` has shape (2, 2), but (n,) is expected",
    ]


def test_a_letter_is_known_by_its_name_its_sign_and_its_latex() -> None:
    solution = layer("elu")
    expected = evaluate(solution, {"s": [1.0, -2.0], "alpha": 0.5}).output.values
    for key in ("α", r"\alpha"):
        assert (evaluate(solution, {"s": [1.0, -2.0], key: 0.5}).output.values == expected).all()


def test_what_lies_between_input_and_output_shows_with_its_gradient() -> None:
    solution = solved("prelu_squared_words")
    found = evaluate(solution, {"x": [1.0, 2.0], "w": [2.0, 1.5], "a": 0.5, "y": 1.0})
    assert {t.name: float(t.values) for t in found.intermediates} == {"s": 5, "h": 5}
    assert {t.name: float(t.values) for t in found.gradients} == {"h": 8, "s": 8}
    assert [s.title for s in sections(found)][1:] == [
        "Forward", "Jacobian", "Gradients on the way back", "Backward message", "Parameter message"
    ]  # fmt: skip
    assert "h = 5" in plain(found) and "δ_s = 8" in plain(found) and "∂ℓ/∂a = 0" in plain(found)


def plain(found: Evaluation) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(for_terminal(found))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_infinity_in_json_is_a_text_that_is_read_again(tmp_path: Path) -> None:
    text = as_json(evaluate(pooling(), {"x": [[1, np.inf], [-np.inf, 2]]}))
    given = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))["given"]
    assert given == {"x": [[1, "Infinity"], ["-Infinity", 2]]}
    (tmp_path / "again.json").write_text(json.dumps(given))
    assert read_values(tmp_path / "again.json")["x"].tolist() == [[1, np.inf], [-np.inf, 2]]


def test_a_page_has_formulas_and_nothing_of_a_card_is_markup() -> None:
    solution = replace(pooling(), module=replace(pooling().module, key="<script>alert(1)</script>"))
    page = as_html(evaluate(solution, {"x": X}))
    assert 'alttext="f_{00}"' in page and r'alttext="\delta_f"' in page and "<script>" not in page
    assert "\\<script>" in as_markdown(evaluate(solution, {"x": X}))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_narrow_terminal_shows_fewer_numbers_but_none_cut(width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    x = np.arange(1, 49).reshape(4, 12) / 7
    console.print(for_terminal(evaluate(pooling(), {"x": x})))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    shown = re.findall(r"\d+\.\d+…?", " ".join(lines[3:7]))
    assert shown and set(shown) <= {number(v) for v in x.flat}


def test_what_infinite_numbers_leave_open_is_said() -> None:
    with pytest.raises(CardError, match=r"`delta_x` has no value at \(1\): .* or infinite numbers leave it open, as 0·∞"):
        layer("two_layers").backward("x", x=[1, 1], W=[[1, np.inf]], U=[[1]], upstream=[1])


# --- files -----------------------------------------------------------------------


def test_three_formats_hold_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("x: [[1, 2.5], [-3, .inf]]  # mine\n")
    (tmp_path / "a.json").write_text('{"x": [[1, 2.5], [-3, Infinity]]}')
    np.savez(tmp_path / "a.npz", x=np.array([[1, 2.5], [-3, np.inf]], np.float32))
    for name in ("a.yaml", "a.json", "a.npz"):
        assert read_values(tmp_path / name)["x"].tolist() == [[1, 2.5], [-3, float("inf")]]


@pytest.mark.parametrize(
    ("text", "value"), [("1e3", 1000), ("010", 10), ("1:30", None), ("yes", None), ("0x10", None), ("1e999", None),
                        ("-.5E-1", -0.05), ("-.inf", -np.inf), ("3.", 3), ("9" * 5000, None)]
)  # fmt: skip
def test_a_number_is_what_it_is_elsewhere_not_what_yaml_makes_of_it(tmp_path: Path, text: str, value: float | None) -> None:
    (tmp_path / "a.yaml").write_text(f"x: [{text}]")
    if value is None:
        with pytest.raises(CardError, match="`x` holds something that is no number"):
            read_values(tmp_path / "a.yaml")
    else:
        assert read_values(tmp_path / "a.yaml")["x"].tolist() == [value]


FILES = [
    ("a.txt", b"", "unknown format `.txt`; there are `.npz`, `.json`, `.yaml`, `.yml`"),
    ("a.yaml", b"- 1\n", "a.yaml:1: the file of values is not a mapping"),
    ("a.yaml", b"a: &b [1]\nx: *b\n", "a.yaml:1: YAML tags, anchors and aliases are not read"),
    ("a.yaml", b"x: !!python/object/apply:os.system ['true']\n", "YAML tags"),
    ("a.yaml", b"x: [[1, 2], [3]]\n", "`x` is ragged: a list of 2 stands beside a list of 1; write numbers, in lists of one length"),
    ("a.yaml", b"x: [1, [2]]\n", "`x` is ragged: a single number stands beside a list of 1"),
    ("a.yaml", b"x: [one, two]\n", "`x` holds something that is no number"),
    ("a.yaml", b"x: 1\nx: 2\n", "a.yaml:2: the key `x` is written twice"),
    ("a.yaml", b"x: " + b"[" * 50 + b"]" * 50, "deeper than 20"),
    ("a.yaml", b"x:\n  " + b"- " * 90_000 + b"1", "deeper than 20"),
    ("a.yaml", b"x: \xff", "a.yaml: is not UTF-8"),
    ("a.json", b'{"x": [1,}', "a.json:1: the file of values is not JSON"),
    ("a.json", b"[1]", "the file of values is not a mapping"),
    ("a.json", b"[" * 100_000, "too deep"),
    ("a.json", b'{"x": [1], "x": [2]}', "the key `x` is written twice"),
    ("a.json", b'{"x": [1e999]}', "`1e999` is too large for a number"),
    ("a.json", b'{"x": [' + b"9" * 5000 + b"]}", "the file of values cannot be read: "),
    ("a.npz", b"PK nothing", "is no `.npz` of numbers"),
]


@pytest.mark.parametrize(("name", "content", "message"), FILES)
def test_a_file_that_holds_no_numbers(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CardError) as raised:
        read_values(tmp_path / name)
    assert message in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("header", ["{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999)}", "(" * 500, "{'descr': ',',"])
def test_an_npz_that_says_other_than_it_holds_is_refused_before_it_is_read(tmp_path: Path, header: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        text = f"{header:<501}\n".encode()
        archive.writestr("x.npy", b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(8))
    with pytest.raises(CardError, match="is no `.npz` of numbers"):
        read_values(tmp_path / "a.npz")


def test_an_npz_of_a_newer_version_is_measured_too(tmp_path: Path) -> None:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': (99999, 99999)}}{' ' * 63}\n".encode()
    for version, said in ((2, "says that its shape is"), (3, "has version 3.0, which no numbers need")):
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("x.npy", b"\x93NUMPY" + bytes((version, 0)) + len(text).to_bytes(4, "little") + text + bytes(8))
        with pytest.raises(CardError, match=said):
            read_values(tmp_path / "a.npz")


def test_lists_that_are_too_deep_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": ' + "[" * 900 + "1" + "]" * 900 + "}", encoding="utf-8")
    with pytest.raises(CardError, match="too deep"):
        read_values(tmp_path / "a.json")


def test_a_pipe_of_values_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(CardError, match="it is a pipe"):
        read_values(tmp_path / "a.json")


def test_a_pickle_in_an_npz_is_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(CardError, match="is no `.npz` of numbers"):
        read_values(tmp_path / "a.npz")


def test_no_file() -> None:
    with pytest.raises(CardError, match="cannot be read"):
        read_values(Path("nowhere.json"))
