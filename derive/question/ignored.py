"""Words and letters beside parts that only words name, of which the network has nothing: they are refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.question.asking import requested
from derive.question.claims import computes_nothing
from derive.question.naming import bare_letters
from derive.question.neutral_words import CHANGING, NEUTRAL, PHRASES
from derive.question.part_words import ACTIVATIONS, Named
from derive.question.prose import GAP, Gap, Prose, one_of

_DECIDED = one_of(r"\bfixed\b", r"\bnot (?:trainable|learn\w*|trained)", r"\bpevn\w+",
                  r"\bslopes?\b(?=[^.?!;¶]*\b(?:is|are|has|have|equals?)\b)")  # fmt: skip
_TO_WRITE = "is not understood beside layers that only words name; write the forward formula of the network with it"
_WORD = re.compile(r"[^\W\d_]\w*(?:[-'’]\w+)*|\d+(?:[./]\d+)*|½")
_NEXT = re.compile(rf"\s+(?:([^\W\d_][\w-]*)|\d[\d./]*|{GAP})")
_SAYS = re.compile(
    r"\b(?:it|(?:outputs?|inputs?|loss|error|layers?|weights?|slopes?|units?|activations?|targets?|result|network)"
    r"(?: of [^.?!;¶]{0,30}?)?) (?:is|are|has|have|gets?|must be|should be)\s+(?:(?:also|then|not|only|the|an?)\s+)*"
    r"([^\W\d_][\w-]*)")
_KNOWN = re.compile(r"(?:no |a )?bias|called|denoted")
_LOSS = re.compile(r"loss|error|cost|objective|criterion|ztrát\w*|chyb\w*")
_ACTIVATION = re.compile(r"activations?|non-?linearit(?:y|ies)|aktivač\w*|aktivac\w*")
_LAYER = re.compile(r"\b(?:output|input) layers?\b|\blayers? with\b")
_DERIVED = re.compile(r"\\partial|\\nabla|\\delta|\\mathrm\s*\{?\s*d|\\Delta")
_VALUE = re.compile(r"^\s*\\?[A-Za-z]+\s*=\s*[\d.]+\s*$")
_COMMAND = re.compile(
    r"\\(?:begin|end|text|operatorname|mathrm)\s*\{[^{}]*\}|\\(?:frac|sum|log|max|tanh|ln|exp)(?![a-z])")
_LETTER = re.compile(r"\\?[A-Za-z]+")
_INDEX = re.compile(r"_\s*(?:\{[^{}]*\}|\w)")
_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:\^\s*(\{[^{}]*\}|\w))?")
_APPLIED = re.compile(r"\\?[A-Za-z]+(?:_\{?\w\}?)?'?\s*\([^()]*\)")
_NUMBER = re.compile(r"[\d.]+")
_INSIDE = re.compile(r"\b(?:networks?|modules?|models?|with|of|in|on|layers?|has|uses?|s|se)\b")
_ALONE = re.compile(
    r"\b(?:neurons?|perceptrons?)\b|\b(?:networks?|layers?|models?|nets?|units?)\s+(?:with|using|has)\b")
_CHAINED = one_of(r"\bnetworks?\b", r"\bmodules?\b", r"\bmodels?\b", r"\bcompos\w+", r"\bconsist\w*", r"\bfollow\w*",
                  r"\bthen\b", "→", r"\bchain\w*", r"\bone after\b", r"\border\b", r"\bsí[tť]\w*", r"\bsklád\w*",
                  r"\bnásled\w*", r"\bpotom\b", r"\bpak\b")  # fmt: skip
_ASKS = one_of(r"\bmessages?\b", r"(?<!vanishing )(?<!exploding )\bgradients?\b", r"\bderivatives?\b", r"\bjacobian",
               r"\\partial", r"\bzpráv\w*", r"\bderivac\w*", r"\bbackpropag\w*")  # fmt: skip


def refuse_ignored(
    prose: Prose, parts: Sequence[Named], understood: Sequence[tuple[int, int]], network: Sequence[Formula],
    used: Sequence[Formula], sizes: Sequence[str],
) -> None:
    """Raise :class:`CardError` for what the question says of the parts and their ``network`` does not have.

    ``understood`` are the words that were read, ``used`` the formulas of the card that the network took, ``sizes``
    the letters of numbers of units.
    """
    if not _ASKS.search(prose.text):
        return
    _refuse_no_layer(prose, parts)
    _refuse_reversed(prose, parts)
    spans = [*understood, *((p.start, p.end) for p in parts)]
    for start, stop in sorted({prose.sentence(p.start) for p in parts}):
        for found in _words(prose, parts, spans, start, stop):
            raise _error(prose, *found)
    for other in (*CHANGING.finditer(prose.text), *_unsaid_of(prose, parts)):
        if not any(a <= other.start() < b for a, b in spans):
            raise _error(prose, *other.span())
    written = " ; ".join(_COMMAND.sub(" ", f.latex) for f in (*network, *used))
    starts = [p.start for p in parts]
    taken = {start for a, b in understood for start in range(a, b)}
    for gap in prose.gaps:
        if gap.formula in used or (gap.start in taken and "=" in gap.formula.latex):
            continue
        if _VALUE.search(gap.formula.latex):
            raise CardError(Problem(f"`{gap.formula.latex.strip()}`: write the number beside the name of its part, "
                                    "e.g. “PReLU with slope $0.2$”, or the forward formula", line=gap.formula.line))
        beside = any(a <= gap.start < b for a, b in map(prose.sentence, starts))
        if problem := _problem(gap, written, sizes, beside, gap.start in taken):
            raise CardError(Problem(f"{problem}; write the forward formula of the network with it",
                                    line=gap.formula.line))


def _words(
    prose: Prose, parts: Sequence[Named], understood: Sequence[tuple[int, int]], start: int, stop: int
) -> Iterator[tuple[int, int]]:
    """The words of a sentence that may change what the parts compute, or that speak of a part without its name."""
    text = list(prose.text[:stop])
    for a, b in understood:
        text[a:b] = " " * (min(b, stop) - a) if a < stop else ""
    no_loss = not any(p.part.loss for p in parts)
    no_activation = not any(p.part.name in ACTIVATIONS for p in parts)
    bare = PHRASES.sub(lambda m: " " * len(m[0]), "".join(text)[start:stop])
    if layer := _LAYER.search(bare):
        yield start + layer.start(), start + layer.end()
    for word in _WORD.finditer(bare):
        unnamed = no_loss and _LOSS.fullmatch(word[0]) or no_activation and _ACTIVATION.fullmatch(word[0])
        if unnamed or not NEUTRAL.fullmatch(word[0]):
            yield start + word.start(), start + word.end()


def _unsaid_of(prose: Prose, parts: Sequence[Named]) -> Iterator[re.Match[str]]:
    """«The slope is fixed», in a sentence without a letter; «Its output is squared»."""
    for found in _DECIDED.finditer(prose.text):
        if GAP not in prose.text[slice(*prose.sentence(found.start()))]:
            yield found
    named = {prose.sentence(p.start) for p in parts}
    for found in _SAYS.finditer(prose.text):
        known = NEUTRAL.fullmatch(found[1]) or _KNOWN.match(prose.text, found.start(1))
        if not known and prose.sentence(found.start()) not in named and not requested(prose.text, found.start()):
            yield found


def _problem(
    gap: Gap, written: str, sizes: Sequence[str], beside: bool, read: bool
) -> str | None:
    """What of the gap the network, as ``written``, does not have.

    ``beside``: it stands in a sentence with the parts' names; ``read``: with words that were understood.
    """
    formula = gap.formula
    latex = formula.latex.strip()
    if _DERIVED.search(latex) or "=" in latex or _APPLIED.fullmatch(latex):
        return None
    bare = bare_letters(formula)
    if not bare and beside and not read and not _NUMBER.fullmatch(latex):
        return f"`{latex}` is not understood beside layers that only words name"
    letters = {*_LETTER.findall(written), *sizes}
    for letter in bare or _LETTER.findall(_COMMAND.sub(" ", latex)):
        if letter not in letters and (bare or not computes_nothing(formula)):
            return f"`{letter}` is nothing in the layers that only words name"
    declared = _declared_rank(latex) if len(bare) == 1 and bare[0] not in sizes else None
    if declared is not None and declared not in _ranks(bare[0], written):
        return f"`{latex}` has other indices than in the layers that only words name"
    return None


def _declared_rank(latex: str) -> int | None:
    r"""2 of $w_{ij}$ and of $W \in \mathbb{R}^{m \times n}$; None where nothing says it."""
    if space := _SPACE.search(latex):
        return space[1].count("\\times") + 1 if space[1] else 0
    index = _INDEX.search(latex)
    return None if index is None else _order(index[0])


def _ranks(letter: str, written: str) -> set[int]:
    """How many indices the letter has where the network is ``written``."""
    places = re.finditer(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])\s*(_(?:\{{[^{{}}]*\}}|\w))?", written)
    return {_order(place[1] or "") for place in places}


def _order(subscript: str) -> int:
    return len(re.findall(r"\\[A-Za-z]+|\w", subscript.replace("_", "")))


def _refuse_no_layer(prose: Prose, parts: Sequence[Named]) -> None:
    """«A neuron with logistic sigmoid»: its weighted sum is not named; «sigmoid and ReLU»: are they joined?"""
    if any(p.part.name == "linear" for p in parts):
        return
    chained = any(_CHAINED.search(prose.text, *prose.sentence(p.start)) for p in parts)
    if len(parts) > 1 and not chained:
        first, second = (prose.plain.quote(p.start, p.end) for p in parts[:2])
        raise CardError(Problem(f"“{first}” and “{second}”: one after the other, or each alone? Write e.g. “{first} "
                                f"followed by {second}”, or the forward formula",
                                line=prose.plain.line(parts[1].start)))
    found = _ALONE.search(prose.text, 0, parts[0].start)
    if found:
        quoted = prose.plain.quote(found.start(), parts[0].end)
        raise CardError(Problem(f"“{quoted}”: no weights are named; write e.g. “a linear layer followed by …”, or the "
                                "forward formula", line=prose.plain.line(found.start())))


def _refuse_reversed(prose: Prose, parts: Sequence[Named]) -> None:
    """«A PReLU network with a linear layer»: the order of the names need not be that of the layers."""
    for first, second in itertools.pairwise(parts):
        between = _INSIDE.search(prose.text, first.end, second.start)
        if between and second.part.name == "linear" and not first.part.loss:
            quoted = prose.plain.quote(first.start, second.end)
            raise CardError(Problem(f"“{quoted}”: which comes first? Write e.g. “a linear layer followed by …”, or the "
                                    "forward formulas", line=prose.plain.line(first.start)))


def _error(prose: Prose, start: int, stop: int) -> CardError:
    """Names the words up to the next neutral one: «weight decay $\\lambda$»."""
    while (more := _NEXT.match(prose.text, stop)) and not (more[1] and NEUTRAL.fullmatch(more[1])):
        stop = more.end()
    quoted = prose.plain.quote(start, stop)
    return CardError(Problem(f"“{quoted}” {_TO_WRITE}", line=prose.plain.line(start)))
