"""The symbol tables that the tests read and write under."""

from derive.notation.symbols import Kind, Symbol, SymbolTable


def _tensor(name: str, latex: str, *axes: str) -> Symbol:
    return Symbol(name, latex, Kind.TENSOR, axes)


LETTERS = SymbolTable(
    (
        _tensor("x", "x", "i", "j"),
        _tensor("f", "f", "k", "l"),
        _tensor("delta_x", r"\delta_x", "i", "j"),
        _tensor("delta_f", r"\delta_{f}", "k", "l"),
        _tensor("y_hat", r"\hat{y}", "m", "n"),
        _tensor("loss", "L"),
        _tensor("step", "h"),
        _tensor("z", "z", "q"),
        _tensor("direction", "v", "q"),
        _tensor("t", "t", "i", "j", "k"),
        _tensor("variance", r"\sigma^2", "j"),
        Symbol("sample", "s", Kind.TENSOR, ("n", "j"), above="(i)"),
        Symbol("label", "y", Kind.TENSOR, ("n",), above="i"),
        Symbol("phi", r"\phi", Kind.FUNCTION, ("u",)),
        Symbol("Omega", r"\Omega", Kind.SET, ("k", "l"), ("i", "j")),
        Symbol("R_cal", r"\mathcal{R}", Kind.SET, ("m",), ("q",)),
        Symbol("active", r"\mathcal{A}", Kind.SET, (), ("q",)),
        Symbol("H", "H", Kind.SIZE),
        Symbol("N", "N", Kind.SIZE),
        *(Symbol(c, c, Kind.INDEX) for c in "ijklmnqrab"),
        Symbol("alpha", r"\alpha", Kind.INDEX),
    ),
    (("i", ("k", "l")), ("j", ("k", "l"))),
)
