"""A card's question as a module: which layer it is about, with which window, what is asked, and how that was read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

from derive.card import Card
from derive.errors import CardError, DeriveError, OpenError, Problem, RequestError, UnsupportedError
from derive.expr import Idx
from derive.layers import POOLINGS
from derive.module import Module
from derive.notation.grammar import skeleton
from derive.notation.rules.kinds import entry_set, equates
from derive.notation.symbols import ACCENTS, Kind, Symbol, latex_of, message, name_of, split_label
from derive.question import masks, numbers, steps
from derive.question.letters.bare import refuse_single
from derive.question.letters.restricted import refuse_numbered, refuse_restricted
from derive.question.parts.concepts import refuse_unshown
from derive.question.parts.operations import refuse_unformulated
from derive.question.parts.traits import without_traits
from derive.question.parts.unaccounted import refuse_other_layers
from derive.question.requests.aside import set_aside
from derive.question.requests.by_noun import as_on_card, lettered
from derive.question.requests.changed import values_left
from derive.question.requests.in_formulas import refuse_torn
from derive.question.requests.slots import refuse_requests
from derive.question.requests.verbs import besides
from derive.question.requests.written_in import with_letters_named
from derive.question.windows.pooling import Pooled, may_be_pooling, places, pooling_module
from derive.question.words.lexicon import named, only
from derive.question.words.prose import BREAK, Prose
from derive.question.words.reading import lettered_prose, refuse_long
from derive.records import dataclass
from derive.specify.sizes import with_listed
from derive.statement import KEYS as STATED
from derive.statement import Statement, with_layer, with_statement
from derive.variants import refuse_open
from derive.window_axis import WindowAxis

__all__ = ["module_of"]


@dataclass(frozen=True)
class Question:
    """A card, and what its front matter states."""

    card: Card
    statement: Statement

    @cached_property
    def prose(self) -> Prose:
        return lettered_prose(self.card)


def module_of(card: Card, outside: Statement | None = None) -> Module:
    """The layer that the card's question asks about; a statement from ``outside`` counts over what the card says.

    Raises :class:`CardError` for what is missing, ambiguous or contradictory, and
    :class:`UnsupportedError` where the card is not about a layer that is covered.
    """
    on_card: Callable[[str], str] = str
    try:
        refuse_long(card.question, card.question_line)
        refuse_near_misses(card)
        refuse_open(card)
        statement = Statement.of(card)
        if outside is not None:
            statement = statement.overlaid(outside)
            card = with_statement(card, statement)
        if problems := tuple(statement.unfinished()):
            raise CardError(*problems)
        card, described = without_traits(card)
        on_card = described.on_card
        card, called = lettered(card)
        module, unanswered = _with_numbers(card, statement)
        readings = (*as_on_card(module.readings, called), *unanswered)
        not_on = () if outside is None else _not_on(card, outside)
        return replace(module, readings=(*map(on_card, readings), *not_on))
    except DeriveError as error:
        aside = isinstance(error, CardError) and outside is None and not _asks(card)
        found = UnsupportedError(_NOTHING_ASKED) if aside else _of_outside(error, outside)
        found = found.located(card.path, card.question_line)
        said = (replace(p, message=on_card(p.message)) for p in found.problems)
        raise found.with_problems(dict.fromkeys(said)) from None


def _asks(card: Card) -> bool:
    """Whether the card says that it is a derivation, states a layer, or has a word or sign of a derivative."""
    given = card.front_matter.keys() & {"layer", *STATED}
    if card.front_matter.get("type", "derivation") == "derivation" or given:
        return True
    return bool(_DERIVED.search(card.question) or named(card.question.lower(), *_REQUESTS))


_NOTHING_ASKED = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
_DERIVED = re.compile(r"\\partial|\\nabla|\\delta|'|\\frac\s*\{\s*d")
_REQUESTS = tuple(f"request.{of}" for of in ("jacobian", "gradient", "vjp", "message", "back", "backward", "update"))


def _with_numbers(card: Card, statement: Statement) -> tuple[Module, tuple[str, ...]]:
    """The layer with the numbers that the question gives, and what is not answered.

    Single numbers that are not those of all letters belong to the layer: a slope 0.1.
    """
    numbers.refuse_tables(card)
    stated = numbers.stated(statement)
    card, masked = masks.apart(card)
    card, said = steps.apart(card)
    statement, mask = masks.stated(statement)
    statement, wanted = steps.stated(statement)
    if statement.derive is not None:
        card, said, masked = with_statement(card, statement) if wanted or mask else card, wanted, mask
    whole, given = numbers.apart(card, said)
    try:
        asked, unanswered = set_aside(whole)
        module = masks.with_masks(steps.with_steps(_read(Question(asked, statement)), said), masked)
        return numbers.with_numbers(module, given, stated, (s.words for s in said)), unanswered
    except DeriveError:
        if not given or any(one.numbers.axes for one in given):
            raise
    asked, unanswered = set_aside(card)
    module = masks.with_masks(steps.with_steps(_read(Question(asked, statement)), said), masked)
    return numbers.with_numbers(module, (), stated, (s.words for s in said)), unanswered


class BesidePosed(OpenError):
    """Words are not understood beside formulas that pose the question: no other way is one to read them."""


def _read(question: Question) -> Module:
    """The module by the first way that knows the question; its words, where no way does."""
    given = any(True for _ in question.statement.given())
    if not given:
        refuse_torn(question.prose.formulas)
    try:
        found = next(module for way in WAYS if (module := way(question)) is not None)
        _refuse_nouns(question, found)
        _refuse_single(question, found, given)
    except DeriveError as error:
        if given or isinstance(error, BesidePosed) or _is_of_request(error, question.prose) or (
                short := _named_alone(question)) is None:
            raise
        _refuse_nouns(question, short)
        return short
    for formula in question.prose.formulas if not given else ():
        if formula.tree is None:  # whatever it may say: TeX would not set it
            skeleton(formula.source)
    return found


def _refuse_single(question: Question, module: Module, given: bool) -> None:
    """Raise :class:`RequestError` for letters of the card's formulas that come out smaller than they may be meant."""
    if not given and question.statement.shapes is None and any(map(equates, question.prose.formulas)):
        refuse_single(question.prose, module)
        refuse_restricted(question.prose, module)
        refuse_numbered(question.prose, module)
        refuse_unshown(question.prose, module)


