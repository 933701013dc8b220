"""One step of gradient descent: read as a message that is scaled, answered in letters and in numbers, and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from derive import solve
from derive.card import Card
from derive.errors import CardError, UnsupportedError
from derive.expr import Add, Entry, Matrix, Mul, Num, Rel, conditions, eq
from derive.question import module_of
from derive.sheet import Math
from derive.solve import Solution
from derive.specify.writing import statement_of
from derive.verify.sheet import verify

NEURON = r"Let $s = \mathbf w^\top \mathbf x$ and $\ell = (s - t)^2$. "
LAYER = r"Let $y = Wx + b$ and $\ell = \frac12 \sum_k (y_k - t_k)^2$. "
GIVEN = r"Take $\mathbf w = (2, 1)^\top$, $\mathbf x = (1, 3)^\top$ and $t = 1$. "
AT = (r"$W = \begin{pmatrix} 1 & -2 \\ 0 & 3 \end{pmatrix}$, $b = (1, -1)^\top$, $x = (2, 1)^\top$ and $t = (1, 1)^\top$")
LOGISTIC = r"Let $p = \frac{1}{1 + e^{-z}}$ with $z = w x + b$ and $\ell = -t \ln p - (1 - t) \ln(1 - p)$. "


def card(question: str, front: str = "") -> Card:
    return Card.parse(f"---\nid: steps\n{front}---\n\n# Question\n{question}\n", "card.md")


ASKED = {  # the words, the letters that take the step, and its size
    r"Derive $\partial \ell/\partial \mathbf w$ and the new weights.": (["w"], None),
    "Derive the weights after one step of gradient descent.": (["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$ and the weights after one step of gradient descent with learning rate $\eta$.": (
        ["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$ and the update of the weights.": (["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$ and the gradient descent update of $\mathbf w$ with step size $\eta$.": (["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$ and give the update rule for $\mathbf w$.": (["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$ and give the update rule.": (["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$ and perform one step of gradient descent with learning rate $0.1$.": (
        ["w"], Fraction(1, 10)),
    r"Derive $\partial \ell/\partial \mathbf w$. Update the weights.": (["w"], None),
    r"Derive $\partial \ell/\partial \mathbf w$. What are the weights after one step of gradient descent with learning rate 0.5?": (
        ["w"], Fraction(1, 2)),
    r"Derive $\partial \ell/\partial \mathbf w$ and $\mathbf w$ after one gradient step with $\eta = \frac{1}{4}$.": (
        ["w"], Fraction(1, 4)),
}


@pytest.mark.parametrize("words", ASKED)
def test_ways_of_asking_for_a_step(words: str) -> None:
    module = module_of(card(NEURON + words))
    letters, size = ASKED[words]
    assert [u.wrt for u in module.updates] == letters and {u.size for u in module.updates} == {size}
    assert {u.of for u in module.updates} == {"ell"} and not module.unanswered


@pytest.mark.parametrize(("words", "letters"), [
    ("Derive the gradients with respect to $W$ and $b$ and the updated parameters with learning rate $\\alpha$.", ["W", "b"]),
    ("Derive the gradients with respect to $W$, $b$ and $x$ and the updated parameters.", ["W", "b"]),
    ("Derive the gradients with respect to $W$ and $b$ and the new $W$ and $b$.", ["W", "b"]),
    ("Derive the new bias $b$.", ["b"]),
    ("1. Compute the gradients with respect to $W$ and $b$.\n2. Update $W$ and $b$ using gradient descent with a learning rate of 0.1.\n",
     ["W", "b"]),
])  # fmt: skip
def test_whose_letters_take_the_step(words: str, letters: list[str]) -> None:
    module = module_of(card(LAYER + words))
    assert [u.wrt for u in module.updates] == letters
    assert {*letters} <= {w.wrt.tensor for w in module.wanted if isinstance(w.wrt, Entry)} | {*module.parameters}


@pytest.mark.parametrize(("words", "why"), [
    ("Derive the new bias.", "does not say which letters"),
    ("Derive the new $Q$.", "no `Q`"),
    ("Derive the gradient with respect to $W$ and the new weights with momentum 0.9.", "a step of gradient descent is read as"),
    ("Derive the gradient with respect to $W$ and the new weights after two steps.", "a step of gradient descent is read as"),
    ("Derive the gradient with respect to $W$ and the new $W$ for the learning rate 0.1. Use Adam.", "“Adam”"),
    ("Derive the gradients with respect to $W$ and $b$ and one gradient descent step.", "a step of gradient descent is read as"),
    (f"Compute the new $W$ for {AT}.", "none for the step size"),
    (r"Compute the new $W$ with learning rate 0.1 and the new $b$ with learning rate 0.2.", "several step sizes"),
    (r"Compute the new $W$ after one step with $\eta = 0.1$ and $\eta = 0.2$.", "several step sizes"),
])  # fmt: skip
def test_a_step_is_refused_rather_than_left_out(words: str, why: str) -> None:
    with pytest.raises((CardError, UnsupportedError)) as error:
        module_of(card(LAYER + words))
    assert why in str(error.value) and "card.md:" in str(error.value)


def test_what_a_gradient_is_for_asks_for_no_step() -> None:
    for words in ("that are needed to update the weights", "needed for a gradient step"):
        assert module_of(card(f"{LAYER}Derive the gradients with respect to $W$ and $b$ {words}.")).updates == ()


STEPS = {  # questions with numbers, and the new values worked by hand
    "neuron": (NEURON + GIVEN + r"Compute $\partial \ell/\partial \mathbf w$ and update the weights with learning rate $\eta = 0.1$.",
               {"w": [Fraction(6, 5), Fraction(-7, 5)]}),
    "layer": (LAYER + "Compute the output, the gradients and the parameters after one step of gradient descent with "
              rf"$\eta = 0.1$ for {AT}.", {"W": [1, -2, Fraction(-1, 5), Fraction(29, 10)], "b": [1, Fraction(-11, 10)]}),
    "convolution": (r"A convolution $y_t = \sum_{k=0}^{2} w_k x_{t+k}$ has the kernel $w = [1, 0, -1]$ and the input "
                    r"$x = [1, 2, 3, 4, 5]$. Given $\partial L/\partial y = [1, 1, 2]$ compute $\partial L/\partial w$ and "
                    r"the new kernel $w$ with the learning rate 0.5.", {"w": [Fraction(-7, 2), Fraction(-13, 2), Fraction(-19, 2)]}),
}


def printed(solution: Solution, name: str) -> list[Any]:
    """The numbers of the answer's last matrix of that tensor."""
    found = [c.terms[-1] for m in solution.sheet.answer if isinstance(m, Math) and m.name == "numbers"
             for c in conditions(m.expr) if isinstance(c, Rel) and c.terms[0] is Entry(name, ())]
    value = found[-1]
    return [e.value for row in value.rows for e in row if isinstance(e, Num)] if isinstance(value, Matrix) else [value.value]


