"""What words make of a letter: a phrase with $a$, and whether a is an input, a parameter or a constant."""

from __future__ import annotations

from functools import partial

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.expr import Entry, walk
from derive.formulas import formulas
from derive.notation import gather
from derive.question import module_of
from derive.question.letters.naming import letters_of, mentions, roles_of, sizes_said
from derive.question.words.prose import prose_of
from derive.specify.roles import Role
from tests.bank import solved

ROLES = r"""
parameters | a trainable slope $a$ | the weights $a$ | the bias $a$ | where $a$ and $b$ are learnt | with parameter $a$
parameters | a filter $a$ of length $n$ | $b$ is the input and $a$ the bias | $a$ is a learnable coefficient
parameters | the scale $b$ and the shift $a$ are trainable | váhy $a$ | where $a_i$ is a learned parameter
constants | with target $a$ | $a$ is the label | a fixed slope $a$ | the weight $a$ is fixed | a hyper-parameter $a > 0$
constants | $a$ is no parameter | $a$ is not a parameter, $b$ is | the weights $a$ are frozen | the bias $a$ is not updated
constants | $a$ is a small constant for numerical stability | the ground truth $a$ | kde $a$ je cílová hodnota
constants | at the temperature $a$, | $a \in \{-1, 1\}$ its label | the label vector $a$ is one-hot
inputs | the input $a$ | the logits $a$ | a student with logits $a$ is trained to imitate a teacher | given $a$ and the bias $b$
inputs | takes a minibatch $a \in \mathbb{R}^{n}$, the weights $b$ and | nothing is said of $a$
"""
CASES = [(line.split(" | ")[0], phrase) for line in ROLES.strip().split("\n") for phrase in line.split(" | ")[1:]]


@pytest.mark.parametrize(("role", "phrase"), CASES)
def test_roles(role: str, phrase: str) -> None:
    text = f"$y_k = a_k x_k + b_k$. Here {phrase}."
    found = formulas(text)
    table = gather(found)
    spoken = mentions(prose_of(text, 1, found), partial(letters_of, table=table))
    card = Card.parse(f"---\nid: a\n---\n# Question\n{text}\n")
    roles = roles_of(("a",), spoken, card, table)
    assert roles["a"].role == role, roles
    assert roles["a"].said.count("$") % 2 == 0, "a formula is quoted whole"


def test_the_front_matter_decides() -> None:
    text = "$y_k = a_k x_k$ with weights $a$."
    card = Card.parse(f"---\nid: a\nconstants: a\ninputs: [x]\n---\n# Question\n{text}\n")
    found = formulas(text)
    table = gather(found)
    spoken = mentions(prose_of(text, 1, found), partial(letters_of, table=table))
    roles = roles_of(("a", "x"), spoken, card, table)
    assert roles["a"] == Role("constants", "line 3: `constants: a`") and roles["x"].role == "inputs"


@pytest.mark.parametrize("phrase", [
    "where $n$ is the number of samples", "$n$ samples", "a batch of $n$ examples", "batch size $n$", "$n$ classes",
    "$n$ denotes the batch size", "of length $n$", "an $n$-dimensional input", "kde $n$ je počet vzorků",
    "where $n$ is the dimension of the query", "over a batch of size $n$", "over all $n$ positions", "of $n$ numbers",
])  # fmt: skip
def test_sizes(phrase: str) -> None:
    assert list(sizes_said(prose_of(phrase, 1, formulas(phrase)))) == ["n"]


@pytest.mark.parametrize("phrase", ["where $n$ is the input", "the slope $n$", "for $n = 3$", "with weights $n$", "a step of size $n$"])
def test_no_sizes(phrase: str) -> None:
    assert not list(sizes_said(prose_of(phrase, 1, formulas(phrase))))


def test_messages_asked_for_beside_a_derivative_are_answered() -> None:
    printed = solved("parameters_not_declared").sheet.answer
    text = " ".join(block.latex for block in printed if hasattr(block, "latex"))
    assert all(rf"\partial {letter}" in text for letter in ("x_", "w_", "b_"))


