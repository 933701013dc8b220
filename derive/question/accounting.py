"""What a question says beside layers that only words name: every part of it is in their formulas, or it is refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.question.chain import Chain
from derive.question.claims import computes_nothing, is_claimed
from derive.question.lexicon import named
from derive.question.naming import bare_letters, written_letters
from derive.question.network import ACTIVATIONS
from derive.question.prose import Gap
from derive.question.recognised import Part
from derive.question.request import discussed, requested
from derive.question.slots import beside_parts

_TO_WRITE = "is not understood beside layers that only words name; write the forward formula of the network with it"
_WORD = re.compile(r"[^\W_]+|∎|¶|[,:()→+]")
_DERIVED = re.compile(r"\\partial|\\nabla|\\delta|\\mathrm\s*\{?\s*d|\\Delta")
_VALUE = re.compile(r"\s*\\?[A-Za-z]+\s*=\s*[\d.]+\s*")
_COMMAND = re.compile(
    r"\\(?:begin|end|text|operatorname|mathrm)\s*\{[^{}]*\}|\\(?:mathbf|boldsymbol|bm|[dt]?frac|sum|log|max|tanh|ln|exp)(?![a-z])")
_LETTER = re.compile(r"\\?[A-Za-z]+")
_INDEX = re.compile(r"_\s*(?:\{[^{}]*\}|\w)")
_SPACE = re.compile(r"\\in\s*\\mathbb\s*\{?\s*R\s*\}?\s*(?:\^\s*(\{[^{}]*\}|\w))?")
_APPLIED = re.compile(r"\\?[A-Za-z]+(?:_\{?\w\}?)?'?\s*\([^()]*\)")
_SAID_NUMBER = re.compile(  # 0.1, but no points, no numbers of a list, no sizes such as 2 × 2 and 3-d
    r"(?<![\d.(×x])(?<![×x] )\d+(?: \d+|\.\d+)?"
    r"(?![\d.)]|\s*(?:p|b|pts|points|marks|d|features)\b|[\s-]*(?:x|×|by|dim)|\s*\))(?<!^\d)(?<![,:¶] \d)")
_MEASURED = re.compile(r"(?:strid\w*|padd\w*|sizes?|width|length|steps?|dilation|points?)\s*(?:of|is|=|by)?\s*$")
_SIZE = re.compile(r"\d*\s*\\?[A-Za-z]+")
_TIMES = re.compile(r"\w+(?:\s*\\times\s*\w+)+|\d+")  # 2 \times 2
_NUMBER = re.compile(r"[\d.]+")
_DENIED = re.compile(r"\b(?:no|without|without any)\s+$")
_SHARED = re.compile(r"shared|tied")
_INSIDE = re.compile(r"\b(?:networks?|modules?|models?|with|of|in|on|layers?|has|uses?|s|se)\b")
_ALONE = re.compile(
    r"\b(?:neurons?|perceptrons?)\b|\b(?:networks?|layers?|models?|nets?|units?)\s+(?:with|using|has)\b")


def refuse_unaccounted_words(
    chain: Chain, network: Sequence[Formula], used: Sequence[Formula], sizes: Sequence[str]
) -> None:
    """Raise :class:`CardError` for what the question says of the parts and their ``network`` does not have.

    ``used`` are the formulas of the card that the network took, ``sizes`` the letters of numbers of units.
    """
    _refuse_no_layer(chain)
    _refuse_reversed(chain)
    again = (place for part in chain.parts for place in chain.regions.get(part.start, ()))
    parts = sorted({*((p.start, p.end) for p in chain.parts), *again})
    several = [(p.start, p.end) for p in chain.parts if chain.prose.text[: p.end].endswith("layers")]
    own = [place for p in chain.parts if p.name == "own"
           for place in ((p.start, p.end), *chain.regions.get(p.start, ()))]
    known = [place for place in (*_changing(chain), *_slots(chain), *beside_parts(chain.prose, parts)) if not any(
        a <= place[0] < b for a, b in chain.understood)]
    for start, stop in (*several, *known):
        if not chain.aside(start) and not any(a <= start < b for a, b in own):
            quoted = chain.prose.plain.quote(start, stop)
            raise CardError(Problem(f"“{quoted}” {_TO_WRITE}", line=chain.prose.plain.line(start)))
    written, alone = (" ; ".join(_COMMAND.sub(" ", f.latex) for f in part) for part in ((*network, *used), network))
    taken = {start for a, b in chain.understood for start in range(a, b)}
    for gap in chain.prose.gaps:
        if gap.formula in used or (gap.start in taken and "=" in gap.formula.latex) or chain.aside(gap.start):
            continue
        if _VALUE.fullmatch(gap.formula.latex):
            raise CardError(Problem(f"`{gap.formula.latex.strip()}`: write the number beside the name of its part, "
                                    "e.g. “PReLU with slope $0.2$”, or the forward formula", line=gap.formula.line))
        if problem := _problem(chain, gap, (written, alone), sizes, gap.start in taken):
            raise CardError(Problem(f"{problem}; write the forward formula of the network with it",
                                    line=gap.formula.line))


def _changing(chain: Chain) -> Iterator[tuple[int, int]]:
    """Words that change what the parts compute; parts that are named and of which none is the layer."""
    here = {chain.prose.sentence(p.start) for p in chain.parts}
    for start, stop in sorted(here):
        for number in _SAID_NUMBER.finditer(chain.prose.text, start, stop):
            if not _MEASURED.search(chain.prose.text, start, number.start()) and not any(
                    s.start <= number.start() < s.stop for s in named(chain.prose.text, "fact")):
                yield number.span()
    for span in named(chain.prose.text, "change.what"):
        if chain.continued and chain.prose.sentence(span.start) not in here:
            continue
        inside = any(s.start <= span.start < s.stop for s in named(chain.prose.text, "part"))
        sentence = chain.prose.sentence(span.start)
        if _DENIED.search(chain.prose.text, 0, span.start) and not _SHARED.match(
                chain.prose.text, span.start):
            continue  # «without any normalisation»
        asks = requested(chain.prose.text, span.start) and not any(
            chain.prose.sentence(p.start) == sentence for p in chain.parts)
        if not inside and not discussed(chain.prose.text, span.start) and not asks:
            yield span.start, span.stop
    for span in named(chain.prose.text, "role.fixed"):
        if "∎" not in chain.prose.text[slice(*chain.prose.sentence(span.start))]:
            yield span.start, span.stop


def _slots(chain: Chain) -> Iterator[tuple[int, int]]:
    """Unknown words where a part's name would stand: behind «followed by a», before «layer»; nouns of parts alone."""
    text = chain.prose.text
    no_loss = not any(p.loss for p in chain.parts)
    no_activation = not any(p.name in ACTIVATIONS for p in chain.parts)
    for head in named(text, "head.layer", "head.loss"):
        if requested(text, head.start) or discussed(text, head.start):
            continue
        if last_word(text, head.start) in ("hidden", "output", "input") and text[head.start :].startswith("layer"):
            if not any(p.name == "linear" and -30 < p.start - head.stop < 40 for p in chain.parts):
                yield head.start, head.stop
            continue
        alone = head.concept == "head.loss" and no_loss and _introduced(text, head.start)
        words = list(_WORD.finditer(text, max(0, head.start - 60), head.start))
        last = words[-1] if words else None
        unnamed = last is not None and last.end() >= head.start - 2 and last[0][0].isalpha() and not _neutral(
            text, last.start(), last.end()) and not _known(text, last.start())
        activation = no_activation and re.match(r"(?:activation|non-?linearit|transfer)", text[head.start : head.stop])
        if alone or activation and _introduced(text, head.start):
            yield head.start, head.stop
        elif unnamed and last is not None:
            yield last.start(), head.stop