@pytest.mark.parametrize("name", STEPS)
def test_new_values_by_hand(name: str) -> None:
    question, new = STEPS[name]
    solution = solve(card(question))
    assert solution.report.ok
    for letter, values in new.items():
        assert printed(solution, f"new_{letter}") == values


def test_each_step_of_the_arithmetic_is_shown() -> None:
    text = " ".join(m.latex for m in solve(card(STEPS["neuron"][0])).sheet.answer if isinstance(m, Math))
    assert r"w^{\text{new}}_{0} = 2 - 0.1 \cdot 8 = 1.2" in text and r"\begin{pmatrix} 1.2 \\ -1.4 \end{pmatrix}" in text
    exact = STEPS["neuron"][0].replace("0.1", r"\frac{1}{10}")
    text = " ".join(m.latex for m in solve(card(exact)).sheet.answer if isinstance(m, Math))
    assert r"w^{\text{new}}_{0} = 2 - \frac{1}{10} \cdot 8 = \frac{6}{5}" in text


def test_a_step_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    question = (LOGISTIC + "Compute the gradients with respect to $w$ and $b$ and the parameters after one step of gradient "
                r"descent with $\eta = 0.5$ for $w = 0.5$, $b = -0.25$, $x = 2$, $t = 1$.")
    solution = solve(card(question))
    assert solution.report.ok
    w, b = (torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in (0.5, -0.25))
    torch.nn.functional.binary_cross_entropy(torch.sigmoid(2 * w + b), torch.ones((), dtype=torch.float64)).backward()
    torch.optim.SGD([w, b], lr=0.5).step()
    shown = str(solution.sheet.answer)
    for value in (w, b):
        assert f"{value.item():.4f}".replace("-", "−") in shown


