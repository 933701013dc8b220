"""Messages that words ask for, of a layer that formulas compute: all that it is given, or the card stays open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.expr import Entry
from derive.module import Module
from derive.question import module_of

AFFINE = r"A block computes $$y_k = \tanh\Bigl(\sum_j A_{kj} x_j + c_k\Bigr), \qquad k = 1, \dots, K,$$ from a reading. "
BILINEAR = (r"A comparer takes two descriptions $u \in \mathbb{R}^n$ and $v \in \mathbb{R}^m$ and has a table $M$: "
            r"$$s = \sum_{i=1}^n \sum_{j=1}^m u_i M_{ij} v_j.$$ ")


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: a\n---\n# Question\n{question}\n\n---\n# Solution\n"))


@pytest.mark.parametrize("request_", [
    "Derive the message to the reading and the gradients for its table and its offsets.",
    "Find the gradients that it passes to its reading.",
    "Establish the backward message of the block, and compare it with that of a linear one.",
    "Which messages does the block send back?",
])
def test_nouns_of_what_is_given_ask_for_all_of_it(request_: str) -> None:
    module = read(AFFINE.replace("from a reading", "from a reading, with a table and offsets") + request_)
    assert {*module.inputs, *module.parameters} == {"x", "A", "c"}
    assert "vjp" in module.asked  # by each letter: no word tells parameters apart
    assert ("is no name of a letter" in " ".join(module.readings)) is ("reading" in request_)


def test_what_no_derivative_answers_is_said() -> None:
    module = read(BILINEAR + "Derive the gradients for the two descriptions and the table, and test the case of a "
                  "single entry.")
    assert any("not answered" in reading for reading in module.readings)


@pytest.mark.parametrize("request_", [
    "Derive the gradient of the loss and the optimal step size.",
    "Derive the gradients of all quantities except the offsets.",
    "Derive the message to the reading and the Hessian.",
    "Derive the gradient of the squared outputs with respect to the reading.",
    "Derive the message to the blorp.",
    "Derive the gradients for the tied weights.",
    "Derive the gradient of the average output.",
    "Derive the backward messages of the block and of its transpose.",
    "The outputs are summed. Derive the gradient of this sum with respect to the reading.",
])
def test_words_that_may_ask_for_something_else_are_open(request_: str) -> None:
    with pytest.raises(DeriveError):
        read(AFFINE + request_)


@pytest.mark.parametrize("further", [
    "Its outputs are squashed by a sigmoid.", "Its output is squashed by a logistic sigmoid.",
    "Its units are normalised by a softmax.",
])
def test_a_function_is_shown_by_its_own_form_only(further: str) -> None:
    """tanh computes neither a sigmoid nor a softmax."""
    with pytest.raises(DeriveError, match="no formula computes it"):
        read(f"{AFFINE}{further} Derive the gradients for the weights $A$ and the biases $c$.")


@pytest.mark.parametrize("asked", [
    "Derive the gradient for the weights of the previous layer.", "Derive the backward message of the layer that undoes this one.",
])
def test_what_is_asked_of_another_layer_is_open(asked: str) -> None:
    with pytest.raises(DeriveError, match="not understood in what is asked"):
        read(f"{AFFINE} {asked}")


BLOCK = (r"A block maps $x \in \mathbb{R}^D$ to $$a = W_1 x + b_1,\qquad h = \tanh(a),\qquad y = x + W_2 h + b_2,$$ "
         r"with $W_1 \in \mathbb{R}^{M\times D}$, $W_2 \in \mathbb{R}^{D\times M}$, $b_1 \in \mathbb{R}^M$ and "
         r"$b_2 \in \mathbb{R}^D$. The gradient of the loss with respect to the output is known. ")
LOGIT = (r"For cases with covariates $x_n \in \mathbb{R}^D$, the rows of $X$, and labels $t_n$ put $$a_n = \sum_{d=1}^D w_d "
         r"x_{nd} + b,\qquad L = \frac1N \sum_{n=1}^N \bigl(\ln(1 + e^{a_n}) - t_n a_n\bigr).$$ ")
ATTENTION = (r"Let the keys $K\in\mathbb{R}^{T\times d}$, the values $V\in\mathbb{R}^{T\times p}$ and one query $q$ be given. "
             r"Put $$s_t = \sum_{i=1}^d K_{ti} q_i,\quad \alpha_t = \frac{e^{s_t}}{\sum_u e^{s_u}},\quad c_j = \sum_{t=1}^T "
             r"\alpha_t V_{tj}.$$ ")
NORM = (r"For an input $H = (h_{nj})$ of shape $N\times J$ let $$m_n = \frac1J \sum_{j=1}^J h_{nj},\quad o_{nj} = \gamma_j (h_{nj} "
        r"- m_n) + \beta_j,$$ where $\gamma, \beta \in \mathbb{R}^J$ are trainable. ")


def by(module: Module) -> set[str]:
    """The letters by which derivatives are answered."""
    if module.wanted:
        return {w.wrt.tensor for w in module.wanted if isinstance(w.wrt, Entry)}
    inputs = module.inputs if {"jacobian", "vjp"} & {*module.asked} else ()
    return {*inputs, *(module.parameters if "parameters" in module.asked else ())}


@pytest.mark.parametrize(("layer", "asked", "letters"), [
    (LOGIT, "Derive the gradients of $L$ with respect to the weight vector, the intercept and the covariate matrix.", "w b x"),
    (LOGIT, "Compute the derivative of the loss with respect to the logits. Hence show how the gradients for the weights and "
            "the bias follow.", "a w b"),
    (BLOCK, "Derive the Jacobian-transpose message for the input of the block, and the gradients for both weight matrices and "
            "both bias vectors.", "x W_1 b_1 W_2 b_2"),
    (BLOCK, "Derive the gradient with respect to the pre-activation, and then those for the first weight matrix and the first "
            "bias vector.", "a W_1 b_1"),
    (BLOCK, "Give the gradients for all parameters and for the input. Begin with the hidden activation $h$.",
     "x W_1 b_1 W_2 b_2"),
    (ATTENTION, "Derive the gradients with respect to the query, the keys and the values.", "q K V"),
    (NORM, r"Derive the message that the layer sends down to $H$, and the gradients of its gain $\gamma$ and offset $\beta$. "
           "Write the first as a projection-like expression, and indicate which averages have to be computed.", "H gamma beta"),
    (NORM, "Derive the gradients with respect to the input, the gains and the offsets. Express the first as a centring of a "
           "rescaled error, row by row.", "h gamma beta"),
])
def test_nouns_are_of_letters_on_the_card(layer: str, asked: str, letters: str) -> None:
    assert {*letters.split()} <= by(read(layer + asked))


def test_what_is_widened_or_not_followed_is_said() -> None:
    readings = " ".join(read(f"{BLOCK}Derive the gradient with respect to the pre-activation. Write the first as a row-like sum.").readings)
    assert "“pre-activation” is no name of a letter on the card: the derivatives by" in readings
    assert "not followed in how the answer is written: line 5: “Write the first as a row-like sum”" in readings


@pytest.mark.parametrize(("layer", "asked"), [
    *((LOGIT, f"Derive {asked}.") for asked in (
        "the second derivatives of $L$ with respect to the weight vector", "the Fisher information with respect to the covariates",
        "the expected gradient with respect to the intercept", "the averaged gradient with respect to the covariates",
        "the variance of the gradient with respect to the covariates", "the norm of the gradient for the intercept",
        "the inverse of the Jacobian with respect to the covariates", "the natural gradient with respect to the intercept",
        "the gradient for the weights when they are shared", "the gradient for the weights, which are tied",
        "the gradient for the intercept when the covariates are standardised", "the gradient for the weights at $x = 0$",
        "the gradient with respect to the covariates with $w$ held fixed at zero", "the gradient for the second intercept",
        "the gradient with respect to the intercept after the update", "the gradient with respect to the weights of another layer",
        "the gradients with respect to the hyperparameters", "the gradient with respect to the learning rate",
        "the gradient with respect to the regularisation strength", "the gradient with respect to the temperature",
        "the gradient with respect to the standardised covariates", "the gradient with respect to the missing covariates",
        "the gradients for the encoder", "the gradient with respect to the dropout mask", "the gradients of the two losses",
        "the gradient of the weights with respect to the covariates", "the gradient with respect to the residuals",
        "the gradients for all weights but the first", "the gradient for the weights on a mini-batch",
        "the gradient of the regularised loss for the weights", "the gradient for the diagonal of the weight matrix")),
    *((BLOCK, f"Derive {asked}.") for asked in (
        "the gradients for the three weight matrices", "the gradients for the two tied weight matrices",
        "the gradients for the third bias vector", "the gradients with respect to the layers above",
        "the gradient for the weights of the embedding", "the gradient for the skip gate", "the Jacobian transpose",
        "the gradients for both weight matrices. Express them for a linear activation",
        "the gradients for both weight matrices. Write them down after replacing tanh by a ReLU",
        "the gradients for both weight matrices. Begin with a standardised input $x$")),
    *((ATTENTION, f"Derive the gradients with respect to {noun}.") for noun in (
        "the positional encodings", "the heads", "the masked scores", "the projected keys", "the softmax of the values",
        "the stride", "the gizmo and the query")),
])
def test_nouns_and_words_that_may_mean_something_else_are_open(layer: str, asked: str) -> None:
    with pytest.raises(DeriveError):
        read(layer + asked)


def test_the_only_letter_that_has_no_noun_is_that_of_the_only_noun_that_no_letter_has() -> None:
    layer = (r"Input is a sensor vector $r \in \mathbb{R}^3$, and $$o_j = \sum_k V_{jk} e^{-s_k \sum_i (r_i - C_{ki})^2}$$ with "
             r"centres $C$ and sharpnesses $s_k$. Derive the gradients for the sensor vector, the centres, ")
    assert by(read(f"{layer}the sharpnesses and the mixing weights.")) == {"r", "C", "s", "V"}
    with pytest.raises(DeriveError, match="mixing weights"):
        read(f"{layer}and the mixing weights.")