def _is_of_request(error: DeriveError, prose: Prose) -> bool:
    """What the formulas compute is clear, and what is asked is something else, or of one of the layers in them."""
    from derive.question.requests.changed import asks_of_parts

    return isinstance(error, RequestError) or any(map(equates, prose.formulas)) and asks_of_parts(prose)


def _refuse_nouns(question: Question, module: Module) -> None:
    """Raise :class:`CardError` where words ask for a derivative by what layers named in words do not have."""
    from derive.question.requests.answered import refuse_unanswered_nouns

    if not any(map(equates, question.prose.formulas)) and not any(True for _ in question.statement.given()):
        refuse_unanswered_nouns(question.prose, module)


def _named_alone(question: Question) -> Module | None:
    """The layers that a short question names by the catalogue's names, and nothing else; None for any other."""
    from derive.question.plain import plain_module

    return plain_module(question.card, question.prose)


# --- ways to a layer: what only some cards take is imported where it is asked, a part of a cold start ----------------


def layers_given(question: Question) -> Module | None:
    """The layers that the front matter names."""
    if question.statement.layers is None and "layer" not in question.card.front_matter:
        return None
    from derive.question.given import layers_module

    found = layers_module(question.card, question.statement)
    if found is not None:
        refuse_unread(question, found, "")
    return found


def formulas_given(question: Question) -> Module | None:
    """The layer of the front matter's formulas."""
    if question.statement.forward is None:
        return None
    from derive.question.given import given_module, written_otherwise

    found = given_module(question.card, question.statement)
    refuse_unread(question, found, "")
    return replace(found, written=written_otherwise(question.prose, found))


