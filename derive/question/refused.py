"""What a layer is refused for: formulas that were not read, letters that words call functions or parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Rel, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable, identifier, name_of
from derive.question.claims import computes_nothing, is_claimed
from derive.question.naming import Mention
from derive.question.prose import Prose, one_of
from derive.specify.places import place

Failure = tuple[Formula, DeriveError]

_PROBABILITY = re.compile(r"\s*[pP]\s*\(")
_EQUATES = re.compile(r"&?\s*:?=|\\(?:coloneqq|triangleq|equiv|doteq)(?![a-z])")
_LIKE = re.compile(r"\\(?:approx|simeq|propto|cong)(?![a-z])")  # as good as a definition of what stands left of it
_VALUE = re.compile(_LIKE.pattern + r"[^A-Za-z=]*$")
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
    unread = [(f, error) for f, error in failures
              if any(sign.search(_SCRIPT.sub("", f.latex)) for sign in (_EQUATES, _LIKE))]
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
        aside = _PROBABILITY.match(formula.latex) or is_claimed(formula, prose) or not _EQUATES.search(formula.latex)
        silent = (aside and head not in open_) or (computes_nothing(formula) and head not in {*asked})
        if not silent and not _VALUE.search(formula.latex):
            yield formula, error


def _head(formula: Formula) -> str | None:
    """y of y_k = …, σ of σ(s) = …; None where something else stands left of =."""
    left = _LIKE.split(_EQUATES.split(formula.latex)[0])[0]
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


_FUNCTION = one_of(
    r"\b(?:activation|transfer|nonlinear|non-linear|aktivační)\w* fun\w+", r"\bnon-?linearity", r"\bnelinearit\w*"
)


def refuse_undefined(named: Iterable[Mention], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for a letter that the words call a function, and that nothing defines."""
    given = {*given}
    for mention in named:
        called = _FUNCTION.search(mention.after) or _FUNCTION.search(mention.before)
        for name in mention.letters if called and len(mention.letters) == 1 else ():
            if name in given:
                raise CardError(Problem(
                    f"`{name}` is called a function ({mention.said}) and is not defined; write what it computes, "
                    rf"e.g. `{name}(s) = \max(0, s)`", line=mention.formula.line))


_SIGNED = re.compile(r"^[^^]+\^\{[+-]\}$")
_PART = one_of(r"\b(?:positive|negative) parts?\b", r"\bpseudo-?inverse", r"\bmoore\b")


def refuse_parts(given: Iterable[str], table: SymbolTable, prose: Prose) -> None:
    """Raise :class:`CardError` for an x^+ that nothing defines where the words speak of parts or inverses."""
    called = _PART.search(prose.text)
    for name in given if called else ():
        symbol = table.named(name)
        if called and symbol is not None and _SIGNED.match(symbol.latex):
            quoted = prose.plain.quote(*called.span())
            raise CardError(Problem(
                f"`{symbol.latex}`: a letter of its own, or the “{quoted}”? Define it, as in `x^+ = \\max(0, x)`",
                line=prose.plain.line(called.start())))
