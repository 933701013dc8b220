"""Sums, products, powers, functions, derivatives on paper: signs in front, quotients as fractions, brackets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any

import derive.expr as ex
from derive.functions import FUNCTIONS, SPELLINGS
from derive.notation.formulas import NotationError
from derive.notation.shapes import COLUMN, DIAGONAL, HADAMARD, ONES, TRANSPOSE
from derive.notation.symbols import SymbolTable, latex_of, lexicon, split_label
from derive.records import dataclass, replace

_TALL = (r"\frac", r"\sum", r"\prod", r"\begin", r"\max_", r"\min_")


def tall(inside: str) -> bool:
    """Whether brackets around this should grow."""
    return any(sign in inside for sign in _TALL)


def juxtaposed(pieces: list[str]) -> str:
    """Pieces side by side, with a space where a command would swallow the next letter."""
    out = ""
    for piece in pieces:
        space = out and piece[:1].isalpha() and out.rsplit("\\", 1)[-1].isalpha() and "\\" in out
        out += (" " if space else "") + piece
    return out


@dataclass(frozen=True)
class Writer:
    """``names`` holds the names of bound variables, ``taken`` all names in scope."""

    table: SymbolTable
    parts: Mapping[type, Callable[[Writer, Any], str]]  # how each kind of node is written
    display: bool = True
    tight: bool = False  # inside cases and conditions: small fractions, small gaps
    names: dict[ex.Idx, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    in_index: bool = False
    local: frozenset[str] = frozenset()  # the parameters of the function that is being defined

    @property
    def inner(self) -> Writer:
        """What writes index terms."""
        return self if self.in_index else self._inner

    @cached_property
    def _inner(self) -> Writer:
        return replace(self, in_index=True)

    def write(self, node: ex.Node) -> str:
        """The node at the outermost level of its brackets."""
        return self.parts[type(node)](self, node)

    def symbol(self, name: str) -> str:
        known = self.table.named(name)
        if name in self.local:
            return latex_of(name)
        if known is None:
            raise NotationError(f"`{name}` has no symbol in the table")
        return known.latex

    def above(self, name: str) -> str:
        known = self.table.named(name)
        return known.above if known is not None else ""

    def index_name(self, name: str) -> str:
        letter = name.rstrip("'")
        known = self.table.named(letter)
        return (known.latex if known is not None else latex_of(letter)) + name[len(letter) :]

    def idx(self, node: ex.Idx) -> str:
        return self.index_name(self.names.get(node, node.name))

    def star(self, node: ex.Star) -> str:
        shown = self.index_name(node.name) + "^*"
        usual = dict(self.table.stars).get(node.name)
        at = tuple(self.names.get(a, a.name) if isinstance(a, ex.Idx) else "" for a in node.at)
        return shown if usual == at else f"{shown}({', '.join(map(self.index_term, node.at))})"

    def index_term(self, term: ex.Expr) -> str:
        return self.inner.write(term)

    def subscript(self, terms: tuple[ex.Expr, ...]) -> str:
        """``ij``, ``2k+1``, ``2k,2l``: what :func:`derive.notation.pieces.split_runs` reads apart."""
        written = [self.inner.write(term) for term in terms]
        simple = all(isinstance(t, ex.Idx) or (isinstance(t, ex.Star) and not w.endswith(")"))
                     for t, w in zip(terms, written, strict=True))
        if simple:
            return juxtaposed(written)
        return ",".join(w.replace(" + ", "+").replace(" - ", "-") for w in written)

    def indexed(self, name: str, terms: tuple[ex.Expr, ...]) -> str:
        latex = self.symbol(name)
        if not terms:
            return latex
        base, label = split_label(latex)
        known = self.table.named(name)
        if known is not None and known.above:
            style = "(i)" if isinstance(terms[0], ex.Num) else known.above
            above = f"^{{{style.replace('i', self.index_term(terms[0]))}}}"
            if len(terms) == 1:
                return latex + above
            base, terms = base + above, terms[1:]
        inside = self.subscript(terms)
        return f"{base}_{{{inside}}}" if label is None else f"{base}_{{{label},{inside}}}"

    def round(self, inside: str) -> str:
        return rf"\left({inside}\right)" if tall(inside) else f"({inside})"

    def items(self, terms: tuple[ex.Expr, ...]) -> str:
        return ", ".join(map(self.write, terms))

    def base(self, node: ex.Expr) -> str:
        """What carries an exponent."""
        raised = isinstance(node, ex.Entry) and (set("^'") & set(self.symbol(node.tensor)) or self.above(node.tensor))
        plain = (_atomic(node) and not raised) or (isinstance(node, ex.Fn) and node.name == "abs")
        return self.write(node) if plain else self.round(self.write(node))


def is_negative(node: ex.Expr) -> bool:
    """Whether the written term opens with a minus."""
    first = node.factors[0] if isinstance(node, ex.Mul) else node
    return (isinstance(first, ex.Num) and first.value < 0) or (isinstance(node, ex.Infinity) and node.sign < 0)


def signed(w: Writer, node: ex.Expr) -> str:
    """A negative term without its minus."""
    if isinstance(node, ex.Mul):
        first = node.factors[0]
        assert isinstance(first, ex.Num)
        rest = node.factors[1:]
        if first.value == -1 and not isinstance(rest[0], ex.Num):
            alone = rest[0] if len(rest) == 1 else None
            hadamard = isinstance(alone, ex.Fn) and alone.name == HADAMARD
            return w.write(rest[0]) if hadamard else quotients(w, list(rest))
        return quotients(w, [ex.Num(-first.value), *rest])
    if isinstance(node, ex.Num):
        return w.write(ex.Num(-node.value))
    return r"\infty"


def product(w: Writer, node: ex.Mul) -> str:
    return "-" + signed(w, node) if is_negative(node) else quotients(w, list(node.factors))


def quotients(w: Writer, factors: list[ex.Expr]) -> str:
    """The factors in order; those before a power −1 stand above it in a fraction."""
    w = w if w.display else replace(w, display=True)  # ∂f / ∂x is for a line of its own
    first = factors[0]
    if isinstance(first, ex.Num) and first.value.denominator != 1 and len(factors) == 2 and _short(factors[1]):
        return _over_number(w, first.value, factors[1])
    pieces: list[tuple[str, ex.Expr | None]] = []
    above: list[ex.Expr] = []
    for factor in factors:
        below = factor.base if isinstance(factor, ex.Pow) and factor.exponent == ex.Num(-1) else None
        numeric = isinstance(below, ex.Num)
        if below is None or numeric:
            above.append(factor)
            continue
        lead = above[:1] if above and isinstance(above[0], ex.Num) and _kept_apart(above) else []
        pieces += [(factor_text(w, f), f) for f in lead]
        rest = above[len(lead) :]
        top = joined(w, [(factor_text(w, f, n == len(rest) - 1), f) for n, f in enumerate(rest)]) if rest else "1"
        if len(rest) == 1 and not isinstance(rest[0], ex.Mul):
            top = w.write(rest[0])
        pieces.append((rf"\frac{{{top}}}{{{w.write(below)}}}", None))
        above = []
    pieces += [(factor_text(w, f, n == len(above) - 1), f) for n, f in enumerate(above)]
    return joined(w, pieces)


def _kept_apart(above: list[ex.Expr]) -> bool:
    first = above[0]
    return isinstance(first, ex.Num) and (first.value.denominator != 1 or first.value < 0 or (
        first.value == 1 and len(above) == 1))


def _short(node: ex.Expr) -> bool:
    return isinstance(node, (ex.Idx, ex.Size, ex.Add))


def _over_number(w: Writer, value: Fraction, node: ex.Expr) -> str:
    """i/2 in an index, else a fraction."""
    if not (w.in_index or w.tight):
        top = w.write(node) if value.numerator == 1 else joined(
            w, [(str(value.numerator), None), (factor_text(w, node), node)])
        return rf"\frac{{{top}}}{{{value.denominator}}}"
    top = factor_text(w, node) if value.numerator == 1 else f"{value.numerator}{factor_text(w, node)}"
    return f"{top}/{value.denominator}"


def factor_text(w: Writer, node: ex.Expr, last: bool = True) -> str:
    """One factor; a sum over indices swallows what follows, so it is bracketed unless it is last; cases too."""
    open_ended = isinstance(node, (ex.Reduce, ex.Arg)) and not last
    open_ended |= isinstance(node, ex.Subdifferential) and not last
    open_ended |= isinstance(node, ex.Partial) and not isinstance(node.of, ex.Entry) and not last
    open_ended |= isinstance(node, ex.Cases) and not last
    if isinstance(node, (ex.Add, ex.Mul, ex.Without)) or is_negative(node) or open_ended or (
        isinstance(node, ex.Fn) and node.name in ("mod", HADAMARD)
    ):
        return w.round(w.write(node))
    return w.write(node)


def joined(w: Writer, pieces: list[tuple[str, ex.Expr | None]]) -> str:
    out, before = "", None
    for shown, node in pieces:
        if not out:
            out = shown
        elif shown[0].isdigit() or isinstance(node, ex.Num) or _looks_applied(w, before, node, shown):
            out += rf" \cdot {shown}"
        elif isinstance(node, ex.Bracket):
            out += rf" \, {shown}"
        elif out.isdigit() and isinstance(node, (ex.Idx, ex.Size)):
            out += shown
        else:
            out += f" {shown}"
        before = node
    return out


def _looks_applied(w: Writer, before: ex.Expr | None, node: ex.Expr | None, shown: str) -> bool:
    """A number's letter before a bracket, any letter before one in brackets: L (a) would be L at a."""
    base = before.base if isinstance(before, ex.Pow) else before
    known = w.table.named(base.tensor) if isinstance(base, ex.Entry) else None
    number = isinstance(base, ex.Entry) and not base.indices and not (known is not None and known.axes)
    # behind ones in brackets an indicator would have its condition
    ones = any(n == ex.Fn(ONES, ()) for n in (before, *getattr(before, "args", ())))
    letter = isinstance(node, ex.Fn) and node.name == TRANSPOSE and isinstance(node.args[0], ex.Entry)
    return (number or ones or letter) and shown.startswith(("(", r"\left("))