def last_word(text: str, at: int) -> str:
    found = re.search(r"(\w+)[\s-]*$", text[:at])
    return found[1] if found else ""


def _introduced(text: str, at: int) -> bool:
    """An article or nothing stands before: «with an activation function», not «the gradient of the loss»."""
    return re.search(r"\b(?:an?|some|and|by)\s+(?:[\w-]+\s+)?$", text[:at]) is not None


def _neutral(text: str, start: int, stop: int) -> bool:
    return any(s.start <= start and stop <= s.stop for s in named(text, "small"))


def _known(text: str, at: int) -> bool:
    """The word is of a concept."""
    return any(s.start <= at < s.stop for family in ("part", "head", "join", "letter", "role", "aside", "not", "bias",
                                                     "factor", "change", "topic") for s in named(text, family))


def _problem(chain: Chain, gap: Gap, written: tuple[str, str], sizes: Sequence[str], read: bool) -> str | None:
    """What of the gap the network, ``written`` with the card's formulas and without, does not have.

    ``read``: it stands with words that were understood.
    """
    formula = gap.formula
    latex = formula.latex.strip()
    before = chain.prose.text[max(0, gap.start - 24) : gap.start]
    if (_SIZE.fullmatch(latex) and (sized := named(before, "size")) and not before[sized[-1].stop :].strip(" of")):
        return None
    if not any(p.loss for p in chain.parts) and bare_letters(formula) == (chain.letter("loss"),):
        return None  # «the gradients of a loss $J$»
    if any((_TIMES.fullmatch(latex), _DERIVED.search(latex), _APPLIED.fullmatch(latex), is_claimed(
            formula, chain.prose))):
        return None
    if "=" in latex:
        return None if computes_nothing(formula) else f"`{latex}`: what does it compute?"
    bare = bare_letters(formula)
    beside = any(a <= gap.start < b for a, b in (chain.prose.sentence(p.start) for p in chain.parts))
    if not bare and beside and not read and not _NUMBER.fullmatch(latex):
        return f"`{latex}` is not understood beside layers that only words name"
    letters = {*_LETTER.findall(written[0]), *(c for size in sizes for c in _LETTER.findall(size))}
    for letter in bare or _LETTER.findall(_COMMAND.sub(" ", latex)):
        if not {*_LETTER.findall(letter)} <= letters and (bare or not computes_nothing(formula)):
            return f"`{letter}` is nothing in the layers that only words name"
    labelled = [w for w in written_letters(formula) if w not in bare]
    if labelled or len(bare) != 1 or bare[0] in sizes:
        return None
    declared = _declared_rank(latex)
    ranks = _ranks(bare[0], written[1])
    if declared is not None and ranks and declared not in ranks:
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


