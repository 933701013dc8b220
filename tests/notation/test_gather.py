"""What the formulas of a card declare."""

import pytest

from derive.expr import Entry, walk
from derive.notation import gather, read, write
from derive.notation.symbols import Kind, Symbol, SymbolTable

TENSOR, SET, INDEX, SIZE = Kind.TENSOR, Kind.SET, Kind.INDEX, Kind.SIZE

CASES = [
    ("windows", [r"f_{kl}(\boldsymbol{x}) = \max_{(i,j) \in \Omega(k,l)} x_{ij}"],
     {"f": (TENSOR, "kl", ""), "x": (TENSOR, "ij", ""), "Omega": (SET, "kl", "ij"), "i": (INDEX, "", "")}),
    ("other letters", [r"y_{mn} = \min_{(u,v) \in R(m,n)} a_{uv}"],
     {"y": (TENSOR, "mn", ""), "a": (TENSOR, "uv", ""), "R": (SET, "mn", "uv")}),
    ("accents", [r"\hat{y}_{mn} = \max_{(p,q) \in \mathcal{R}_{m,n}} \alpha_{pq}"],
     {"y_hat": (TENSOR, "mn", ""), "alpha": (TENSOR, "pq", ""), "R_cal": (SET, "mn", "pq")}),
    ("pair without brackets", [r"f_{kl} = \max_{i,j \in \Omega(k,l)} x_{ij}"], {"Omega": (SET, "kl", "ij")}),
    ("set alone below", [r"f_{kl} = \max_{\Omega(k,l)} x_{ij}"], {"Omega": (SET, "kl", "ij")}),
    ("set of one axis", [r"h_t = \max_{s \in S(t)} z_s"], {"S": (SET, "t", "s"), "z": (TENSOR, "s", "")}),
    ("set by its elements", [r"\Omega(k,l) = \{ (i,j) : 2k \le i < 2k+2, 2l \le j < 2l+2 \}"], {"Omega": (SET, "kl", "ij")}),
    ("a plain set", [r"q \in A", r"|A| = 1"], {"A": (SET, "", "q"), "q": (INDEX, "", "")}),
    ("members with primes", [r"\max_{(i',j') \in \Omega(k,l)} x_{i'j'}"], {"Omega": (SET, "kl", "ij"), "i": (INDEX, "", "")}),
    ("ranges", [r"f_{kl} = \max_{0 \le a, b < K} x_{2k+a,2l+b}"],
     {"a": (INDEX, "", ""), "b": (INDEX, "", ""), "K": (SIZE, "", ""), "f": (TENSOR, "kl", "")}),
    ("sums", [r"s = \sum_{j=1}^{n} w_j x_j"], {"s": (TENSOR, "", ""), "n": (SIZE, "", ""), "w": (TENSOR, "j", "")}),
    ("labels", [r"f_{kl} = x_{kl}", r"\delta_{x,ij} = \delta_{f,kl}"], {"delta_x": (TENSOR, "ij", ""), "delta_f": (TENSOR, "kl", "")}),
    ("a nested label", [r"f_{kl} = x_{kl}", r"\delta_{f_{kl}} = 1"], {"delta_f": (TENSOR, "kl", "")}),
    ("no label: an index", [r"\sum_i \delta_{i,k}"], {"delta": (TENSOR, "ik", "")}),
    ("scalars", [r"\frac{\partial L}{\partial f_{kl}}"], {"L": (TENSOR, "", "")}),
    ("arguments as indices", [r"y(m,n) = \max_{(u,v) \in R(m,n)} a(u,v)"], {"y": (TENSOR, "mn", ""), "a": (TENSOR, "uv", "")}),
    ("e and I", [r"x_i = e^{-2}", r"y_i = I(x_i > 0)"], {"x": (TENSOR, "i", "")}),
]


@pytest.mark.parametrize(("latexes", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_gathers(latexes, expected):
    table = gather(latexes)
    for name, (kind, axes, members) in expected.items():
        symbol = table.named(name)
        assert symbol is not None, name
        assert (symbol.kind, "".join(symbol.axes), "".join(symbol.members)) == (kind, axes, members), name
    assert table.named("e") is None and table.named("I") is None


def test_shapes():
    symbol = gather([r"x \in \mathbb{R}^{H \times 4}"]).named("x")
    assert symbol is not None and symbol.sizes == ("H", 4) and len(symbol.axes) == 2


@pytest.mark.parametrize("definition", [
    r"(i^*, j^*) = \arg\max_{(i,j) \in \Omega(k,l)} x_{ij}",
    r"(i^*, j^*) = \operatorname*{argmax}_{(i,j) \in \Omega(k,l)} x_{ij}",
    r"(i,j)^* = \underset{(i,j) \in \Omega(k,l)}{\arg\max} x_{ij}",
])
def test_stars(definition):
    assert dict(gather([definition]).stars) == {"i": ("k", "l"), "j": ("k", "l")}


def test_what_is_declared_wins():
    known = SymbolTable((Symbol("n", "n", Kind.SIZE), Symbol("y", "y", Kind.TENSOR, ("a", "b"))))
    table = gather([r"y_{ij} = \sum_{k=1}^{n} W_{ik}"], known)
    assert table.named("y") == known.named("y") and table.named("n") == known.named("n")
    assert table.named("W").axes == ("i", "k")


def test_what_cannot_be_parsed_declares_nothing():
    assert gather([r"f_{kl", r"\foo x"]).symbols == ()


def test_a_word_declares_nothing():
    assert gather(["grad(x_i)"]).named("g") is None


def test_a_density_is_a_function_of_what_stands_on_both_sides_of_its_bar():
    """σ^2 is one letter in its definition, whatever σ is elsewhere."""
    loss = r"L = -\log \sum_k \pi_k \mathcal{N}(t \mid \mu_k, \sigma_k^2)"
    density = r"\mathcal N(t \mid \mu, \sigma^2) = \frac{1}{\sqrt{2\pi}\sigma} e^{-(t - \mu)^2 / (2\sigma^2)}"
    table = gather([loss, density])
    symbol = table.named("N_cal")
    assert symbol is not None and symbol.kind is Kind.FUNCTION and len(symbol.axes) == 3
    assert table.named("sigma").axes == ("k",)
    for formula in (loss, density):
        node = read(formula, table)
        assert read(write(node, table), table) is node
    assert {e.tensor for e in walk(read(density, table)) if isinstance(e, Entry)} == {"t", "mu", "sigma2"}


def test_a_diagonal_matrix_that_stands_alone_makes_no_letter() -> None:
    r"""“Write it with $\operatorname{diag}(p)$”: diag is a function wherever it is applied, unless the card defines it."""
    table = gather([r"p_k = x_k^2", r"\operatorname{diag}(p)"])
    assert table.named("diag") is None


@pytest.mark.parametrize(("formula", "written"), [
    (r"y = a \ln p", r"\ln(p)"), (r"y = a \log p", r"\log(p)"), (r"y = \log p - a \ln p", r"\log(p)")])
def test_the_logarithm_is_written_as_the_card_writes_it(formula: str, written: str) -> None:
    table = gather([formula])
    node = read(formula, table)
    assert written in write(node, table) and read(write(node, table), table) is node
