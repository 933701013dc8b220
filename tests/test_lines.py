"""A wide display is broken in lines, and reads back."""

import pytest

from derive.errors import DeriveError
from derive.lines import WIDTH, across, narrowed, width, write_lines
from derive.notation import gather, read

TABLE = gather([r"y_k = \sum_j W_{kj} x_j"])
SIDE = " + ".join([r"W_{kj} x_j y_k"] * 8)


def test_a_long_chain_is_broken_at_its_relations_and_reads_back() -> None:
    node = read(rf"\sum_j W_{{kj}} x_j = {SIDE} = y_k", TABLE)
    latex = write_lines(node, TABLE)
    assert latex.startswith(r"\begin{aligned} ") and latex.count("&=") == 2
    assert read(latex, TABLE) is node


def test_a_short_chain_and_a_single_equation_stay_as_they_are() -> None:
    for formula in (r"y_{k} = \sum_{j} W_{kj} x_{j}", r"y_{k} = y_{k} = y_{k}", rf"y_{{k}} = {SIDE}"):
        assert "aligned" not in write_lines(read(formula, TABLE), TABLE)


def test_only_the_wider_of_what_stands_above_one_another_counts() -> None:
    assert width(r"\frac{a}{b + c}") == width("b + c")
    assert width(r"\begin{cases} a & b \\ a + a + a & b \end{cases}") > width("a + a + a")
    assert width(rf"y_k = {SIDE}") > WIDTH / 2


WIDE = rf"y_{{k}} = y_k \left( {SIDE} + \left( \frac{{1}}{{1 + y_k}} + {SIDE} \right) y_k \right)"


@pytest.mark.parametrize("formula", [WIDE, rf"y_k = {SIDE} + {SIDE}", rf"y_k = {SIDE} + {SIDE} = y_k ({SIDE})"])
def test_a_wide_side_is_broken_at_its_signs_in_as_few_brackets_as_will_do(formula: str) -> None:
    node = read(formula, TABLE)
    latex = write_lines(node, TABLE)
    rows = latex.removeprefix(r"\begin{aligned}").removesuffix(r"\end{aligned}").split(r"\\")
    assert len(rows) > 1 and max(map(width, rows)) <= WIDTH + 4
    assert read(latex, TABLE) is node


def test_a_row_that_no_sign_begins_goes_on_nowhere() -> None:
    with pytest.raises(DeriveError):
        read(r"\begin{aligned} y_k &= (y_k \\ & y_k) \end{aligned}", TABLE)


@pytest.mark.parametrize("latex", [
    r"\begin{aligned} \delta_{x} &= W_{kj} x_j y_k a b c d e f g h + W_{kj} x_j y_k a b c d e f g h + U^\top (c \odot d \odot (\mathbf{1} - d))"
    r" \\ &\quad + V^\top (e \odot f) \end{aligned}",
    r"\delta_{x,ij} = \begin{cases} \delta_{f,\lfloor i/2 \rfloor} & \text{if } \lfloor i/2 \rfloor < M,\ \lfloor j/2 \rfloor < N,\ (i, j) = "
    r"\arg\max_{(p, q) \in \Omega(k, l)} x_{pq} \\ 0 & \text{otherwise} \end{cases} = a",
    r"M = \left\lfloor \frac{H - 2 + a b c}{2} \right\rfloor + 1,\quad N = \left\lfloor \frac{W - 2 + a b c}{2} \right\rfloor + 1",
    r"\frac{\max(z_{q} + h, m_{q}) - \max(z_{q}, m_{q})}{h} = 0 \quad \text{if } z_{q} < m_{q},\ z_{q} + h \le m_{q},\ h \ne 0",
    r"\frac{\partial h}{\partial b} = \mathrm{diag}((\mathbf{1} - \tanh(c) \odot \tanh(c)) \odot o \odot c \odot f \odot (\mathbf{1} - f))",
    r"C_{ij} = \sum_{(k, l) : (i, j) \in \Omega(k, l)} a_{ij} b_{ij} c \, \mathbb{I}[(i, j) = \arg\max_{(p, q) \in \Omega(k, l)} x_{pq}]",
])
def test_for_a_phone_a_display_is_broken_further_and_says_the_same(latex: str) -> None:
    slim = narrowed(latex)
    assert max(map(width, slim.split(r"\\"))) < max(map(width, latex.split(r"\\")))

    def plain(text: str) -> str:
        for sign in (r"\begin{aligned}", r"\end{aligned}", r"\quad", r"\\", r"\bigl", r"\bigr", r"\ ", "&", " "):
            text = text.replace(sign, "")
        return text

    assert plain(slim) == plain(latex)
    assert narrowed("a = b + c") == "a = b + c"


@pytest.mark.parametrize(("latex", "rows"), [
    (r"a = \mathrm{diag}(c \odot f_{t} \odot (1 - f_{t}))U_{f} + \mathrm{diag}(i_{t} \odot (1 - d \odot d))U_{c}",  # at the + alone
     [r"a&= \mathrm{diag}(c \odot f_{t} \odot (1 - f_{t}))U_{f}", r"&\quad + \mathrm{diag}(i_{t} \odot (1 - d \odot d))U_{c}"]),
    (r"a = \sum_{k,l} \delta_{y,kl}w_{m-i,n-j} \, \mathbb{I}[0 \le m - i < 3,\ 0 \le n - j < 3,\ s_{ij} > 0]",
     [r"a&= \sum_{k,l} \delta_{y,kl}w_{m-i,n-j}", r"&\quad \, \mathbb{I}[0 \le m - i < 3, 0 \le n - j < 3,",
      r"&\quad s_{ij} > 0]"]),
    (r"a = \begin{cases} b & \text{if } \sum_{j} (a_{j} - p_{j})^{2} - \sum_{j} (a_{j} - n_{j})^{2} + c > 0 \\ 0 & \text{otherwise}"
     r" \end{cases}", [r"a&= \begin{cases} b", r"\quad \text{if } \sum_{j} (a_{j} - p_{j})^{2}",
                       r"\quad - \sum_{j} (a_{j} - n_{j})^{2} + c > 0", "0", r"\quad \text{otherwise} \end{cases}"]),
])
def test_for_a_phone_the_lowest_level_is_broken_first(latex: str, rows: list[str]) -> None:
    inner = narrowed(latex).removeprefix(r"\begin{aligned} ").removesuffix(r" \end{aligned}")
    assert [row.strip() for row in inner.split(r"\\")] == rows


def test_a_matrix_is_as_wide_as_its_widest_row() -> None:
    one, two = (r"x = \begin{pmatrix} " + rows + r" \end{pmatrix}" for rows in ("1 & 2", r"1 & 2 \\ -3 & 4"))
    assert width(one) < width(two) < 16
    assert across(rf"{two},\quad {two}") > 2 * width(one)
