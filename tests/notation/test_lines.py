"""Long chains over several lines."""

from derive.notation import gather, read
from derive.notation.lines import WIDTH, width, write_lines

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
