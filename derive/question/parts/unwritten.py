"""Layers that a question names without a formula, alone or behind one; every word beside them is accounted for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from derive.errors import CardError, Problem
from derive.expr import Entry, Expr, Mul, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.letters.claims import Doubts, computes_nothing, is_claimed
from derive.question.letters.naming import Mention, bare_letters, sizes_said, written_letters
from derive.question.parts.chain import Chain
from derive.question.parts.doubtful import doubtful
from derive.question.parts.ends import call_ends, call_loss, refuse_output
from derive.question.parts.loose import cut_numbers, loose_words
from derive.question.parts.network import ACTIVATIONS, Own, network
from derive.question.parts.order import reversed_by
from derive.question.parts.recognised import Part, letters_said
from derive.question.parts.remarks import plain_phrases, purposes
from derive.question.parts.shown import shown
from derive.question.requests.slots import beside_parts, not_asked_so
from derive.question.requests.verbs import discussed, requested
from derive.question.words.lexicon import ends, named, only, up_to
from derive.question.words.prose import Gap, Prose
from derive.specify.definitions import Definition, Definitions

_TO_WRITE = "is not understood beside layers that only words name; write the forward formula of the network with it"
_WORD = re.compile(r"[^\W_]+|∎|¶|[,:()→+]")
_DERIVED = re.compile(r"\\partial|\\nabla|\\delta|\\mathrm\s*\{?\s*d|\\Delta")
_SHIFTED = re.compile(r"_\s*\{[^{}]*\w\s*[-+][^{}]*\}")  # z_{i-1}
_FITTING = {("binary_cross_entropy", "sigmoid"), ("categorical_cross_entropy", "softmax"), ("cross_entropy", "softmax")}
_IN_STEPS = frozenset("rnn lstm gru".split())
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
_RUNS = re.compile(r"[a-z](?:\s*,\s*[a-z])*\s*=\s*1\s*,\s*\\[lc]?dots\s*,\s*\w+")  # i, j = 1, …, N
_SIZE = re.compile(r"\d*\s*\\?[A-Za-z]+")
_TIMES = re.compile(r"\w+(?:\s*\\times\s*\w+)+|\d+")  # 2 \times 2


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
    understood = [*chain.understood, *chain.layers_counted()]
    known, loose = ([place for place in places if not any(a <= place[0] < b for a, b in understood)] for places in (
        (*changing(chain), *_slots(chain), *_beside(chain, parts)), loose_words(chain, parts)))
    for start, stop in (*several, *known, *cut_numbers(chain), *doubtful(chain), *loose):
        if not chain.aside(start) and not any(a <= start < b for a, b in own):
            if (start, stop) in loose and chain.prose.sentence(start) not in map(chain.prose.sentence, dict(parts)):
                raise not_asked_so(chain.prose, start, stop)
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


def _beside(chain: Chain, parts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Unknown words, but for what a network is for: «a network for pose regression has»."""
    told = [*purposes(chain.prose.text)]
    yield from (place for place in beside_parts(chain.prose, parts) if not any(a <= place[0] < b for a, b in told))


def changing(chain: Chain) -> Iterator[tuple[int, int]]:
    """Words that change what the parts compute; parts that are named and of which none is the layer."""
    here = {chain.prose.sentence(p.start) for p in chain.parts}
    for start, stop in sorted(here):
        for number in _SAID_NUMBER.finditer(chain.prose.text, start, stop):
            if not ends(chain.prose.text[start : number.start()], "measured", over=("geometry.link",)) and not any(
                    s.start <= number.start() < s.stop for s in named(chain.prose.text, "fact")):
                yield number.span()
    for span in named(chain.prose.text, "change.what"):
        inside = any(s.start <= span.start < s.stop for s in named(chain.prose.text, "part"))
        sentence = chain.prose.sentence(span.start)
        if ends(chain.prose.text[: span.start], "not.no") and not chain.prose.text.startswith(
                ("shared", "tied"), span.start):
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
        if requested(text, head.start) or discussed(text, head.start) or ends(
                text[: head.start], "naming.as") or ends(text[: head.start], "not.no", most=1):
            continue  # «as activation function», «no further activation»
        if last_word(text, head.start) in ("hidden", "output", "input") and text[head.start :].startswith("layer"):
            if not any(p.name == "linear" and (-30 < p.start - head.stop < 40 or p.start < head.start < p.end)
                       for p in chain.parts) and not any(
                    only(text, head.stop, p.start, "naming.is", "naming.article") for p in chain.parts):
                yield head.start, head.stop
            continue
        alone = head.concept == "head.loss" and no_loss and _introduced(text, head.start)
        words = list(_WORD.finditer(text, max(0, head.start - 60), head.start))
        last = words[-1] if words else None
        unnamed = last is not None and last.end() >= head.start - 2 and last[0][0].isalpha() and not _neutral(
            text, last.start(), last.end()) and not _known(text, last.start())
        activation = no_activation and text.startswith(("activation", "nonlin", "non-lin", "transfer"), head.start)
        if alone or activation and _introduced(text, head.start):
            yield head.start, head.stop
        elif unnamed and last is not None:
            yield last.start(), head.stop