def pooling_named(question: Question) -> Module | None:
    """The pooling that the question names or writes; None for any other layer."""
    card, statement, prose = question.card, question.statement, question.prose
    if statement.layers is not None:
        card = with_layer(card, statement.layers)
    if "layer" not in card.front_matter and not may_be_pooling(card):
        return None
    pooled = Pooled.of(card)
    zeros = pooled.equations and any(entry_set(f.tree or ()) == "0" for f in prose.formulas)  # that take part
    found = None if zeros or _names_a_network(pooled, prose) else pooling_module(pooled)
    if found is None:
        return None
    if statement.derive is None:
        refuse_requests(prose)
    refuse_other_layers(prose, found)
    found = _completed(replace(found, readings=(*found.readings, *besides(prose))), question, statement)
    refuse_unread(question, found, "formulas of windows" if pooled.equations else "windows")
    return found


def layer_written(question: Question) -> Module:
    """The layer that the question's formulas compute, or that its words name."""
    from derive.question.layer import layer_module

    found, posed, read = layer_module(question.card, question.statement)
    refuse_unread(question, found, "posed" if posed else "formulas", {(f.line, f.column) for f in read.zeros},
                  read.told)
    # these have been read with the question
    return _completed(found, question, replace(question.statement, functions=None, shapes=None, facts=None), posed)


def refuse_unread(question: Question, module: Module, beside: str = "formulas",
                  known: Collection[tuple[int, int]] = (),
                  told: Sequence[tuple[int, int]] | None = None) -> None:
    """Raise :class:`OpenError` for words that no row reads: in what is asked, and ``beside`` formulas or windows.

    What the layer is says the front matter alone where they stand beside nothing, "".

    Where some formulas are of parts that only words name, ``told`` are the places of words that these take account of.

    ``known`` are the lines and columns of formulas that are understood although they give entries numbers.
    """
    from derive.question.posed import refuse_more
    from derive.question.posed_request import refuse_half, refuse_unasked
    from derive.question.requests.answered import refuse_unread_requests
    from derive.question.sentences.beside import refuse_unread_words, refuse_untold
    from derive.question.sentences.tokens import in_english

    prose = question.prose
    if not in_english(prose.text):
        return
    try:
        if beside in ("posed", "formulas of windows"):
            refuse_more(prose, module, known, told)
        elif beside == "formulas":
            refuse_unread_words(prose, told or ())
            if any(map(equates, prose.formulas)):
                refuse_more(prose, module, known, told)
        elif beside:
            refuse_untold(prose, places(prose.text))
        if question.statement.derive is None:
            if beside in ("posed", "formulas", ""):
                refuse_unasked(prose, module)
                refuse_half(prose, module)
            refuse_unread_requests(prose, module, beside in ("posed", "") or beside == "formulas" and told is None)
    except CardError as error:
        kind = BesidePosed if beside == "posed" else OpenError
        raise kind(*error.problems, found=module) from None


WAYS: tuple[Callable[[Question], Module | None], ...] = (layers_given, formulas_given, pooling_named, layer_written)


def _names_a_network(pooled: Pooled, prose: Prose) -> bool:
    """A pooling and other layers are named in words, and no formula computes one of them."""
    named = pooled.words.about("pooling") or pooled.words.about("whole")
    if "layer" in pooled.card.front_matter or not named or pooled.equations:
        return False
    from derive.question.parts.chain import Chain

    chain = Chain(prose)
    return chain.asked and len(chain.parts) > 1 and any("pool" in part.name for part in chain.parts)


# what the front matter may say of a layer that the question names or writes, besides its roles and windows
_LAID_OVER = ("derive", "functions", "shapes", "ranges", "facts", "upstream", "loss")


def _completed(module: Module, question: Question, statement: Statement, posed: bool = False) -> Module:
    """The layer with what the front matter says besides; raises where the words say more than it computes."""
    if any(getattr(statement, key) is not None for key in _LAID_OVER):
        from derive.question.given import laid_over

        module = laid_over(module, question.card, statement)
    refuse_unformulated(question.prose, module, posed)
    module = with_upstream(module, question.prose) if question.statement.upstream is None else module
    if question.statement.derive is None:
        from derive.question.requests.answered import besides_left

        module = with_letters_named(module, question.prose)
        left = [*values_left(question.prose, module), *besides_left(question.prose, module.readings)]
        module = replace(module, readings=(*module.readings, *left))
    module = with_zeros(with_listed(module, (f.latex for f in question.prose.formulas)), question.prose)
    return module if module.name else replace(module, called=layers_called(question.prose, module))


