"""A letter that a sentence defines by the name of a function is computed so; nothing else is."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.notation.rules import LETTERS, rewritten
from derive.question import module_of
from derive.question.letters.defining import defined_in_words
from derive.question.words.prose import prose_of
from derive.question.words.reading import question_formulas

SOFTMAX, LINEAR = r"and $L = -\sum_k t_k \log p_k$", r"$a = W x + b$"
DEFINED = [
    (rf"Let $p$ be the softmax of $z$ {SOFTMAX}.", ["p = softmax(z)"]),
    (rf"The logits $z$ are turned into probabilities $p$ by a softmax, {SOFTMAX}.", ["p = softmax(z)"]),
    (rf"A softmax turns the logits $z$ into probabilities $p$, {SOFTMAX}.", ["p = softmax(z)"]),
    (rf"The activations $h$ are the ReLU of {LINEAR}.", ["h = relu(a)"]),
    (rf"Let {LINEAR}, and let $h$ be obtained by applying tanh to $a$.", ["h = tanh(a)"]),
    (rf"Let {LINEAR}. Passing $a$ through a sigmoid gives $y$.", ["y = sigmoid(a)"]),
    (rf"Let {LINEAR}. A softplus is applied to $a$, which gives $y$.", ["y = softplus(a)"]),
    (r"Let $c = f g$. The gates $f$ and $g$ are sigmoids of the activations $a$ and $b$.", ["f = sigmoid(a)", "g = sigmoid(b)"]),
    (r"Each state gets a score $e_t = v^\top h_t$. The scores are turned into weights $\alpha_t$ by a softmax, and the "
     r"summary $c$ is the average of the states $h_t$ weighted by the weights.",
     [r"\alpha_{t} = \frac{e^{e_{t}}}{\sum_{r} e^{e_{r}}}", r"c = \sum_{t} \alpha_{t} h_{t}"]),
    (r"Let $q_k = 1 - t_k$, let $p$ be the softmax of $z$, and $L$ is the cross-entropy between $q$ and $p$.",
     ["p = softmax(z)", r"L = -\sum_{r} q_{r} \log p_{r}"]),
    # nothing: another operation stands between, the letter has a formula, it is denied, no function is named
    (rf"Let {LINEAR}, and $h$ is $c$ times the tanh of $a$.", []),
    (rf"Let {LINEAR}, and $h$ is one minus the sigmoid of $a$.", []),
    (r"Let $a = W x$ and $h = \tanh(a)$: $h$ is the tanh of $a$.", []),
    (rf"Let {LINEAR}; $h$ is not the tanh of $a$.", []),
    (rf"Let {LINEAR}, and $h$ is the tanh of $h$.", []),
    (r"Let $q_k = 1 - t_k$; $L$ is the cross-entropy between $q$ and $p$.", []),  # which is computed?
    (r"Let $p$ be the softmax of $z$.", []),  # layers in words alone are read elsewhere
]


@pytest.mark.parametrize(("question", "defined"), DEFINED, ids=[q for q, _ in DEFINED])
def test_sentences_that_define(question: str, defined: list[str]) -> None:
    card = Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n")
    written = rewritten(question_formulas(card), LETTERS)
    found = [f.latex.replace(r"\mathrm{", "").replace("}(", "(") for f in
             defined_in_words(prose_of(card.question, card.question_line, written), written)]
    assert found == defined


def test_a_letter_that_words_define_is_computed() -> None:
    text = rf"Let {LINEAR}, and let the output $h$ be the tanh of $a$. Derive $\partial L/\partial x$ from $\partial L/\partial h$."
    module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{text}\n"))
    assert (module.output, module.asked) == ("h", ("vjp",))
