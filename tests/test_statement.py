"""The text form of a statement: to text and back, reflowed as note-taking programs do, and what YAML would change."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from derive.card import Card
from derive.errors import CardError
from derive.statement import KEYS, MOST_IN_A_FORMULA, SINGLE, SIZES, Statement, with_statement

FORMULA = st.sampled_from([
    r"y_k = \max(0, x_k)", r"f(s) = s \tanh(\ln(1 + e^{s}))", r"\sum_i t_{ij} = 1", r"\epsilon > 0", r"x' = 'a'",
    r"W \in \mathbb{R}^{K \times n}", r"t \in \{0, 1\}", "a: b", "a # b", "# a", "- a", "? a", "[x, y]", "{x}", "&a", "*a", "!a",
    "%a", "@a", "`a`", "yes", "null", "~", "1", "1.5", "", "'", '"', '"a"', r"\\", r"\xi", "|x|", "> 0", "ř", "a\u2028b",
]) | st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Co", "Cn", "Zl", "Zp")), max_size=30)  # fmt: skip
SIZE = st.lists(st.integers(0, 99), min_size=1, max_size=3)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    values: dict[str, object] = {}
    for key in draw(st.sets(st.sampled_from(KEYS))):
        one = FORMULA.map(lambda text: text if text.strip() else "x")
        values[key] = draw(one if key in SINGLE else SIZE if key in SIZES else st.lists(one, max_size=4))
    return Statement(**values)  # type: ignore[arg-type]


@example(Statement(ceil_mode="null"))
@given(statements())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # no test depends on a machine's speed
def test_text_and_back(statement: Statement) -> None:
    assert Statement.parse(statement.text) == statement
    assert Statement.parse(statement.text.replace("\n", "\r\n")) == statement


def unclosed(text: str) -> bool:
    while text != (text := re.sub(r"\([^()]*\)", "", text)):
        pass
    return "(" in text


@example(Statement(forward=["f(x", "y"]), "'", False, None)
@example(Statement(layers=r"y_k = \max(0, x_k)", forward=[")"]), None, True, None)
@example(Statement(forward=["a)", "(b", "(c)", "(d"]), '"', True, None)
@given(statements(), st.sampled_from(["'", '"', None]), st.booleans(), st.randoms(use_true_random=False))
def test_reflowed_text_says_the_same(statement: Statement, style: str, flow: bool, random: object) -> None:
    values = yaml.load(statement.text, yaml.BaseLoader) or {}  # every scalar a text
    # a comma inside a text without quotes cannot be told from one between two texts
    assume(style or not any(unclosed(t) for v in values.values() if isinstance(v, list) for t in v[:-1]))
    keys = sorted(values)
    if random:
        random.shuffle(keys)  # type: ignore[attr-defined]
    text = yaml.safe_dump({key: values[key] for key in keys}, default_style=style, default_flow_style=flow or None,
                          sort_keys=False, allow_unicode=True, width=40)
    assert Statement.parse(text) == statement


def test_the_text_is_as_people_write_it() -> None:
    statement = Statement(layers="linear -> prelu", forward=r"y = it's \beta", parameters=["W", "b"], constants=[r"\tau"],
                          kernel_size=2, padding=((0, 1), 2), derive=["forward", "backward"], tie_rule="split")
    assert statement.text == r"""layers: 'linear -> prelu'
forward:
  - 'y = it''s \beta'
parameters: [W, b]
constants:
  - '\tau'
derive: [forward, backward]
kernel_size: [2]
padding: [0+1, 2]
tie_rule: split
"""


@pytest.mark.parametrize(("lines", "message"), [
    ('forward:\n- "y = \\tau x"', r"3: `forward`: in double quotes YAML changes `\t`; write it in single quotes, `- '…'`"),
    ('loss: "\\beta"', r"2: `loss`: in double quotes YAML changes `\b`; write it in single quotes, `- '…'`"),
    ("forward:\n- y = x #1", "3: `forward`: YAML ends the text at ` #`; write it in single quotes, `- '…'`"),
    ("forward:\n- f: y = x", "3: `forward`: YAML reads no text here (`: `, braces or brackets); write it in single quotes, "
     "`- '…'`"),
    ("forward:\n  f: y = x", "3: `forward`: YAML reads a mapping here (`: ` or braces); write it in single quotes, `- '…'`"),
    ("parameters: [f(a, b)]", "2: `parameters`: YAML parts the text at a comma; write it in single quotes, `- '…'`"),
    ("parameters: [{a}]", "2: `parameters`: YAML reads no text here (`: `, braces or brackets); write it in single quotes, "
     "`- '…'`"),
    ("facts: [\\sum_i t_{ij} = 1]", "2: the front matter is not YAML: expected ',' or ']', but got '{'; write a formula in "
     "single quotes, `- '…'`"),
    ('facts: ["\\sum_i t_i"]', "2: the front matter is not YAML: found unknown escape character 's'; write a formula in "
     "single quotes, `- '…'`"),
    ("output: [y, z]", "2: `output` is one text and no list"),
])  # fmt: skip
def test_what_yaml_would_change_is_refused_with_its_line(lines: str, message: str) -> None:
    with pytest.raises(CardError) as error:
        Statement.of(Card.parse(f"---\n{lines}\nid: q\n---\n# Question\nDerive.\n", "q.md"))
    assert str(error.value) == f"q.md:{message}"


@pytest.mark.parametrize("text", ["[)]", "[x, a)]", "[f(x]", "[(a), f(b), c)]", "['f(x', y]"])
def test_a_bracket_that_no_comma_parts_stays(text: str) -> None:
    assert list(Statement.parse(f"forward: {text}").forward or ()) == yaml.safe_load(text)


def test_texts_are_bounded() -> None:
    with pytest.raises(CardError, match="a text of 4,001 characters, and at most 4,000 are read"):
        Statement.parse(f"forward: '{'x' * (MOST_IN_A_FORMULA + 1)}'")
    with pytest.raises(CardError, match="the statement has 401 items"):
        Statement.parse("parameters: [" + ", ".join(["a"] * 401) + "]")


def test_signs_that_cannot_be_printed_have_no_text() -> None:
    with pytest.raises(CardError, match="cannot be printed"):
        Statement(forward=["y = \x1b[31m"])


def test_items_know_their_lines() -> None:
    found = Statement.parse("id: q\nforward:\n  - 'a = b'\n\n  - 'c = d'\nparameters: [W]\n", 2)
    assert [s.line for s in found.sources["forward"]] == [4, 6]
    assert found.line("parameters") == 7
    assert found.line("loss") is None


def test_a_literal_block_holds_a_formula_a_line() -> None:
    found = Statement.parse("forward: |\n  a = b\n  c = d\n")
    assert found.forward == ("a = b", "c = d")
    assert [s.line for s in found.sources["forward"]] == [2, 3]


def test_one_statement_laid_over_another() -> None:
    first = Statement(forward=["y = x"], facts=["a > 0"], derive=["forward"])
    assert first.overlaid(Statement(facts=["b > 0"], derive=["backward"])) == Statement(
        forward=["y = x"], facts=["a > 0", "b > 0"], derive=["backward"])


def test_a_card_with_a_statement_keeps_its_text() -> None:
    card = Card.parse("---\nid: q\nstride: 3\n---\n# Question\nDerive.\n")
    found = with_statement(card, Statement(stride=2, padding=["same"], ceil_mode=True, kernel_size=(3, 2)))
    assert found.text == card.text
    assert found.front_matter == {"id": "q", "stride": 2, "padding": "same", "ceil_mode": True, "kernel_size": [3, 2]}