def _refuse_no_layer(chain: Chain) -> None:
    """«A neuron with logistic sigmoid»: its weighted sum is not named; «sigmoid and ReLU»: are they joined?"""
    parts, prose = chain.parts, chain.prose
    if any(p.name == "linear" for p in parts):
        return
    chained = any(named(prose.text[slice(*prose.sentence(p.start))], "join") for p in parts)
    if len(parts) > 1 and not chained:
        first, second = parts[:2]
        raise chain.unclear(second, f" and {chain.quoted(first)}: one after the other, or each alone? Write e.g. "
                            f"{chain.quoted(first)} followed by {chain.quoted(second)}, or the forward formula")
    found = _ALONE.search(prose.text, 0, parts[0].start)
    if found:
        quoted = prose.plain.quote(found.start(), parts[0].end)
        raise CardError(Problem(f"“{quoted}”: no weights are named; write e.g. “a linear layer followed by …”, or the "
                                "forward formula", line=prose.plain.line(found.start())))


def _refuse_reversed(chain: Chain) -> None:
    """«A PReLU network with a linear layer»: the order of the names need not be that of the layers."""
    for first, second in itertools.pairwise(chain.parts):
        words = chain.prose.text[first.end : second.start]
        start, _ = chain.prose.sentence(second.start)
        back = named(chain.prose.text[max(first.end, start) : second.start], "join.back")
        joined = re.search(r",|\b(?:second|another)\b", words) or named(words, "join.then", "join.through")
        inside = second.name == "linear" and not first.loss and not joined and _INSIDE.search(words)
        if back or (inside and start <= first.start):
            quoted = chain.prose.plain.quote(first.start, second.end)
            raise CardError(Problem(f"“{quoted}”: which comes first? Write e.g. “a linear layer followed by …”, or the "
                                    "forward formulas", line=chain.prose.plain.line(first.start)))


def refuse_mixed(parts: Sequence[Part], chain: Chain) -> None:
    """Raise :class:`CardError` where a part behind the first is not joined to the one before."""
    for first, second in itertools.pairwise(parts):
        words = chain.prose.text[first.end : second.start]
        joined = re.search(r"[,:;→+]|\b(?:and|a|with|plus|s|se|into|by|which|that)\b", words) or named(words, "join")
        itself = second.loss or first.end == second.start
        if re.search(r"\b(?:or|nebo)\s+(?:an? )?$", words) or not (joined or itself):
            raise chain.unclear(second, f": is it behind {chain.quoted(first)}? Write e.g. “followed by”, or the "
                                "forward formulas")
