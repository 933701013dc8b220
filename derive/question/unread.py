"""Formulas that could not be read, or that leave something open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Rel, free_indices, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import identifier, name_of
from derive.question.claims import computes_nothing, is_claimed
from derive.question.definitions import Definition
from derive.question.patterns import one_of
from derive.question.places import place
from derive.question.prose import Prose

Failure = tuple[Formula, DeriveError]

_PROBABILITY = re.compile(r"\s*[pP]\s*\(")
_EQUATES = re.compile(r"&?\s*:?=|\\(?:coloneqq|triangleq|equiv|doteq)(?![a-z])")
_LETTER = re.compile(
    r"\s*((?:\\(?:mathbf|boldsymbol|bm|mathcal|hat|bar|tilde)\s*)?(?:\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]+))\s*"
    r"(?:_\s*(?:\{[^{}]*\}|\w)\s*)?(?:\([^()]*\)\s*)?"
)
_SCRIPT = re.compile(r"[_^]\s*\{[^{}]*\}")
_OUTSIDE = one_of(  # integrals, expectations, probabilities, distributions
    r"\\i*int(?![a-z])", r"\\oint", r"\\mathbb\s*\{?\s*[EPV]\b", r"\\mathcal\s*\{?\s*[NLO]\b",
    r"\\(?:operatorname|mathrm)\s*\{\s*(?:Var|Cov|E|KL|Pr)", r"\\Pr(?![a-z])", r"\\mid(?![a-z])", r"\\sim(?![a-z])",
    r"(?<![A-Za-z\\])[pP]\s*\([^()]*\|", r"\\lim(?![a-z])", r"\\propto", r"\\det(?![a-z])",
)  # fmt: skip


def refuse_unread(failures: Iterable[Failure]) -> None:
    """Raise the errors of the formulas that could not be read and may say what the layer computes."""
    unread = [(f, error) for f, error in failures if _EQUATES.search(_SCRIPT.sub("", f.latex))]
    outside = [(f, e) for f, e in unread if _OUTSIDE.search(f.latex)]
    if outside:
        formula = outside[0][0]
        raise UnsupportedError(Problem(f"{place(formula)} is outside the notation of layers", line=formula.line))
    if unread:
        raise CardError(*(p for _, error in unread for p in error.problems))


def of_the_layer(
    failures: Iterable[Failure], prose: Prose, letters: Iterable[str], asked: Iterable[str]
) -> Iterator[Failure]:
    """The unread formulas that may change a layer with these given ``letters``; ``asked`` is differentiated.

    A probability p(y = 1 | x) = …, an update and an equation between derivatives do not; what the question claims or
    recalls does where it begins with a letter that nothing else defines.
    """
    open_ = {*letters, *asked}
    for formula, error in failures:
        head = _head(formula)
        silent = _PROBABILITY.match(formula.latex) or (computes_nothing(formula) and head not in {*asked}) or (
            is_claimed(formula, prose) and head not in open_)
        if not silent:
            yield formula, error


def _head(formula: Formula) -> str | None:
    """y of y_k = …, σ of σ(s) = …; None where something else stands left of =."""
    left = _EQUATES.split(formula.latex)[0]
    match = _LETTER.fullmatch(left)
    return None if match is None else identifier(name_of(match[1]))


def refuse_unplaced(unplaced: Iterable[tuple[Rel, Formula]], prose: Prose, output: str, known: Iterable[str]) -> None:
    """Raise :class:`CardError` for an equation that computes something of the layer, and defines no letter."""
    known = {*known}
    for claim, formula in unplaced:
        tensors = {n.tensor for n in walk(claim) if isinstance(n, Entry)}
        computed = any(isinstance(n, Entry) for value in claim.terms[1:] for n in walk(value))
        if formula.display and computed and (output in tensors or tensors - known) and not is_claimed(formula, prose):
            raise CardError(Problem(f"{place(formula)}: what stands left of = is no letter, so that it is unclear "
                                    "whether the layer goes on with it; give its value a letter, as in `E = …`",
                                    line=formula.line))


def refuse_open(used: list[Definition]) -> None:
    """Raise :class:`CardError` for an index on the right that is neither summed over nor on the left."""
    for definition in used:
        left = free_indices(definition.value) - free_indices(definition.entry)
        if left:
            names = ", ".join(f"`{i.name}`" for i in sorted(left, key=lambda i: i.name))
            held = dict.fromkeys(f"`{n.tensor}`" for n in walk(definition.value) if isinstance(n, Entry)
                                 and left & {*n.indices})
            otherwise = (f"a label of {', '.join(held)}, give what it labels a letter of its own" if held else
                         "a number such as a stride, state its value, as in `s = 2`")
            raise CardError(Problem(
                f"{place(definition.formula)}: the index {names} stands on the right and not on the left; write it on "
                f"the left, or sum over it; if it is no index but {otherwise}", line=definition.formula.line))