def last_word(text: str, at: int) -> str:
    words = text[:at].replace("-", " ").split()
    return words[-1] if words else ""


def _introduced(text: str, at: int) -> bool:
    """An article or nothing stands before: «with an activation function», not «the gradient of the loss»."""
    return ends(text[:at], "introduced", most=1)


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
    if latex in chain.indices | chain.sizes:
        return None  # «each output $i$», «$K$ classes»
    windows = _TIMES.fullmatch(latex) is not None and (read or any("pool" in p.name for p in chain.parts))
    if any((windows, _DERIVED.search(latex), _APPLIED.fullmatch(latex), is_claimed(formula, chain.prose))):
        return None
    if "=" in latex:
        runs = _RUNS.fullmatch(latex) and not chain.from_zero
        if runs or computes_nothing(formula) or _excluded(chain.prose.text, gap.start):
            return None
        listed = letters_said(formula)
        if not listed:
            return f"`{latex}`: what does it compute?"
    if _SHIFTED.search(latex) and not {p.name for p in chain.parts} & _IN_STEPS:
        return f"`{latex}` is shifted, and the layers that words name are not"
    bare = bare_letters(formula)
    beside = any(a <= gap.start < b for a, b in (chain.prose.sentence(p.start) for p in chain.parts))
    if not bare and beside and not read:
        return f"`{latex}` is not understood beside layers that only words name"
    letters = {*_LETTER.findall(written[0]), *(c for size in sizes for c in _LETTER.findall(size))}
    for letter in bare or letters_said(formula) or _LETTER.findall(_COMMAND.sub(" ", latex)):
        if not {*_LETTER.findall(letter)} <= letters and (bare or not computes_nothing(formula)):
            return f"`{letter}` is nothing in the layers that only words name"
    if letters_said(formula) != written_letters(formula):
        return None  # the entries of a vector
    labelled = [w for w in written_letters(formula) if w not in bare]
    if labelled or len(bare) != 1 or bare[0] in sizes:
        return None
    declared = _declared_rank(latex)
    ranks = _ranks(bare[0], written[1])
    if chain.batch is not None and declared is not None and declared + 1 in ranks:
        return None  # «the samples $x_n$»
    if declared is not None and ranks and declared not in ranks:
        return f"`{latex}` has other indices than in the layers that only words name"
    return None


def _excluded(text: str, at: int) -> bool:
    """«You need not discuss the case $x_k = 0$»"""
    start = max(text.rfind(end, 0, at) for end in ".?!;¶") + 1
    return ends(text[start:at], "slot.case") and bool(named(text[start:at], "not.no"))


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
    if "," in subscript and {*subscript} & {*"+-"}:  # of x_{c,2i + p}
        return subscript.count(",") + 1
    return len(re.findall(r"\\[A-Za-z]+|\w", subscript.replace("_", "")))


def _refuse_no_layer(chain: Chain) -> None:
    """«A neuron with logistic sigmoid»: its weighted sum is not named; «sigmoid and ReLU»: are they joined?"""
    parts, prose = chain.parts, chain.prose
    for before, part in zip([None, *parts], parts, strict=False):  # «a tanh hidden layer»
        hidden = last_word(prose.text, part.start) == "hidden" or prose.text.startswith(" hidden", part.end)
        if hidden and part.name in ACTIVATIONS and (before is None or before.name != "linear"):
            raise chain.unclear(part, ": no weights are named; write e.g. “a linear layer followed by …”, or the "
                                      "forward formulas")
    if any(p.name == "linear" for p in parts):
        return
    parts = [p for p in parts if p.name != "residual"]
    chained = any(named(prose.text[slice(*prose.sentence(p.start))], "join") for p in parts)
    front = prose.text[: parts[-1].start].replace("∎", "") if parts else ""
    said = bool(front) and parts[-1].loss and ends(front, "head.loss", over=("naming.is", "naming.article"))
    said = said or (*sorted(p.name for p in parts),) in _FITTING and not named(
        prose.text[slice(*prose.sentence(parts[0].start))], "ask.verb")
    if len(parts) > 1 and not chained and not (said and len(parts) == 2):
        first, second = parts[:2]
        raise chain.unclear(second, f" and {chain.quoted(first)}: one after the other, or each alone? Write e.g. "
                            f"{chain.quoted(first)} followed by {chain.quoted(second)}, or the forward formula")
    for alone in named(prose.text[: parts[0].start], "alone")[:1]:
        quoted = prose.plain.quote(alone.start, parts[0].end)
        raise CardError(Problem(f"“{quoted}”: no weights are named; write e.g. “a linear layer followed by …”, or the "
                                "forward formula", line=prose.plain.line(alone.start)))