_BARE_ACCENT = re.compile(rf"\\({'|'.join(ACCENTS)})\s+([A-Za-z])")  # \bar y
_UPSTREAM = re.compile(r"(\\[A-Za-z]+\{[^{}]+\}|\\[A-Za-z]+|d?[A-Za-z])\s*(?:_\s*(?:\{([^{},]*)\}|(\w)))?\s*"
                       r"(?::?=(.*))?", re.DOTALL)


def with_upstream(module: Module, prose: Prose) -> Module:
    """«for an upstream gradient $\\Delta$», «given $g = ∂L/∂Y$»: that is δ_Y, and not a letter of the layer."""
    name = f"delta_{module.output}"
    axes = tuple(i.name for i in module.definition(module.output)[0].indices if isinstance(i, Idx))
    nouns = named(prose.text, "upstream.letter")
    for gap in prose.gaps:
        found = _UPSTREAM.fullmatch(_BARE_ACCENT.sub(r"\\\1{\2}", gap.formula.latex.strip()))
        before = next((n.start for n in nouns if gap.start == n.stop + 1), None)
        told = before is not None or any(only(prose.text, gap.start + 1, n.start, "upstream.given", "naming.is",
                                              "naming.article") for n in nouns)
        if found is None or not (told or _is_loss_by(found[4], module)):
            continue
        known = module.table.named(name_of(found[1]))
        own = known is not None and (known.kind is not Kind.TENSOR or known.name in (*module.given, *module.defined))
        if own or {*(found[2] or found[3] or axes)} - {" "} != {*axes}:
            continue
        messages = [s for s in module.table.symbols if s.name.startswith("delta_")]
        latex = latex_of(name_of(found[1]))
        symbols = (*(s for s in module.table.symbols if s is not known and s not in messages),
                   Symbol(name, latex, Kind.TENSOR, axes))
        table = replace(module.table, symbols=symbols)
        others = [of for s in messages if s.name != name and (of := table.named(s.name.removeprefix("delta_")))]
        table = table.extended(message(of, table) for of in others)
        said = f"upstream gradient ${latex}$ ({prose.said(gap.start if before is None else before, gap.start + 1)})"
        return replace(module, table=table, readings=(*module.readings, said))
    return module


def _is_loss_by(latex: str | None, module: Module) -> bool:
    r"""\frac{\partial L}{\partial Y} of the output Y and a loss that the layer does not compute."""
    from derive.question.requests.quotients import derivative_parts

    above, below = map(name_of, (part or "" for part in derivative_parts(latex or "")))
    letters = {*module.given, *module.defined}
    return bool(above) and above not in letters and split_label(below)[0] == module.output


def with_zeros(module: Module, prose: Prose) -> Module:
    """«padded with a ring of zeros»: the sheet says what that is for a maximum."""
    padded = any(a.padding or a.padding_after for _, f in module.fields for a in f.axes if isinstance(a, WindowAxis))
    said = next(iter(named(prose.text, "zeros")), None) if padded else None
    return module if said is None else replace(module, readings=(
        *module.readings, f"padding with zeros ({prose.said(said.start, said.stop)})"))


def layers_called(prose: Prose, module: Module) -> tuple[str, ...]:
    """The layers by whose names the sentences around the formulas call them, not by comparison.

    An activation is only a part of what has weights, or several formulas.
    """
    from derive.layers import activations, linear

    found = dict[str, None]()
    sentences = [(prose.text[start:stop], any("=" in g.formula.latex for g in prose.gaps if start <= g.start < stop))
                 for start, stop in itertools.pairwise(dict.fromkeys(prose.ends))]
    written = [words for words, formula in sentences if formula or (words.endswith(BREAK) and words.strip() != BREAK)]
    for words in written or [words for words, _ in sentences]:
        if not named(words, "ask.verb", "aside.other", "aside.habit", "aside.elsewhere", "aside.told",
                     "geometry.compared"):
            found |= dict.fromkeys(span.concept.partition(".")[2] for span in named(words, "part"))
    names = tuple(name for name in found if name not in _NO_LAYER)
    small = {*(spec.name for spec in (*activations.LAYERS, *linear.LAYERS)), "softmax", "log_softmax"} - _WITH_WEIGHTS
    arrays = [s for s in module.table.symbols if s.name in module.given and s.axes]
    whole = len(names) >= len(module.equations) and ("linear" in names or len(arrays) <= 1)
    return names if whole or {*names} - small else ()


