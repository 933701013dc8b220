"""What is written reads back as the same expression; what is changed does not."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from derive.expr import Entry, Fn, Idx, Num, Pow, Rel
from derive.notation import read, write
from derive.notation.symbols import Kind, Symbol, SymbolTable
from tests.notation.expressions import statements
from tests.notation.tables import LETTERS


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(statements(), st.booleans())
def test_reads_back(node, display):
    latex = write(node, LETTERS, display=display)
    assert read(latex, LETTERS) is node
    assert "::" not in latex and "==" not in latex and r"\{" not in latex


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(statements())
def test_is_deterministic_and_settles(node):
    latex = write(node, LETTERS)
    assert write(read(latex, LETTERS), LETTERS) == latex


def test_no_power_stands_beside_a_prime() -> None:
    """TeX takes q'_i^2 for two superscripts."""
    primed = SymbolTable((Symbol("q'", "q'", Kind.TENSOR, ("i",)), Symbol("i", "i", Kind.INDEX)))
    square = Pow(Entry("q'", (Idx("i"),)), Num(2))
    latex = write(square, primed)
    assert latex == "(q'_{i})^{2}"
    assert read(latex, primed) is square


def test_a_power_of_a_letter_is_no_argument_that_a_function_is_defined_at() -> None:
    node = Rel((Fn("phi", (Pow(Entry("loss", ()), Num(2)),)), Num(0)), ("=",))
    assert read(write(node, LETTERS), LETTERS) is node
