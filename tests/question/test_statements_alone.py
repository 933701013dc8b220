"""A statement makes any layer solvable, whatever the words say, and never answers half of what they ask."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.card import Card
from derive.errors import CardError, DeriveError
from derive.question import module_of

FORMS = {
    "matrices": (r"h = \tanh(W_1 x + b_1)|y = x + W_2 h", "", {"W_1", "b_1", "W_2", "x"}),
    "rows": (r"Y = X W + \mathbf{1} b^\top", "", {"X", "W", "b"}),
    "stacked": (r"a_k = \begin{cases} h_k & \text{if } k < H \\ x_{k-H} & \text{otherwise} \end{cases}|y = \tanh(W a + b)",
                r"shapes: ['h \in \mathbb{R}^H']", {"h", "x", "W", "b"}),
    "label": (r"p_k = \frac{e^{z_k}}{\sum_j e^{z_j}}|L = -\log p_c", r"facts: ['c \in \{1, \dots, K\}']", {"z", "c"}),
    "table": (r"m_d = \frac{1}{T} \sum_{t=1}^{T} E_{w_t d}", "", {"E", "w"}),
    "time": (r"h_t = \tanh(W x_t + U h_{t-1} + b)", "", {"W", "x_t", "U", "h_t_1", "b"}),
    "gauss": (r"y_i = x_i \Phi(x_i)", r"functions: ['\Phi(u) = \frac{1}{2} (1 + \operatorname{erf}(u / \sqrt{2}))']", {"x"}),
}


def _card(formulas: str, keys: str = "", question: str = "Derive.") -> Card:
    forward = "".join(f"  - '{f}'\n" for f in formulas.split("|"))
    return Card.parse(f"---\nid: t\nforward:\n{forward}{keys}\n---\n# Question\n\n{question}\n\n# Solution\n\nTODO\n")


@pytest.mark.parametrize("form", FORMS)
def test_what_formulas_may_say(form):
    formulas, keys, letters = FORMS[form]
    solution = derive.solve(_card(formulas, f"{keys}\nderive: [backward, parameters]"))
    assert solution.report.ok and {*solution.module.given} == letters


def test_zeros_around_an_input():
    formulas = r"Y_{kl} = \frac{1}{9} \sum_{r=0}^{2} \sum_{s=0}^{2} X_{2k+r-1,2l+s-1}, \quad 0 \le k \le 2, \quad 0 \le l \le 3"
    outside = ("i < 0", "i > 4", "j < 0", "j > 6")
    facts = "facts:\n" + "".join(rf"  - 'X_{{ij}} = 0 \text{{ for }} {c}'" + "\n" for c in outside)
    solution = derive.solve(_card(formulas, f"{facts}derive: [backward]"))
    x = np.arange(35.0).reshape(5, 7) ** 1.3
    padded = np.pad(x, 1)
    wanted = [[padded[2 * k : 2 * k + 3, 2 * m : 2 * m + 3].mean() for m in range(4)] for k in range(3)]
    assert np.allclose(np.asarray(solution.forward(X=x), dtype=float), wanted)
    assert not any("left out" in said for said in solution.module.readings)


@pytest.mark.parametrize("key", ("padding: 1", "dilation: 2", "ceil_mode: true"))
def test_a_window_key_beside_formulas_without_windows_is_refused(key):
    with pytest.raises(CardError, match=key.replace("true", "True")):
        module_of(_card(r"y_k = \frac{1}{3} \sum_{a=0}^{2} x_{2k+a}", f"{key}\nderive: [backward]"))


def test_a_matrix_of_letters_is_refused():
    with pytest.raises(CardError, match="by cases"):
        module_of(_card(r"a = \begin{pmatrix} h \\ x \end{pmatrix}|y_i = \sum_j W_{ij} a_j", "derive: [backward]"))


ASKED = (
    (r"Derive the gradients of the loss with respect to all four parameters, and finally also with respect to the input $x$.",
     {"W_1", "b_1", "W_2", "b_2", "x"}),
    (r"Determine the gradients that backpropagation delivers for $x$, $W_1$ and $W_2$ when $\partial L/\partial y$ is given.",
     {"W_1", "W_2", "x"}),
    (r"Derive the gradients of the loss with respect to $W_1$ and finally also with respect to all biases.", {"W_1", "b_1", "b_2"}),
    (r"Derive the gradients with respect to $W_1$ and $W_2$. Imagine there is another layer below: which gradient does it receive "
     r"for $x$?", None),
    (r"Derive the gradients for the first layer from $\partial L/\partial y$.", None),
    (r"Derive all gradients of the first layer and $\partial L/\partial x$.", None),
    (r"Determine from $\partial L/\partial y$ what is passed on to $x$, and which contributions the step makes to the gradients of "
     r"$W_1$ and $b_1$.", {"x", "W_1", "b_1"}),
    (r"Give the gradients with respect to $x$; then do the same for the weights.", None),
)
WORDS = r"A network has the weight matrices $W_1$, $W_2$, the biases $b_1$, $b_2$ and the input $x$. "
LAYER = r"h = \tanh(W_1 x + b_1)|y = W_2 h + b_2"


@pytest.mark.parametrize("by_statement", (False, True))
@pytest.mark.parametrize("request_, letters", ASKED)
def test_half_of_a_request_is_never_answered(request_, letters, by_statement):
    first, second = LAYER.split("|")
    card = _card(LAYER, "", WORDS + request_) if by_statement else Card.parse(
        f"---\nid: t\n---\n# Question\n\nLet $${first}, \\qquad {second}.$$ {WORDS}{request_}\n\n# Solution\n\nTODO\n")
    try:
        module = module_of(card)
    except DeriveError:
        assert letters is None
        return
    roles = {"vjp": module.inputs, "jacobian": module.inputs, "parameters": module.parameters}
    answered = {w.wrt.tensor for w in module.wanted} or {n for kind in module.asked for n in roles.get(kind, ())}
    assert letters is not None and letters <= answered


def test_gradients_with_bars_are_not_left_out():
    said = (r"Let $$u_i = \sum_j W_{ij} x_j, \qquad y_i = u_i^2.$$ Let $\bar y_i := \partial L/\partial y_i$; we use the same bar for all "
            r"other quantities, e.g. $\bar u_i := \partial L/\partial u_i$. Compute $\bar u_i$, $\bar W_{ij}$ and $\bar x_j$.")
    with pytest.raises(CardError, match="has no `W_bar`"):
        module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{said}\n\n# Solution\n\nTODO\n"))


@pytest.mark.parametrize("request_", (
    r"Given $\partial L/\partial y$, how do $W_1$, $b_2$ and $x$ receive their gradients? Derive them.",
    r"Find the gradient of $W_2$; the one of $W_1$ is needed, too.",
    r"Derive the backward message. In addition, the parameter messages are needed.",
))
def test_what_is_asked_without_an_order_is_no_half_of_it(request_):
    with pytest.raises(DeriveError, match="not understood"):
        module_of(_card(LAYER, "", WORDS + request_))


def test_where_data_come_from_is_no_layer():
    said = (r"For regression we take $y_i = x_i^\top \beta + \sigma \varepsilon_i$. With $r_i = y_i - x_i^\top \beta$ the loss is "
            r"$$L = \sum_{i=1}^{n} r_i^2,$$ where $X \in \mathbb{R}^{n \times p}$ has the rows $x_i^\top$. Derive $\partial L/\partial \beta$.")
    with pytest.raises(CardError, match="is 0 whatever the letters are"):
        derive.solve(Card.parse(f"---\nid: t\n---\n# Question\n\n{said}\n\n# Solution\n\nTODO\n"))