def _refuse_reversed(chain: Chain) -> None:
    """«A PReLU network with a linear layer»: the order of the names need not be that of the layers."""
    for first, second in itertools.pairwise(sorted(chain.parts, key=lambda p: p.start)):
        words = chain.prose.text[first.end : second.start]
        start, _ = chain.prose.sentence(second.start)
        joined = "," in words or reversed_by(first, second, chain.prose) or named(
            words, "join.then", "join.through", "joined.again")
        inside = second.name == "linear" and not first.loss and not joined and named(words, "joined.inside")
        if inside and start <= first.start:
            quoted = chain.prose.plain.quote(first.start, second.end)
            raise CardError(Problem(f"“{quoted}”: which comes first? Write e.g. “a linear layer followed by …”, or the "
                                    "forward formulas", line=chain.prose.plain.line(first.start)))


def refuse_mixed(parts: Sequence[Part], chain: Chain) -> None:
    """Raise :class:`CardError` where a part behind the first is not joined to the one before."""
    for first, second in itertools.pairwise(sorted(parts, key=lambda p: p.start)):
        words = chain.prose.text[first.end : second.start]
        joined = not {*words}.isdisjoint(",:;→+") or named(words, "join", "joined.beside")
        itself = second.loss or "residual" in (first.name, second.name) or first.end >= second.start or reversed_by(
            first, second, chain.prose)
        if ends(words, "joined.or", over=("between.article",)) or not (joined or itself):
            raise chain.unclear(second, f": is it behind {chain.quoted(first)}? Write e.g. “followed by”, or the "
                                "forward formulas")


_ONE_LETTER = r"\\?[A-Za-z]+"
_NAME = rf"{_ONE_LETTER}(?:_\{{?{_ONE_LETTER}\}}?)?|\\(?:mathrm|operatorname|text)\{{\w+\}}"
SIGNATURE = re.compile(rf"\s*({_NAME})\s*\(\s*{_ONE_LETTER}(?:\s*[,;]\s*{_ONE_LETTER})*\s*\)\s*=")


def stated_parts(
    prose: Prose, written: Sequence[Formula], defined: Definitions, doubts: Doubts
) -> tuple[list[Formula], list[Mention], tuple[tuple[int, int], ...]]:
    """The formulas of parts that only words name, in the order named, what their letters are, and which words say it.

    Nothing where the formulas define the layer; a function f(s) = … of the card is the part behind whose name it
    stands.  Raises :class:`UnsupportedError` for parts that have no formula here, and :class:`CardError` where the
    order is not clear.
    """
    chain = Chain(prose)
    if not chain.asked or not chain.parts or not _in_words(chain, defined):
        return [], [], ()
    refuse_mixed(chain.parts, chain)
    if any(p.loss for p in chain.parts) and chain.letter("loss") is None:
        call_loss(chain, written, {letter for p in chain.parts for letter in p.letters.values()})
    source = call_ends(chain, written)
    functions = [own_function(formula) for _, formula in defined.functions.values()]
    losses = [loss.formula for loss in chain.losses.values()]
    functions += [own_function(d.formula) for d in defined.tensors.values() if d.formula not in losses]
    refuse_output(chain)
    found = network(chain, written, functions, several=bool(named(prose.text, "several")), source=source)
    with doubts.over("forward"):
        refuse_unaccounted_words(chain, found.formulas, found.used, [*sizes_said(prose), *units_of(chain)])
    places = [*((p.start, p.end) for p in chain.parts), *plain_phrases(prose, chain.parts)]
    return found.formulas, found.mentions, (*chain.understood, *places)


def units_of(chain: Chain) -> list[str]:
    return [p.options["units"] for p in chain.parts if "units" in p.options]