def test_a_noun_behind_a_preposition_is_of_no_letter_in_front() -> None:
    """«x_a and x_p are projected by the same matrix W»: x_a is no matrix."""
    module = module_of(Card.parse("---\nid: projected\n---\n\n# Question\nTwo inputs $x_a$, $x_p$ are projected by the same "
                                  "matrix $W$ to $z_a = W x_a$, $z_p = W x_p$; the loss is $\\ell = \\|z_a - z_p\\|^2$. "
                                  "Derive $\\partial \\ell / \\partial W$.\n"))
    assert [len(symbol.axes) for symbol in module.table.symbols if symbol.name in ("x_a", "x_p")] == [1, 1]


AFFINE = "---\nid: affine\n{keys}---\n\n# Question\n$y = W x + b$ with weights $W$ and bias $b${said} Derive {asked}.\n"


@pytest.mark.parametrize("said", [
    ". All but $W$ are parameters.", ". Neither $W$ nor $x$ is trained.", ". Only $W$ is learned.", ". The weights are fixed.",
    ". The bias is not updated.", ", the latter being constant.", ", of which only the weights are learned.",
])  # fmt: skip
def test_who_is_trained_of_others_than_the_letters_beside_it_is_left_open(said: str) -> None:
    with pytest.raises(CardError, match="does not say who of the letters"):
        module_of(Card.parse(AFFINE.format(keys="", said=said, asked="the parameter messages")))
    stated = "parameters: [W]\nconstants: [b]\n"
    assert module_of(Card.parse(AFFINE.format(keys=stated, said=said, asked="the parameter messages"))).parameters == ("W",)


def test_what_is_held_fixed_does_not_matter_for_what_is_asked_by_letters() -> None:
    asked = AFFINE.format(keys="", said=". The weights are fixed.", asked=r"$\partial L/\partial x$")
    assert module_of(Card.parse(asked)).asked == ("vjp",)


@pytest.mark.parametrize("said", [
    r"Let $p_k = \frac{e^{s_k}}{\sum_j e^{s_j}}$ be the softmax of $s \in \mathbb{R}^K$ and $\ell = -\sum_k t_k \ln p_k$ the cross-entropy "
    "with a one-hot target $t$.",
    r"For the scores $s$ a classifier, trained with one-hot labels $t$, computes $p_k = \frac{e^{s_k}}{\sum_j e^{s_j}}$ "
    r"and $\ell = -\sum_k t_k \ln p_k$.",
])  # fmt: skip
def test_a_fact_behind_a_preposition_is_of_the_letter_behind_it(said: str) -> None:
    module = module_of(Card.parse(f"---\nid: q\n---\n# Question\n{said} Derive $\\frac{{\\partial \\ell}}{{\\partial s_i}}$.\n", "card.md"))
    assert {n.tensor for fact in module.facts for n in walk(fact) if isinstance(n, Entry)} == {"t"}


@pytest.mark.parametrize(("asked", "parameters"), [
    ("the backward message and the gradients of the loss with respect to $W$, $b$, $V$ and $c$", ("W", "b", "V", "c")),
    (r"the backward message, $\frac{\partial L}{\partial W}$, $\frac{\partial L}{\partial b}$, $\frac{\partial L}{\partial V}$ and "
     r"$\frac{\partial L}{\partial c}$", ("W", "b", "V", "c")),
    ("the backward message and the gradient of the loss with respect to $W$", ()), ("the gradient of the loss with respect to $x$", ()),
])
def test_letters_asked_for_beside_the_backward_message_are_parameters(asked: str, parameters: tuple[str, ...]) -> None:
    layer = r"A gated linear unit computes $y = (W x + b) \odot \sigma(V x + c)$."
    module = module_of(Card.parse(f"---\nid: q\n---\n# Question\n{layer} Derive {asked}.\n"))
    assert module.parameters == parameters and module.asked[:1] == ("vjp",)


@pytest.mark.parametrize("told", ["i.e. the derivatives with respect to", "that is, the gradients with respect to"])
def test_letters_by_which_parameter_messages_are_taken_are_parameters(told: str) -> None:
    question = rf"Let $y_{{nd}} = \gamma_d x_{{nd}} + \beta_d$. Derive the parameter messages, {told} $\gamma$ and $\beta$."
    module = module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{question}\n"))
    assert (module.inputs, module.parameters) == (("x",), ("gamma", "beta"))
