"""What a sentence says, as data: the rows' actions and the tokens that stand for themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from derive.notation.rules.kinds import Said
from derive.notation.tree import Scripted, base_of, inside, is_token
from derive.question.lexicon import spans
from derive.question.sentences import request_atoms
from derive.question.sentences.grammar import ANY, Parse, indexed, vocabulary, words_of
from derive.question.sentences.tokens import Sentence, Token, asks, orders
from derive.question.sentences.values import Unread
from derive.records import dataclass


@dataclass(frozen=True)
class Say:
    """What a row makes: its action's name, and what it was given."""

    kind: str
    of: tuple[Any, ...] = ()

    def __getitem__(self, n: int) -> Any:
        return self.of[n] if n < len(self.of) else None


class Actions(dict[str, Callable[..., Any]]):
    """The few that make something of their own; every other action is what it says."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda *of: Say(name, of)


def _flat(*values: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    for value in values:
        if value is not None:
            found += _flat(*value) if isinstance(value, tuple) else [value]
    return tuple(found)


def _case(one: Token, other: Token) -> Say | None:
    return Say("case", (one, other)) if request_atoms.complementary(one, other) else None


def extents(said: Any) -> tuple[str, ...]:
    """The numbers of a size, one an axis."""
    if isinstance(said, tuple):
        return said
    return tuple(said.of) if isinstance(said, Say) else tuple(getattr(said, "text", str(said)).split("×"))


def _agree(one: Any, other: Any) -> Any:
    return one if extents(one) == extents(other) else None


def _counted(field: Say, count: str) -> Say | None:
    return field if field[1] == count else None


def _taps(field: Say) -> Say:
    return Say("opts", (("weights", field[0]), ("length", field[1])))


def _pad(cells: Any, side: str | None = None, fill: str | None = None) -> Say:
    """Cells around the input: on which side, how many, what is in them."""
    where = side if side in ("left", "right") else "both"
    known = (("padding", (where, *(extents(cells) if cells != "none" else ()))),)
    return Say("opts", (*known, ("fill", fill)) if fill else known)


ACTIONS = Actions(asks=lambda *of: Say("asks", (_flat(*of),)), case=_case, one=lambda value: value, many=_flat,
                  both=_flat, agree=_agree, counted=_counted, pad=_pad, taps=_taps,
                  never=lambda *_: None, say=lambda name: Say(name))

_NUMBERS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), map(str, range(1, 13)),
                    strict=True))


def _number(token: Token) -> str | None:
    return token.text if token.kind == "number" else _NUMBERS.get(token.text) if token.kind == "word" else None


def _count(token: Token) -> str | None:
    if token.kind == "formula" and token.letters and len(token.letters) == 1 and token.said is Said.LETTERS:
        return token.formula.latex.strip()
    if token.kind == "word" and len(token.text) == 1 and token.text in "kmnd":
        return token.text.upper()
    return _number(token)


def _letter(token: Token) -> Token | None:
    """x, x ∈ ℝ^n or t of t ∈ {0, 1}."""
    if token.kind != "formula" or "dots" in token.formula.latex:
        return None
    if len(token.letters) == 1:
        return token
    found = _MEMBER.match(token.formula.latex)
    tree = token.formula.tree if found else None
    return Token("formula", "", token.start, (token.formula.part(tree[:1], False),)) if tree else None


_MEMBER = re.compile(r"\s*([^=<>,]+?)\s*\\in\s*\\\{")


_ENUMERATED = re.compile(
    r"\s*(?:(?P<whole>[^=<>]+?)\s*=\s*)?\(?\s*(?P<l>\\?[A-Za-z]+)_\{?(?P<first>\d+)\}?\s*(?:,\s*(?P=l)_\{?\d+\}?\s*)*"
    r"(?:,\s*\\[lc]?dots\s*)?,\s*(?P=l)_\{?(?P<last>\d+)\}?\s*\)?\s*(?:\^\{?(?:T|\\top)\}?)?\s*[.,]?\s*")


def _enumerated(token: Token) -> Say | None:
    r"""x_0, \dots, x_8: a signal of nine values."""
    found = _ENUMERATED.fullmatch(token.formula.latex) if token.kind == "formula" else None
    tree = token.formula.tree or () if found else ()
    base = next((base_of(i) for top in tree for i in (top, *inside(top)) if isinstance(i, Scripted)), None)
    count = int(found["last"]) - int(found["first"]) + 1 if found else 0
    listed = found is not None and (r"dots" in found[0] or found[0].count("_") == count)
    if found is None or base is None or count < 2 or not listed:
        return None
    return Say("signal1", (Token("formula", "", token.start, (token.formula.part((base,), False),)), str(count)))


def _equation(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.equates else None


def _function(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.said is Said.FUNCTION else None


def _formula_value(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.said is Said.VALUE else None


ATOMS: dict[str, Callable[[Token], Any]] = {
    "number": _number, "count": _count, "letter": _letter, "equation": _equation, "function": _function,
    "derivative": request_atoms.derivative, "formulavalue": _formula_value,
}


ACTIVATIONS = frozenset("relu leaky_relu prelu elu sigmoid tanh softplus gelu selu celu silu mish softsign identity "
                        "hard_tanh hard_sigmoid hard_swish modulus sine relu6".split())
LOSSES = frozenset("squared_error mean_squared_error cross_entropy categorical_cross_entropy binary_cross_entropy "
                   "hinge absolute_error logistic_loss log_cosh negative_log_likelihood".split())
_MOST_WORDS = 5
_UNITS = frozenset({"unit", "units", "neuron", "neurons"})


def _part_of(names: frozenset[str]) -> Callable[[Sequence[Token], int], Iterator[tuple[int, str]]]:
    """The runs of words that name a part of a kind."""
    def runs(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
        words: list[str] = []
        for token in tokens[at : at + _MOST_WORDS]:
            if token.kind != "word":
                return
            words.append(token.text)
            text = " ".join(words)
            weighs = words[-1] in _UNITS and "linear" not in words  # a logistic unit has weights, a ReLU may be a unit
            for span in () if weighs else spans(text, "part"):
                name = span.concept.partition(".")[2]
                if span.start == 0 and span.stop == len(text) and name in names:
                    yield at + len(words), name
    return runs


def _bracketed(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """What stands up to the closing bracket."""
    end = next((n for n in range(at, len(tokens)) if tokens[n].text == ")"), None)
    if end is not None:
        yield end, ""


def _letter_word(token: Token) -> str | None:
    return token.text if token.kind == "word" and len(token.text) == 1 else None


def _letters(token: Token) -> Token | None:
    return token if token.kind == "formula" and token.letters else None


def _formula(token: Token) -> Token | None:
    return token if token.kind in ("formula", "number") and token.formulas else None


ATOMS |= {"called": request_atoms.called_letter, "prime": request_atoms.primed, "facts": request_atoms.facts,
          "size": request_atoms.size, "timed": request_atoms.timed, "raised": request_atoms.raised,
          "nonzero": request_atoms.nonzero, "definition": request_atoms.definition}


def _nameable(token: Token) -> Token | None:
    """A formula that names, declares or bounds letters, and computes nothing."""
    known = token.kind in ("formula", "number") and token.formulas
    return token if known and not token.equates and not token.sets else None


ATOMS |= {"enumerated": _enumerated}
ATOMS |= {"nameable": _nameable, "datum": lambda token: _datum(token)}
ATOMS |= {"several": lambda token: token if token.kind == "formula" and len(token.letters) > 1 else None}
ATOMS |= {"SLASH": lambda token: "" if token.text == "/" else None}
ATOMS |= {"declared": lambda token: token if token.kind == "formula" and token.said is Said.DECLARATION else None}
ATOMS |= {"letterword": _letter_word, "letters": _letters, "formula": _formula,
          "LB": lambda token: "" if token.text == "(" else None, "RB": lambda token: "" if token.text == ")" else None}
def _complement(token: Token) -> Say | None:
    """1 - z, of z."""
    found = _COMPLEMENT.fullmatch(token.formula.latex) if token.kind == "formula" else None
    tree = token.formula.tree if found else None
    rest = next((tree[n + 1 :] for n, item in enumerate(tree) if is_token(item, "MINUS")), ()) if tree else ()
    own = Token("formula", "", token.start, (token.formula.part(rest, False),)) if rest else None
    return Say("ref", ("", own)) if own is not None and len(own.letters) == 1 else None


_COMPLEMENT = re.compile(r"\s*(?:\\(?:mathbf|mathbb|bm)\s*\{?\s*)?1\}?\s*-.*")
ATOMS |= {"complement": _complement}
def _rest_no_letters(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    if all(t.kind != "formula" for t in tokens[at:]):
        yield len(tokens), ""


_UNSAFE = words_of("en", "UNSAFE")


def _safe(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A word that names things and changes nothing."""
    for phrase in ("one", "hot"), ("two", "dimensional"), ("one", "dimensional"), ("correct", "class"), ("p", "norm"):
        if tuple(t.text for t in tokens[at : at + 2]) == phrase:
            yield at + 2, ""
    if at < len(tokens) and tokens[at].kind == "word" and tokens[at].text not in _UNSAFE:
        yield at + 1, ""


