"""Labels that carry an exponent or a label themselves, and an exponential beside a letter e."""

import pytest

from derive.expr import Entry, Fn, Idx
from derive.notation import read, write
from derive.notation.symbols import Kind, Symbol, SymbolTable

TABLE = SymbolTable((
    Symbol("k", "k", Kind.INDEX), Symbol("sigma^2", r"\sigma^2", Kind.TENSOR),
    Symbol("delta_sigma^2", r"\delta_{\sigma^2}", Kind.TENSOR), Symbol("delta_mu_B_cal", r"\delta_{\mu_{\mathcal{B}}}", Kind.TENSOR),
    Symbol("delta_sigma^2_B_cal", r"\delta_{\sigma^2_{\mathcal{B}}}", Kind.TENSOR, ("k",)),
))


@pytest.mark.parametrize(("name", "indices"), [
    ("delta_sigma^2", ()), ("delta_mu_B_cal", ()), ("delta_sigma^2_B_cal", (Idx("k"),)),
])
def test_the_message_of_a_variance_reads_back(name: str, indices: tuple[Idx, ...]) -> None:
    node = Entry(name, indices)
    assert read(write(node, TABLE), TABLE) is node


def test_an_exponential_is_written_out_beside_a_letter_e() -> None:
    node = Fn("exp", (Entry("sigma^2", ()),))
    assert write(node, TABLE) == r"e^{\sigma^2}"
    table = TABLE.extended([Symbol("e", "e", Kind.INDEX)])
    assert write(node, table) == r"\exp(\sigma^2)" and read(r"\exp(\sigma^2)", table) is node
