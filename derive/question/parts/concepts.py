"""Concepts that words name beside formulas, and by what these show them: a padding, a mask, a temperature, a loss."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from derive.errors import Problem, RequestError
from derive.expr import Add, Bracket, Cases, Entry, Expr, Extremum, Idx, In, Mul, Num, Pow, Reduce, Size, walk
from derive.module import Module
from derive.notation.inference import LOSSES
from derive.notation.symbols import name_of
from derive.notation.tree import names_in
from derive.question.letters.naming import bare_letters
from derive.question.parts.shown import Formulas
from derive.question.parts.unaccounted import is_aside
from derive.question.sentences.tokens import asks, sentences
from derive.question.words.lexicon import Span, ends, named
from derive.question.words.prose import GAP, Prose
from derive.records import dataclass

_NUMBER = re.compile(rf"(?:\s+(?:of|by|a|the|factor|parameters?|and))*\s*(?P<what>{GAP}|\d+(?:[ .]\d+)?)")
_LOSS = re.compile(r"\bwith (?:the|an?) (?!(?:scalar|training|given|final|total|overall|some|upstream|unknown|usual|"
                   r"following)\b)"
                   rf"(?P<name>[a-z0-9][a-z0-9 -]{{0,24}}?) loss(?: {GAP})?(?=[.,;]|$)")


def refuse_unshown(prose: Prose, module: Module) -> None:
    """Raise :class:`RequestError` for what words name beside formulas that do not show it."""
    shown = Shown(tuple(n for e in module.equations for n in walk(e)), module)
    orders = [(ts[0].start, ts[-1].start) for ts in sentences(prose) if asks(ts)]
    for span in named(prose.text, "concept"):
        start, _ = prose.sentence(span.start)
        denied = ends(prose.text[: span.start], "not.no", most=2) or is_aside(prose.text[start : span.start])
        if denied or any(a <= span.start <= b for a, b in orders) or span.of("concept.none"):
            continue
        name, end = span.concept.partition(".")[2], span.stop
        if name == "quantity":
            end = next(_quantity(span, prose, shown), 0)
        elif SHOWN_BY[name](shown):
            end = 0
        if end:
            raise _unshown(prose, span.start, end)
    for found in _LOSS.finditer(prose.text):
        if not shown.scalar_loss:
            raise _unshown(prose, *found.span())


def _unshown(prose: Prose, start: int, stop: int) -> RequestError:
    return RequestError(Problem(f"“{prose.plain.quote(start, stop)}” is said, and no formula of the layer shows it: "
                                "write the forward formulas with it", line=prose.plain.line(start), key="forward"))


def _quantity(span: Span, prose: Prose, shown: Shown) -> Iterator[int]:
    """Where the letter or number of «with temperature $T$», «capped at 6» ends, if no formula has it."""
    found = _NUMBER.match(prose.text, span.stop)
    if found is None:
        return
    gap = next((g for g in prose.gaps if g.start == found.start("what")), None)
    if gap is None:
        number = found["what"].replace(" ", ".")
        if not prose.text.startswith(" ∎", found.end()) and Fraction(number) not in shown.values:
            yield found.end()
        return
    letters = {*map(name_of, bare_letters(gap.formula))} or {*map(name_of, names_in(gap.formula.tree or ()))}  # √d
    if letters and not letters & shown.letters and "=" not in gap.formula.latex:
        yield found.end()


@dataclass(frozen=True)
class Shown(Formulas):
    """What a module's formulas are made of, and its letters."""

    module: Module

    @property
    def letters(self) -> set[str]:
        """Also W of W_f."""
        own = {*self.module.given, *self.module.defined, *(name for name, _ in self.module.steps)}
        own |= {n.name for n in self.nodes if isinstance(n, (Size, Idx))}
        return own | {name.partition("_")[0] for name in own}

    @property
    def values(self) -> set[Fraction]:
        return {abs(n.value) for n in self.nodes if isinstance(n, Num)}

    @property
    def shifted(self) -> bool:
        """x_{i+k}: entries beyond the ends, where nothing guards them."""
        return not self.module.fields and any(isinstance(i, Add) for i in self.indices)

    @property
    def before_first(self) -> bool:
        """Windows that begin in front of the input."""
        return any(getattr(axis, "padding", 0) for _, field in self.module.fields for axis in field.axes)

    @property
    def indices(self) -> list[Expr]:
        return [i for n in self.nodes if isinstance(n, Entry) for i in n.indices]

    @property
    def channelled(self) -> bool:
        """x_{c, i+k}: an index beside those that are shifted."""
        entries = (n for n in self.nodes if isinstance(n, Entry))
        return any(len({isinstance(i, Add) for i in n.indices}) > 1 for n in entries)

    @property
    def guarded(self) -> bool:
        return any(isinstance(n, (Bracket, Cases, Extremum, In)) or isinstance(n, Reduce) and n.binder.cond is not None
                   for n in self.nodes) or self.turned

    @property
    def turned(self) -> bool:
        return self.calls("mod", "floor")

    @property
    def spread(self) -> bool:
        """x_{2i}, x_{i+dk}, x_{t-2}: an index times a number or a letter, or further than one place away."""
        return bool(self.module.fields) or any(isinstance(n, Mul) or isinstance(n, Num) and abs(n.value) > 1
                                               for i in self.indices for n in walk(i))

    @property
    def scalar_loss(self) -> bool:
        entry, _ = self.module.definition(self.module.output)
        return not entry.indices and self.module.output in LOSSES | {"R", "Q"}

    @property
    def limited(self) -> bool:
        """Σ_{j ≤ i}, [j ≤ i], an added or a multiplied mask."""
        ends_ = [b for n in self.nodes if isinstance(n, Reduce) for b in (*n.binder.lower, *n.binder.upper)]
        masks = any(name[0] in "mM" for name in self.module.given)
        return masks or self.guarded or any(isinstance(n, Idx) for b in ends_ if b is not None for n in walk(b))

    @property
    def corrected(self) -> bool:
        """1/(n − 1)."""
        return any(isinstance(n, Pow) and isinstance(n.base, Add) and any(isinstance(t, Size) for t in n.base.terms)
                   for n in self.nodes)

    def of_many(self, axes: int = 3) -> bool:
        """A letter with so many axes is given."""
        return any(len(symbol.axes) >= axes for name in self.module.given
                   if (symbol := self.module.table.named(name)) is not None)


# how formulas show a concept; of a convolution's only where there are shifted entries
SHOWN_BY: Mapping[str, Callable[[Shown], bool]] = {
    "padded": lambda s: not s.shifted or s.guarded,
    "circular": lambda s: not s.shifted or s.turned,
    "centred": lambda s: not s.module.fields or s.before_first,
    "transposed": lambda s: not s.shifted or s.guarded,
    "dilated": lambda s: not s.shifted or s.spread,
    "strided": lambda s: not s.shifted or s.spread,
    "channels": lambda s: not s.shifted or s.channelled,
    "loss": lambda s: s.scalar_loss,
    "regularised": lambda s: s.penalised,
    "masked": lambda s: s.limited,
    "heads": lambda s: not s.normalises or s.of_many() or len(s.module.given) > 3,
    "unbiased": lambda s: s.corrected or not s.rooted and not s.powers(2),
    "running": lambda s: not s.reduces("sum"),
    "normed": lambda s: s.rooted,
    "leaky": lambda s: not s.bends or len(s.module.given) > 1 or bool(s.values - {Fraction(0), Fraction(1)}),
}