_FINE = 200  # a finer fraction is written as a decimal: 0.044715
_PLACES = 8
MOST_PLACES = 12  # of a number that a question computes in decimals


def total(w: Writer, node: ex.Add) -> str:
    out = ""
    for n, term in enumerate(node.terms):
        negative = is_negative(term)
        shown = signed(w, term) if negative else w.write(term)
        if isinstance(term, ex.Add) or (isinstance(term, ex.Fn) and term.name == "mod"):
            shown = w.round(shown)
        out += ("-" if negative else "") if n == 0 else " - " if negative else " + "
        out += shown
    return out


def number(w: Writer, node: ex.Num) -> str:
    value = abs(node.value)
    sign = "-" if node.value < 0 else ""
    if value.denominator == 1:
        return f"{sign}{value.numerator}"
    if value.denominator > _FINE and value.denominator % 5 == 0 and ends(value, _PLACES):
        return sign + decimal(value, _PLACES)
    if w.table.decimals and ends(value):
        return sign + decimal(value)
    return rf"{sign}\frac{{{value.numerator}}}{{{value.denominator}}}"


def ends(value: Fraction, places: int = MOST_PLACES) -> bool:
    """As a decimal it ends, after so many places at the most."""
    return 10**places % value.denominator == 0


def decimal(value: Fraction, places: int = MOST_PLACES) -> str:
    """0.25 of a number that is not negative and ends."""
    whole, rest = divmod(value.numerator * (10**places // value.denominator), 10**places)
    return f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")


def power(w: Writer, node: ex.Pow) -> str:
    if node.exponent == ex.Num(-1) and not isinstance(node.base, ex.Num):
        return rf"\frac{{1}}{{{replace(w, display=True).write(node.base)}}}"
    if isinstance(node.exponent, ex.Num) and node.exponent.value * 2 == 1:
        return rf"\sqrt{{{w.write(node.base)}}}"
    of = node.base
    if isinstance(of, ex.Fn) and _is_command(of.name) and isinstance(node.exponent, ex.Num) and node.exponent.value > 1:
        return f"{_command(w, of.name)}^{{{w.write(node.exponent)}}}{w.round(w.items(of.args))}"
    base, exponent = w.base(of), w.write(node.exponent)
    if exponent == "T" and isinstance(of, ex.Entry):
        base = w.round(base)  # w^T would be transposed
    return f"{base}^{{{exponent}}}"


def function(w: Writer, node: ex.Fn) -> str:
    if node.name == "mod":
        left, right = (w.write(a) if _atomic(a) else w.round(w.write(a)) for a in node.args)
        return rf"{left} \bmod {right}"
    if node is ex.PI:
        return r"\pi"
    if node.name in _MARKS:
        return _MARKS[node.name](w, node.args)
    inside = w.items(node.args)
    if node.name == "abs":
        return rf"\left|{inside}\right|"
    if node.name == "factorial":
        return (inside if _atomic(node.args[0]) else w.round(inside)) + "!"
    if node.name in ("floor", "ceil"):
        left, right = (rf"\{side}{node.name}" for side in "lr")
        return rf"\left{left} {inside} \right{right}" if tall(inside) else f"{left} {inside} {right}"
    if node.name == "exp":
        letter = w.table.written("e")  # of the card: e^x would be its power
        return f"e^{{{inside}}}" if letter is None or letter.axes else rf"\exp{w.round(inside)}"
    return _command(w, node.name) + w.round(inside)


_MARKS: Mapping[str, Callable[[Writer, tuple[ex.Expr, ...]], str]] = {  # of whole vectors and matrices
    ONES: lambda w, _: r"\mathbf{1}",
    TRANSPOSE: lambda w, args: (r"\mathbf{1}" if args[0] == ex.Fn(ONES, ()) else w.base(args[0])) + r"^\top",
    COLUMN: lambda w, args: rf"\mathop{{\mathrm{{vec}}}}{w.round(w.write(args[0]))}",
    DIAGONAL: lambda w, args: rf"\mathop{{\mathrm{{diag}}}}{w.round(w.write(args[0]))}",
    HADAMARD: lambda w, args: r" \odot ".join(factor_text(w, a) for a in args),
}


def _is_command(name: str) -> bool:
    r"""Its power is written \tanh^2(x): a function of a command of its own, which stands before its argument."""
    return name in SPELLINGS.values() and name not in ("exp", "abs")


def _command(w: Writer, name: str) -> str:
    if _is_command(name):
        return r"\ln" if name == "log" and w.table.ln else FUNCTIONS[name].latex
    bare = name.rstrip("'")
    return w.symbol(bare) + name[len(bare) :]


def _atomic(node: ex.Expr) -> bool:
    return isinstance(node, (ex.Idx, ex.Size, ex.Entry)) or (isinstance(node, ex.Num) and node.value >= 0 and
                                                    node.value.denominator == 1)


def partial(w: Writer, node: ex.Partial) -> str:
    wrt = w.write(node.wrt)
    if isinstance(node.of, ex.Entry):
        of = w.write(node.of)
        if not w.display:
            return rf"\partial {of} / \partial {wrt}"
        return rf"\frac{{\partial {of}}}{{\partial {wrt}}}"
    return rf"\frac{{\partial}}{{\partial {wrt}}} {w.round(w.write(node.of))}"


def subdifferential(w: Writer, node: ex.Subdifferential) -> str:
    return rf"\partial {w.write(node.of) if isinstance(node.of, ex.Entry) else w.round(w.write(node.of))}"


def directional(w: Writer, node: ex.Directional) -> str:
    of = w.write(node.of)
    if "^" in of:  # TeX takes no prime beside a superscript
        of = f"{{{of}}}"
    return f"{of}'({w.symbol(node.at)}; {w.symbol(node.direction)})"


def unit(w: Writer, node: ex.Unit) -> str:
    terms = node.index.items if isinstance(node.index, ex.Tuple) else (node.index,)
    letter = r"\hat{e}" if "e" in lexicon(w.table) else "e"
    return f"{letter}_{{{w.subscript(terms)}}}"


def matrix(w: Writer, node: ex.Matrix) -> str:
    rows = (" & ".join(map(w.write, row)) for row in node.rows)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def set_applied(w: Writer, node: ex.SetApp) -> str:
    return w.symbol(node.name) + (f"({', '.join(map(w.index_term, node.args))})" if node.args else "")