_COMPUTING = ("part", "operation", "twist", "model", "joined", "skip", "statistic")


def _free(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A word that no row knows and that names no layer and no operation: what data are of, and where they come from."""
    if at < len(tokens) and tokens[at].kind == "word":
        word = tokens[at].text
        known = len(word) == 1 or word in _NUMBERS or word in vocabulary("en")
        if not known and not any(spans(word, family) for family in _COMPUTING):
            yield at + 1, ""


_ALTERED = words_of("en", "ALTERED")


def _datum(token: Token) -> str | None:
    """A word before an image or a signal that changes nothing of it."""
    other = token.kind != "word" or _number(token) is not None or token.text in _UNSAFE or token.text in _ALTERED
    return None if other else ""


_STORY = words_of("en", "STORY")
_NAMED = frozenset("network net model layer unit cell block".split())


def _story(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, Say]]:
    """All of a sentence that says nothing of layers: what no row knows, and no kind of network either."""
    free = [any(True for _ in _free(tokens, n)) for n in range(len(tokens))]
    kinds = (free[n] and tokens[n + 1].text in _NAMED for n in range(len(tokens) - 1))
    if at == 0 and all(own or t.text in _STORY for own, t in zip(free, tokens, strict=True)) and not any(kinds):
        yield len(tokens), Say("story")


_GEOMETRY = words_of("en", "GEOMETRY")


def _geometry(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words on windows only: they are read and held against the formulas as such."""
    n, named = at, False
    while n < len(tokens) and (tokens[n].text in _GEOMETRY or tokens[n].kind in ("size", "number", "formula") and not
                               tokens[n].formulas[:1] or tokens[n].kind in ("size", "number", "formula", "sign")):
        if tokens[n].kind == "formula" and tokens[n].equates:
            return
        named |= tokens[n].text in ("window", "windows", "stride", "padding")
        n += 1
        if named:
            yield n, ""


def _hint(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A hint says how, and changes nothing, unless a formula stands in it."""
    if not any(t.kind == "formula" and t.equates for t in tokens[at:]):
        yield len(tokens), ""


def _aside(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Of what would be: the sentence says nothing of what is."""
    if any(t.text in ("would", "could", "were") for t in tokens[at:]):
        yield len(tokens), ""


def _pooled(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A pooling and its windows, whose words are accounted for where windows are read."""
    named = False
    for n in range(at, len(tokens)):
        named |= tokens[n].text.startswith(("pool", "window"))
        derived = bool(tokens[n].formulas) and tokens[n].said is Said.DERIVATIVE
        if derived or orders(tokens, n) or tokens[n].text == "respect":
            return
        if named:
            yield n + 1, ""


_POOLING = _GEOMETRY | frozenset("max average mean pool pooling layer temporal spatial unit filter ( ) ,".split())


def _pooling(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A pooling named by its kind and its windows, and by nothing else."""
    named = False
    for n in range(at, len(tokens)):
        if tokens[n].kind not in ("number", "size") and tokens[n].text not in _POOLING:
            return
        named |= tokens[n].text in ("pool", "pooling")
        if named:
            yield n + 1, ""


_TROUBLE = words_of("en", "CHANGES_REQUEST") | words_of("en", "OF_ANOTHER")
_STOPS = frozenset({",", ")", ":", "and"})


def _plain(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words and letters up to a comma, an “and” or the end that name no part and change nothing of a derivative."""
    n = at
    while n < len(tokens) and (_is_plain(tokens, n) or _is_part(tokens, n) or (tokens[n].text == "and" and n > at)):
        n += 3 if tokens[n].text == "(" else 1
        if n == len(tokens) or tokens[n].text in _STOPS or orders(tokens, n):
            yield n, ""


def _is_part(tokens: Sequence[Token], n: int) -> bool:
    """(a) of «your result from (a)»."""
    texts = [t.text for t in tokens[n : n + 3]]
    return len(texts) == 3 and texts[0] == "(" and texts[2] == ")" and len(texts[1]) < 3


def _is_plain(tokens: Sequence[Token], n: int) -> bool:
    token = tokens[n]
    if token.formulas:
        return bool(token.letters)
    changes = token.text in _TROUBLE or orders(tokens, n) or bool(spans(token.text, "part"))
    return token.kind == "word" and not changes


def _question(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a question that asks for no derivative and writes no formula."""
    if not asks(tuple(tokens)) and not any(t.kind == "formula" and t.equates for t in tokens):
        yield len(tokens), ""


_CONCEPTS = words_of("en", "CONCEPTS") | words_of("en", "CHANGES") | words_of("en", "CHANGES_REQUEST")


def _neutral(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words up to a comma or the end, of which none belongs to a layer, computes, counts or denies."""
    n = at
    while n < len(tokens) and tokens[n].kind == "word" and _number(tokens[n]) is None and not (
            tokens[n].text in _CONCEPTS or orders(tokens, n) or spans(tokens[n].text, "part")):
        n += 1
        if n == len(tokens) or tokens[n].text == ",":
            yield n, ""


_VALUED = frozenset("zero one ones constant equal half twice negative not no never unit random independent "
                    "same".split())


def _arrives(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a sentence that says where a gradient comes from, and no value of it."""
    if all(not t.formulas or t.letters for t in tokens[at:]) and not any(
            t.text in _VALUED or t.kind in ("number", "size") or orders(tokens, at + n)
            for n, t in enumerate(tokens[at:])):
        yield len(tokens), ""


def _side(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a sentence that gives no formula, no number and no order."""
    if at < len(tokens) and not any(t.equates or t.sets for t in tokens[at:] if t.formulas) and not any(
            t.kind in ("number", "size") or orders(tokens, at + n) for n, t in enumerate(tokens[at:])):
        yield len(tokens), ""


_WINDOWS = words_of("en", "OF_WINDOWS")


def _drawing(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """How a figure looks, up to the bracket or the end: nothing of what windows are."""
    for n in range(at, len(tokens) + 1):
        if n == len(tokens) or tokens[n].text == ")":
            yield n, ""
            return
        if tokens[n].text in _WINDOWS or tokens[n].formulas:
            return


RUNS: dict[str, Callable[[Sequence[Token], int], Iterator[tuple[int, Any]]]] = {
    "actname": _part_of(ACTIVATIONS), "losspart": _part_of(LOSSES), "REST": request_atoms.rest,
    "REST_WORDS": request_atoms.rest_of_words, "any": _bracketed,
    "poolingwords": _pooled,
    "pooling": _pooling,
    "REST_ASIDE": _aside, "REST_HINT": _hint,
    "safe": _safe, "DRAWING": _drawing,
    "free": _free,
    "story": _story,
    "geometry": _geometry,
    "REST_NO_LETTERS": _rest_no_letters,
    "REST_LETTERS": request_atoms.rest_of_letters,
    "QREST": _question,
    "PLAIN": _plain,
    "NEUTRAL": _neutral,
    "SIDE": _side,
    "ARRIVES": _arrives,
    "SIDE_UNIT": _plain,
}

_FORMULA, _WORD = frozenset({"formula"}), frozenset({ANY})
_NUMBERED = frozenset({"number", "formula"})
KINDS = tuple({**dict.fromkeys(ATOMS, _FORMULA), **dict.fromkeys(RUNS, _WORD),
               "number": frozenset({"number", "word"}), "count": frozenset({"number", "formula", "word"}),
               "formula": frozenset({"number", "formula", "size"}),
               "nameable": frozenset({"number", "formula", "size"}),
               "LB": frozenset({"sign"}), "RB": frozenset({"sign"}),
               "letterword": frozenset({"word"}), "datum": frozenset({"word"}), "size": frozenset({"size"})}.items())
ROWS = indexed("en", KINDS)


def says(said: Any, kind: str) -> bool:
    """Whether something of this kind stands in what was said."""
    own = isinstance(said, Say) and said.kind == kind
    return own or any(says(one, kind) for one in (said.of if isinstance(said, Say) else said if isinstance(
        said, (list, tuple)) else ()))


def meanings(tokens: Sentence) -> list[Any]:
    """All that a sentence may say; raises :class:`Unread` where the rows do not read all of it."""
    parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
    found = list(dict.fromkeys(parse.whole("sentence")))
    if not found:
        read, rest = (" ".join(map(str, part)) for part in (tokens[: parse.furthest], tokens[parse.furthest :]))
        raise Unread(f"{read} <<>> {rest}")
    return [one for one in found if says(one, "own")] or found  # «a leaky ReLU, f(z) = …» is one thing


_SETTLED = frozenset("asks messages messages_jacobian messages_vjp messages_forward besides skip given case".split())


def is_settled(tokens: Sentence) -> bool:
    """An order of which the rows read all, and by letters, derivatives and messages alone what is asked."""
    try:
        return asks(tokens) and all(map(_settled, _flat(meaning(tokens))))
    except Unread:
        return False


def _settled(said: Say) -> bool:
    match said.kind:
        case "asks":
            return all(map(_settled, said[0]))
        case "derivs":
            return all(token.said in (Said.DERIVATIVE, Said.GRADIENT) for token in _flat(said[0]))
        case "grads":
            return all(by.kind in ("wrtletters", "wrtnoun") for by in _flat(said[0]))
    return said.kind in _SETTLED


def meaning(tokens: Sentence) -> Any:
    """The first of them in the order of the rows."""
    return meanings(tokens)[0]