def _in_words(chain: Chain, defined: Definitions) -> bool:
    """The card has no formulas of the layer but for functions f(s) = … of its parts, and that of its loss."""
    losses = [loss.formula for loss in chain.losses.values()]
    if defined.aliases or defined.known or any(
            SIGNATURE.match(d.formula.latex) is None and d.formula not in losses for d in defined.tensors.values()):
        return False
    functions = bool(defined.functions or defined.tensors)
    if len(chain.parts) == 1:
        return not functions
    return not functions or any(p.loss or p.name == "linear" for p in chain.parts)


def refuse_linear(prose: Prose, defined: Definitions) -> None:
    """Raise :class:`CardError` for a linear layer that is followed by others and that no formula computes."""
    chain = Chain(prose)
    linear = next((p for p in chain.parts if p.name == "linear" and chain.asked), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    products = any(isinstance(n, Mul) and sum(any(isinstance(e, Entry) for e in walk(f)) for f in n.factors) > 1
                   for value in values for n in walk(value))
    if linear and values and not products and named(
            chain.prose.text[slice(*chain.prose.sentence(linear.start))], "join"):
        raise CardError(Problem(f"{chain.quoted(linear)} is named, and no formula computes it: write the forward "
                                "formulas of all layers", line=chain.prose.plain.line(linear.start)))


def own_function(formula: Formula) -> Own:
    r"""f of f(s) = \max(s, a s), with a."""
    match = SIGNATURE.match(formula.latex)
    name = match[1] if match else formula.latex.split("(")[0].strip()
    head, _, body = formula.latex.partition("=")
    body = re.sub(r"\\(?:text|begin|end)\{[^}]*\}", "", body)
    letters = re.findall(r"(?<![A-Za-z\\{])(\\?[a-z]+)(?![A-Za-z}])", body)
    symbols = [c for c in letters if len(c) == 1 or c in (r"\alpha", r"\beta", r"\lambda")]
    own = tuple(dict.fromkeys(c for c in symbols if c not in re.findall(r"\\?[A-Za-z]+", head)))
    return Own(name, formula, own)


def continued_parts(prose: Prose, written: Sequence[Formula], defined: Definitions,
                    table: SymbolTable) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that words join to the output of the card's formulas, and what their letters are.

    Nothing where nothing joins them, or where a formula computes one of the parts already.
    """
    last = last_of(defined)
    gap = next((g for g in prose.gaps if last is not None and g.formula == last.formula), None)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    if last is None:
        return [], []
    chain = Chain(prose)
    symbol = table.named(last.entry.tensor)
    source = symbol.latex if symbol else last.entry.tensor
    parts = [p for p in chain.parts if prose.plain.place(last.formula) < prose.plain.origin[p.start]]
    if not parts or gap is None or any(shown(p.name, values) for p in parts) or not _joined(prose, gap, parts):
        return [], []
    chain.parts, chain.continued = parts, True
    taken = {known.latex for name in defined.tensors if (known := table.named(name)) is not None}
    used = {s.latex for s in table.symbols}
    loss = next((chain.losses[p.start] for p in parts if p.start in chain.losses), None)
    if loss is not None and loss.prediction(chain.letter("target"))[0] in taken:
        return [], []  # «a sigmoid behind $s$ and the error $(s - y)^2$»: which s?
    chain.bound |= taken
    call_loss(chain, written, taken)
    rank = len(last.entry.indices) or (len(symbol.axes) if symbol else 0)
    found = network(chain, written, [], source=source, rank=rank, taken=used)
    return found.formulas, found.mentions


def last_of(defined: Definitions) -> Definition | None:
    """The one definition that no other uses."""
    used = {n.tensor for d in defined.tensors.values() for n in entries_of(d.value)}
    found = [d for name, d in defined.tensors.items() if name not in used]
    return found[0] if len(found) == 1 else None


def entries_of(value: Expr) -> list[Entry]:
    return [n for n in walk(value) if isinstance(n, Entry)]


def _joined(prose: Prose, gap: Gap, parts: Sequence[Part]) -> bool:
    """Nothing but words that join stands between the formula and the parts, and nothing but their letters behind."""
    at = gap.start + 1
    for part in parts:
        between = prose.text[at : part.start]
        joined = only(between, 0, len(between), "behind.own", "behind.join") and named(between, "behind.join")
        of_loss = part.loss and len(parts) == 1 and ends(between, "behind.of_loss", over=("naming.article",))
        if not (joined or of_loss and "∎" not in between):
            return False
        at = part.end
    rest = up_to(prose.text[at : prose.sentence(at)[1]], "behind.stop").partition("(")[0].rstrip(".;¶ ")
    return only(rest, 0, len(rest), "behind.own")
