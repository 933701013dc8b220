"""Cards of any layer: how each is read, and its numbers against a function in NumPy and central differences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from derive.calculus.one_window import windowed
from derive.card import Card
from derive.errors import CardError
from derive.formulas import formulas
from derive.module import Module
from derive.numbers import Numbers
from derive.question import module_of
from derive.question.requests.second import twice
from tests.bank import LAYERS, derived, understood
from tests.question.oracles import ORACLES, Oracle


def front_matter(path: Path) -> dict[str, Any]:
    return Card.read(path).front_matter


def summary(found: Module) -> str:
    roles = {"": found.inputs, "parameters ": found.parameters, "constants ": found.constants}
    letters = [what + " ".join(names) for what, names in roles.items() if names]
    return f"{found.output} of {'; '.join(letters)}; {' '.join(found.asked)}"


@pytest.mark.parametrize("path", LAYERS, ids=lambda path: path.stem)
def test_how_a_card_is_read(path: Path) -> None:
    assert summary(understood(path.stem)) == front_matter(path)["expect"]


@pytest.mark.parametrize("path", LAYERS, ids=lambda path: path.stem)
def test_every_choice_is_said_with_its_line(path: Path) -> None:
    found = understood(path.stem)
    letters = () if any(w.whole for w in windowed(found)) else (*found.inputs, *found.parameters, *found.constants)
    for name in letters:
        assert any(f"`{name}`" in reading for reading in found.readings), name
    assert any(re.match(r"layer \(line \d+(: \$|\)|, in words\))", reading) for reading in found.readings)


def called(path: Path) -> tuple[Oracle, list[str]]:
    """The oracle of a card, and its arguments' letters on the card."""
    match = re.fullmatch(r"(\w+)\((.*)\)", str(front_matter(path)["oracle"]))
    assert match
    return ORACLES[match[1]], [name.strip() for name in match[2].split(",")]


def differences(oracle: Oracle, values: list[Any], n: int, h: float = 1e-6) -> Any:
    """∂y/∂x for the argument n: output axes, then the axes of the argument."""
    shape = np.shape(oracle.compute(*values))
    found = np.zeros((*shape, *values[n].shape))
    for at in np.ndindex(*values[n].shape):
        sides = []
        for step in (h, -h):
            moved = [v.copy() for v in values]
            moved[n][at] += step
            sides.append(np.asarray(oracle.compute(*moved)))
        found[(..., *at)] = (sides[0] - sides[1]) / (2 * h)
    return found


@pytest.mark.parametrize("path", LAYERS, ids=lambda path: path.stem)
def test_numbers(path: Path) -> None:
    here = Numbers(understood(path.stem), derived(path.stem))
    oracle, names = called(path)
    for seed in (5, 6) if not any(oracle.shapes) else (5,):  # several entries lie on both sides of a kink at once
        compare(here, oracle, names, np.random.default_rng(seed))


def compare(here: Numbers, oracle: Oracle, names: list[str], rng: np.random.Generator) -> None:
    values = oracle.arrays(rng)
    arrays = dict(zip(names, values, strict=True))
    expected = np.asarray(oracle.compute(*values))
    upstream = rng.normal(size=expected.shape)
    np.testing.assert_allclose(here.forward(**arrays), expected, rtol=1e-9, atol=1e-12)
    for n, name in enumerate(names):
        if n in oracle.whole:
            continue
        slopes = differences(oracle, values, n)
        np.testing.assert_allclose(here.jacobian(name, **arrays), slopes, rtol=1e-5, atol=1e-5)
        message = np.tensordot(upstream, slopes, axes=upstream.ndim)
        np.testing.assert_allclose(here.backward(name, upstream=upstream, **arrays), message, rtol=1e-5, atol=1e-5)


def with_unread(unread: str) -> Card:
    text = ("---\nid: unread\n---\n\n# Question\nLet $y = \\tanh(\\mathbf{w}^T \\mathbf{x} + b)$. Derive "
            f"$\\frac{{\\partial y}}{{\\partial \\mathbf{{w}}}}$ and ${unread}$.\n")
    return Card.parse(text, "unread.md")


def test_a_second_derivative_is_said_to_be_unanswered() -> None:
    unread = r"\frac{\partial^2 y}{\partial b^2}"
    found = module_of(with_unread(unread))
    assert f"not answered, since it is outside the notation: ${unread}$ (line 6)" in found.readings
    assert len(found.unanswered) == 1


def test_a_squared_distance_d_is_no_second_derivative() -> None:
    assert understood("contrastive").unanswered == () and understood("label_of_two_values").unanswered == ()
    assert twice(formulas(r"$$ \frac{d^2 y}{dx^2} $$")[0]) and not twice(formulas(r"$$ \frac{d^2}{2} $$")[0])


def test_a_first_derivative_that_cannot_be_read_leaves_the_question_open() -> None:
    with pytest.raises(CardError, match=r"line 6|unread\.md:6"):
        module_of(with_unread(r"\frac{\partial y}{\partial (wx)}"))
