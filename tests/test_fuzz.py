"""Cards that nobody would write: whatever a card says, it is read, or refused in words, and nothing else comes out.

``make fuzz`` tries thousands, and solves what is read, each in a process that ends at its limits.
"""

from __future__ import annotations

import os
import random
import re

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from derive.card import Card
from derive.commands.sheets import Task, sheets
from derive.errors import DeriveError, LimitError
from derive.formulas import formulas
from derive.module import Module
from derive.notation.formulas import Formula
from derive.pool import Limits, results
from derive.question import module_of
from tests.bank import SAMPLES

LONG = int(os.environ.get("DERIVE_FUZZ", "0"))  # cards of each test; 0 for the short run
_SETTINGS = settings(max_examples=LONG or 40, derandomize=not LONG, deadline=None, database=None,
                     suppress_health_check=[*HealthCheck])
_FORMULA = re.compile(r"(?<!\\)\$\$?(?!\$).+?(?<!\\)\$", re.DOTALL)
_TOKEN = re.compile(r"\\[a-zA-Z]+|\w+|\s+|.", re.DOTALL)
_TEXTS = [path.read_text("utf-8") for path in SAMPLES]
_TOKENS = sorted({token for text in _TEXTS for token in _TOKEN.findall(text)}
                 | {r"x^{1000}", r"\sum_{k=1}^{99999999}", "²", "∂", "\x00", "\ud800", "\u202e", "}", "{", r"\begin{cases}"})


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A sample card in which a few tokens are left out, written twice, exchanged or other ones."""
    tokens = _TOKEN.findall(draw(st.sampled_from(_TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 1))
        other = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(["deleted", "twice", "exchanged", "another", "added"])):
            case "deleted":
                tokens[at] = ""
            case "twice":
                tokens[at] *= 2
            case "exchanged":
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "another":
                tokens[at] = draw(st.sampled_from(_TOKENS))
            case "added":
                tokens[at] += draw(st.sampled_from(_TOKENS))
    return "".join(tokens)


def read(text: str) -> bool:
    """Whether a card is read; what is no error of ours fails the test."""
    try:
        module_of(Card.parse(text, "fuzz.md"))
    except DeriveError as error:
        assert error.problems and all(str(problem).strip() for problem in error.problems)
        return False
    return True


@_SETTINGS
@given(mutants())
def test_a_card_with_other_tokens_is_read_or_refused(text: str) -> None:
    if read(text) and LONG:
        (made,) = results(sheets, [Task(text, "fuzz.md", ("md", "tex", "html"), "full")], Limits())
        assert not isinstance(made, DeriveError) or type(made) is not DeriveError, f"{made}\n{text}"
        assert not isinstance(made, LimitError), f"{made}\n{text}"


@_SETTINGS
@given(st.lists(st.sampled_from(_TOKENS), max_size=25).map("".join))
@example("x²_i")
@example(r"\frac{}{}")
@example(r"\begin{cases} x & \text{if } \end{cases}")
@example(r"f(\mathbf{ }), \quad f(\mathbf{u}) = \mathbf{w}^\top \mathbf{u}")
@example(r"V \mathrm{softmax}(K q), " + ", ".join(f"{c} = x" for c in "zasuvopr"))
def test_formulas_of_any_tokens_are_read_or_refused(formula: str) -> None:
    read(f"---\nid: fuzz\n---\n# Question\nConsider the layer $$ y_i = {formula} $$ Derive the backward message.\n")


@_SETTINGS
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_card_or_refused(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    read(text)
    read(f"---\nid: fuzz\n{text}\n---\n# Question\n{text}\n")


@settings(_SETTINGS, max_examples=LONG or 25)
@given(st.sampled_from(sorted(_TEXTS)), st.randoms(use_true_random=False))
def test_a_formula_that_tex_would_not_set_is_never_left_out(text: str, source: random.Random) -> None:
    """A brace that is deleted: the card is refused, whatever its words say besides."""
    question = range(text.index("# Question"), text.find("\n# Solution") % len(text))
    braces = [at for m in _FORMULA.finditer(text, question.start, question.stop) for at in range(*m.span())
              if text[at] in "{}" and text[at - 1] != "\\"]
    if braces and "forward" not in text.partition("# Question")[0]:
        at = source.choice(braces)
        assert not read(text[:at] + text[at + 1:]), f"{text[:at]}⟦{text[at]}⟧{text[at + 1:]}"


_LAYOUT = re.compile(r"\\(?:limits|substack|left|right|[bB]igg?[lr]?|,|;|!|:|\s|q?quad|\\|cdot|mathbf|boldsymbol|bm|mathrm|displaystyle)|[\s&.,;:]")
_OF_FORMULAS = re.compile(r"\\[a-zA-Z]+|\\.|\d+|[A-Za-z]|\S")


def layer_of(text: str) -> Module | None:
    try:
        return module_of(Card.parse(text, "fuzz.md"))
    except DeriveError:
        return None


def forward_formulas(text: str, module: Module) -> list[Formula]:
    """Those of which the readings say that they are the layer, whole."""
    lines = {m[1]: m[2] for r in module.readings if (m := re.match(r"layer \(line (\d+)(?:: \$(.*)\$)?\)$", r, re.DOTALL))}
    card = Card.parse(text, "fuzz.md")
    return [f for f in formulas(card.question, card.question_line)
            if (said := lines.get(str(f.line), "")) == f.latex.strip() or said is None and f.display]


def meant(module: Module) -> tuple[object, ...]:
    """What the module computes and is asked, without how that was read."""
    return tuple(value for name, value in sorted(vars(module).items()) if name in Module.__annotations__
                 and name not in ("readings", "key", "called", "written"))


def left_unnoticed(text: str, source: random.Random, most: int) -> list[str]:
    """Tokens of the forward formulas without which the same is answered."""
    module, found = layer_of(text), []
    for formula in forward_formulas(text, module) if module is not None else ():
        start = text.index(formula.latex)
        tokens = [m for m in _OF_FORMULAS.finditer(formula.latex) if not _LAYOUT.fullmatch(m[0])]
        for token in source.sample(tokens, min(most, len(tokens))):
            at, to = start + token.start(), start + token.end()
            other = layer_of(text[:at] + " " + text[to:])
            if other is not None and meant(other) == meant(module):
                found.append(f"{text[max(start, at - 40) : at]}⟦{token[0]}⟧{text[to : to + 40]}")
    return found


@settings(_SETTINGS, max_examples=LONG or 20)
@given(st.sampled_from(sorted(_TEXTS)), st.randoms(use_true_random=False))
def test_a_token_that_is_deleted_from_a_forward_formula_changes_the_answer_or_is_refused(text: str, source: random.Random) -> None:
    assert not left_unnoticed(text, source, 3)