def test_the_layer_steps_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    solution = solve(card(STEPS["layer"][0]))
    linear = torch.nn.Linear(2, 2, dtype=torch.float64)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1, -2], [0, 3]]))
        linear.bias.copy_(torch.tensor([1, -1]))
    (0.5 * (linear(torch.tensor([2.0, 1.0], dtype=torch.float64)) - 1).square().sum()).backward()
    torch.optim.SGD(linear.parameters(), lr=0.1).step()
    np.testing.assert_allclose(np.array(printed(solution, "new_W"), float), linear.weight.detach().numpy().ravel())
    np.testing.assert_allclose(np.array(printed(solution, "new_b"), float), linear.bias.detach().numpy())


def test_in_letters_the_gradient_is_put_in() -> None:
    solution = solve(card("Let $y = Wx + b$. Given $\\partial L/\\partial y$, derive the gradients with respect to $W$ and $b$ and "
                          "the updated $W$ after one step of SGD with learning rate $\\alpha$."))
    shown = [m.latex for m in solution.sheet.answer if isinstance(m, Math) and m.name == "update_W"]
    assert r"W^{\text{new}}_{ij} = W_{ij} - \alpha \delta_{y,i} x_{j}" in shown and solution.report.ok


@pytest.mark.parametrize("name", STEPS)
def test_the_statement_of_a_card_has_its_steps(name: str) -> None:
    module = module_of(card(STEPS[name][0]))
    again = module_of(card("Derive.", statement_of(module).text))
    assert (again.updates, dict(again.values), again.decimals) == (module.updates, dict(module.values), module.decimals)


def _other_sign(math: Math) -> Math:
    """θ + η g for θ − η g."""
    def turned(statement: Rel) -> Rel:
        head, value, *rest = statement.terms
        assert isinstance(value, Add)
        first, change = value.terms
        return eq(head, Add((first, Mul((Num(-1), change)))), *rest)

    node = math.expr
    return replace(math, latex=math.latex.replace(" - ", " + ", 1), expr=turned(node) if isinstance(node, Rel) else node)


SABOTAGES: dict[str, tuple[str, Callable[[Math], Math]]] = {
    "the sign of the step": ("update_w", _other_sign),
    "a number of the step": ("arithmetic", lambda m: replace(m, latex=m.latex.replace("= 1.2", "= 2.8"))),
    "the size of the step": ("arithmetic", lambda m: replace(m, latex=m.latex.replace(r"0.1 \cdot 8", r"0.2 \cdot 8"))),
    "a new value": ("numbers", lambda m: replace(m, latex=m.latex.replace(r"{pmatrix} 1.2", r"{pmatrix} 2.8"))),
}


@pytest.mark.parametrize("name", SABOTAGES)
def test_a_planted_mistake_in_a_step_is_refuted(name: str) -> None:
    solution = solve(card(STEPS["neuron"][0]))
    which, mistake = SABOTAGES[name]
    sheet, changed = solution.sheet, 0
    blocks = []
    for block in sheet.answer:
        wrong = mistake(block) if isinstance(block, Math) and block.name == which else block
        changed += wrong != block
        blocks.append(wrong)
    assert changed
    report = verify(replace(sheet, answer=tuple(blocks)), solution.messages)
    assert not report.ok and any(c.name == which and c.verdict == "refuted" for c in report.checks)


def test_an_answer_without_the_step_is_refuted() -> None:
    solution = solve(card(STEPS["neuron"][0]))
    kept = tuple(b for b in solution.sheet.answer if not (isinstance(b, Math) and "new" in b.latex))
    report = verify(replace(solution.sheet, answer=kept), solution.messages)
    assert any("after the step" in (c.counterexample or "") for c in report.checks if c.verdict == "refuted")
