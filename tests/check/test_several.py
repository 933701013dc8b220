"""Questions that leave something open: which function, or what is asked for; what is said of the rest is judged."""

import pytest

import derive
from tests.check.verdicts import agree, card_of

FUNCTIONS = r"Derive the derivatives of $s(z) = \frac{1}{1 + e^{-z}}$, $f(z) = \ln(1 + e^z)$ and $r(z) = \max(0, z)$."
HELPED = r"Find $f'(x)$ and $g'(x)$ for $f(x) = x^3$ and $g(x) = x \sigma(x)$ with $\sigma(x) = \frac{1}{1 + e^{-x}}$."
LAYERS = r"Let $y = \tanh(W x)$ and $v = V x$. Derive $\frac{\partial L}{\partial W}$ and $\frac{\partial L}{\partial V}$."
TASK = r"Let $s_k = \sum_j W_{kj} x_j$ and $y_k = \tanh(s_k)$. Enumerate the frobnications of this layer and wibble the slopes."
OF_Y = r"$\frac{\partial y_k}{\partial W_{kj}} = %s$"
# for each link: p is proved or tested, x refuted, - not read
SAID = [
    (FUNCTIONS, "$s'(z) = s(z)(1 - s(z))$, $f'(z) = s(z)$ and $r'(z) = 1$ for $z > 0$ and $0$ for $z < 0$.", "ppp"),
    (FUNCTIONS, "$s'(z) = s(z)(1 + s(z))$, $f'(z) = s(z) + 1$ and $r'(z) = 0$ for $z > 0$ and $1$ for $z < 0$.", "xxx"),
    (HELPED, r"$f'(x) = 3 x^2$ and $g'(x) = \sigma(x) + x \sigma(x) (1 - \sigma(x)) = g(x) + \sigma(x) (1 - g(x))$.", "ppp"),
    (HELPED, r"$f'(x) = 3 x$ and $g'(x) = \sigma(x) + x \sigma(x) = \sigma(x) (1 + x)$.", "xx-"),
    (HELPED, r"$h'(x) = f'(g(x)) g'(x)$ with a function that nobody tells.", "-"),
    (TASK, OF_Y % "(1 - y_k^2) x_j", "p"),
    (TASK, OF_Y % "(1 - y_k) x_j", "-"),  # the words may ask about some of the inputs alone
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs)


def test_each_of_several_functions_is_asked_for() -> None:
    report = derive.check(card_of(FUNCTIONS), text="$s'(z) = s(z)(1 - s(z))$")
    assert [a.status for a in report.asked] == ["given", "missing", "missing"]


def test_of_a_request_that_is_not_understood_nothing_is_missing() -> None:
    assert not derive.check(card_of(TASK), text=OF_Y % "(1 - y_k^2) x_j").asked


@pytest.mark.parametrize("question", [
    LAYERS, TASK.replace(".", ", with a skip connection.", 1), TASK.replace(".", ". The boundary is periodic.", 1),
    TASK.replace(".", ". Every second output is dropped.", 1)])
def test_a_layer_that_is_not_understood_is_refused(question: str) -> None:
    with pytest.raises(derive.DeriveError):
        derive.check(card_of(question), text=OF_Y % "(1 - y_k^2) x_j")