_WITH_WEIGHTS = {"maxout", "glu", "prelu", "embedding", "residual"}
_NO_LAYER = frozenset({"none", "penalty", "dropout", "identity"})


# --- a statement from outside ----------------------------------------------------------------------------------------


def _of_outside(error: DeriveError, outside: Statement | None) -> DeriveError:
    """The error with the place of what a statement from outside says under a key that it names."""
    if outside is None:
        return error
    keys = tuple(f"`{key}" for key, _ in outside.given())
    own = [p.message.startswith(keys) and p.file is None for p in error.problems]
    return error.with_problems(replace(p, file=outside.origin) if mine else p
                               for mine, p in zip(own, error.problems, strict=True))


def _not_on(card: Card, outside: Statement) -> Iterator[str]:
    """The formulas of a statement from outside that do not stand on the card."""
    def bare(latex: str) -> str:
        for layout in ("\\left", "\\right", "\\,", "\\!", "\\;", "$", "{", "}", " ", "\n"):
            latex = latex.replace(layout, "")
        return latex.rstrip(".,;")

    question = bare(card.question)
    for key in ("forward", "functions", "facts"):
        for text in getattr(outside, key) or ():
            if bare(text) not in question:
                yield f"not on the card, from {outside.origin}: ${text}$"


# --- keys that are written almost like one of ours --------------------------------------------------------------------

# What changes a sheet or its marks. A note's own `id`, `title`, `course`, `type` and `tags` have many neighbours.
KEYS = ("layer", *STATED, *dict.fromkeys(key for spec in POOLINGS for key in spec.options), "code", "language",
        "points", "difficulty")
_LONG = 8  # letters, from which on two of them may be wrong
# words that people and their programs use as keys of their own, close to one of ours
_WORDS = frozenset(
    "citation constraints contents core deletion donation duration form input input_file languages later mode node "
    "output_file player relation violation".split()
)  # fmt: skip


def refuse_near_misses(card: Card) -> None:
    """Raise :class:`CardError` for each key that is no key of ours and nearly one; all others are the user's."""
    problems = [
        Problem(f"unknown key `{key}`; did you mean `{meant}`?", card.path, card.key_line(key))
        for key in map(str, card.front_matter) if key not in KEYS and key.lower() not in _WORDS
        if (meant := _meant(key.lower())) is not None
    ]  # fmt: skip
    if problems:
        raise CardError(*problems)


@lru_cache(maxsize=256)
def _meant(written: str) -> str | None:
    """The first of our keys that it nearly is."""
    return next((key for key in KEYS if _near(written, key)), None)


def _near(written: str, key: str) -> bool:
    """One letter is too many, missing, wrong or changed places with the next; of long words two."""
    most = 2 if min(len(written), len(key)) >= _LONG else 1
    return abs(len(written) - len(key)) <= most and distance(written, key) <= most


def distance(a: str, b: str) -> int:
    """How many letters must be put in, left out, changed or swapped with the next to make ``b`` of ``a``."""
    rows = [list(range(len(b) + 1))]
    for n, letter in enumerate(a, 1):
        row = [n]
        for m, other in enumerate(b, 1):
            row.append(min(rows[-1][m] + 1, row[-1] + 1, rows[-1][m - 1] + (letter != other)))
            if n > 1 and m > 1 and (letter, a[n - 2]) == (b[m - 2], other):
                row[m] = min(row[m], rows[-2][m - 2] + 1)
        rows.append(row)
    return rows[-1][-1]
