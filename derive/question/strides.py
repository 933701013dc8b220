"""The stride that words give beside an explicit convolution, x_{2k+p}: the two must agree."""

from __future__ import annotations

from derive.card import Card
from derive.errors import CardError, Problem
from derive.expr import Add, Entry, Expr, Idx, Mul, Num, walk
from derive.question.definitions import Definition
from derive.question.places import place
from derive.question.wording import Words


def refuse_other_stride(card: Card, words: Words, used: list[Definition]) -> None:
    """Raise :class:`CardError` where the words or the front matter give another stride than the formula."""
    written = [(definition, found) for definition in used if (found := _strides(definition))]
    if len(written) != 1:
        return
    definition, strides = written[0]
    said = [(f.value, f"“{f.quote}”", f.line) for f in words.about("stride") if isinstance(f.value, tuple)]
    given = card.front_matter.get("stride")
    if isinstance(given, int) and not isinstance(given, bool):
        said.append(((given,), f"`stride: {given}`", card.key_line("stride") or 1))
    for value, quoted, line in said:
        wanted = set(value) if len(value) == 1 else None
        if (wanted is not None and wanted != set(strides)) or (wanted is None and value != strides):
            times = "×".join(map(str, strides))
            raise CardError(Problem(f"{quoted} contradicts the formula ({place(definition.formula)}), which has stride "
                                    f"{times}; change one of them", card.path, line))


def _strides(definition: Definition) -> tuple[int, ...]:
    """2, 2 of y_{kl} = … x_{2k+p, 2l+q} …: the coefficients of the output's indices beside an index that runs."""
    outputs = [i for i in definition.entry.indices if isinstance(i, Idx)]
    for entry in walk(definition.value):
        if isinstance(entry, Entry):
            found = [s for term in entry.indices if (s := _stride(term, outputs)) is not None]
            if found:
                return tuple(found)
    return ()


def _leaps_back(term: Expr) -> bool:
    """−2k of w_{t−2k}, a transposed convolution: the stride of its input."""
    return isinstance(term, Mul) and any(isinstance(f, Num) and f.value < -1 for f in term.factors)


def _stride(term: Expr, outputs: list[Idx]) -> int | None:
    if not isinstance(term, Add):
        return None
    moving = [t for t in term.terms if any(i in walk(t) for i in outputs)]
    running = [t for t in term.terms if t not in moving and any(isinstance(n, Idx) for n in walk(t))]
    if len(moving) != 1 or not running or any(map(_leaps_back, running)):
        return None
    if any(isinstance(t, Mul) and isinstance(t.factors[0], Num) and t.factors[0].value < -1 for t in running):
        return None  # i − 2j: a transposed convolution of stride 2, or a dilated one
    match moving[0]:
        case Idx():
            return 1
        case Mul((Num(value), Idx())):
            return int(value) if value.denominator == 1 else None
    return None
