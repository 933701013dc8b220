"""What fixed sentences say: the word that decides each, and what it must be for this layer."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from derive.calculus.one_window import windowed
from derive.expr import Entry, Idx, Reduce, walk
from derive.magnitudes import EPSILONS
from derive.module import Module
from derive.notation import write
from derive.records import dataclass
from derive.verify.report import Check, Verdict
from derive.window_axis import WindowAxis

_LETTER = re.compile(r"\$([^$]+)\$")
_ROLES = {"the input": "inputs", "the inputs": "inputs", "a parameter": "parameters", "parameters": "parameters",
          "given": "constants", "input": "inputs", "parameter": "parameters",
          "given, not differentiated": "constants"}
# rules of one letter u, with f(u), by the words of their slopes
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "Exponential": math.exp, "Logarithm": math.log, "Hyperbolic tangent": math.tanh, "Absolute value": abs,
    "Reciprocal": lambda u: 1 / u, "Root": math.sqrt}
_SLOPES: dict[str, Callable[[float, float], float]] = {
    "its own derivative": lambda u, f: f, "one over the argument": lambda u, f: 1 / u,
    "1 minus its square": lambda u, f: 1 - f * f, "the sign of the argument": lambda u, f: math.copysign(1, u),
    "minus one over its square": lambda u, f: -1 / (u * u), "one over twice the root": lambda u, f: 1 / (2 * f)}
_RULE = (r"\*(" + "|".join(_FUNCTIONS) + r")\.\* (?:(?:It|Its derivative|Its slope|The derivative of a root) is|One "
         r"over something has the derivative) ([^,(]+?)(?: \(off 0\))?,")


@dataclass(frozen=True)
class Phrase:
    """A sentence is recognised by ``pattern``; what stands in its groups ``holds`` of the layer."""

    name: str
    pattern: str
    holds: Callable[..., bool]


def phrases(texts: Iterable[str], module: Module) -> Iterator[Check]:
    """What is said and does not hold."""
    plain = [text.replace("\u00a0", " ") for text in texts]
    for phrase in PHRASES:
        for found in told(phrase.pattern, plain):
            if not phrase.holds(module, *found.groups("")):
                yield Check("words", "", Verdict.REFUTED, f"What the words say of {phrase.name}",
                            f"they say “{found[0]}”")


def told(pattern: str, texts: Sequence[str]) -> Iterator[re.Match[str]]:
    """Where the texts say it."""
    literal = _literal(pattern)
    for text in texts:
        if literal in text:  # most say nothing like it, and a pattern takes long to compile
            yield from re.finditer(pattern, text)


@cache
def _literal(pattern: str) -> str:
    """A text that stands in all that a pattern matches: its longest run of letters outside of groups."""
    outer, groups = _CLASS.sub("\0", pattern), 1
    while groups:  # from inside out
        outer, groups = _GROUP.subn("\0", outer)
    return "" if "|" in outer else max(_LETTERS.findall(_OPTIONAL.sub("\0", outer)), key=len, default="")


_CLASS, _GROUP = re.compile(r"\\.|\[\^?\]?[^\]]*\]"), re.compile(r"\([^()]*\)")
_OPTIONAL, _LETTERS = re.compile(r".(?:[?*]|\{[^}]*\})"), re.compile(r"[\w ,]+")


def _is(*words: str) -> Callable[..., bool]:
    """Said of every layer in the same words."""
    return lambda module, *said: said == words


def _names(module: Module, letters: str) -> list[str]:
    """The tensors of letters in a sentence, with their indices or without."""
    known = {}
    for symbol in module.table.symbols:
        for entry in (Entry(symbol.name, ()), Entry(symbol.name, tuple(map(Idx, symbol.axes)))):
            known[write(entry, module.table, display=False)] = symbol.name
        known[symbol.latex] = symbol.name
    return [known.get(found, known.get(found.partition("_{")[0], "")) for found in _LETTER.findall(letters)]


def _roles(module: Module, letters: str, role: str) -> bool:
    found = _names(module, letters)
    known: tuple[str, ...] = getattr(module, _ROLES[role]) if role in _ROLES else ()
    known += tuple(n for n in module.inputs if n in EPSILONS) if role.startswith("given") else ()  # that is held fixed
    inner = {n for n in module.defined if n != module.output}
    return all(name in ({module.output} if role == "output" else inner if role == "intermediate" else known)
               for name in found if name)


def _by_kind(module: Module, kind: str, letters: str) -> bool:
    known = module.inputs if kind == "Backward" else module.parameters
    return all(name in known for name in _names(module, letters) if name)


def _slope(module: Module, name: str, words: str) -> bool:
    """The words' slope is that of the function, by difference quotients."""
    said, f = _SLOPES.get(words.strip()), _FUNCTIONS[name]
    return said is not None and all(abs((f(u + 1e-6) - f(u - 1e-6)) / 2e-6 - said(u, f(u))) < 1e-4 for u in (0.7, 1.9))


def _axes(module: Module) -> list[WindowAxis]:
    return [a for _, field in module.fields for a in field.axes if isinstance(a, WindowAxis)]


def _begins(module: Module, words: str, padded: str) -> bool:
    """Window k begins at s k, or at s k − p."""
    return words == "stride times its coordinate" and padded in ("", "less") and all(
        a.start(k, 99) == a.stride * k - (a.padding if padded else 0) for a in _axes(module) for k in (0, 1, 3))


def _op(module: Module) -> str:
    return next((w.window.op for w in windowed(module)), "")


def _extreme(module: Module, word: str) -> bool:
    """It is what a reduction of the layer takes."""
    ops = {n.op for e in module.equations for n in walk(e) if isinstance(n, Reduce)} | {_op(module)}
    return {"maximum": "max", "minimum": "min"}[word.lower()] in ops


def _short(module: Module, delta: str, of: str) -> bool:
    return _names(module, f"${of}$")[-1:] in ([module.output], [""]) and "partial" not in delta


PHRASES = (
    Phrase("a kind of message", r"(Backward|Parameter) message, the derivatives? of (?:all outputs )?\$[^$]+\$ with "
           r"respect to (?:all entries )?([^:]+):", _by_kind),
    Phrase("a kind of message", r"message, the derivatives of ([\w ]+?) outputs? \$", _is("all")),
    Phrase("a kind of message", r"(\w+) message(?:, the output \$[^$]+\$ step by step)?:$", _is("Forward")),
    Phrase("an extreme", r"(?:\*|where the )(?i:(maximum|minimum))(?: is attained|\.\*)", _extreme),
    Phrase("roles", r"(?:Here |, |and )((?:\$[^$]+\$(?:, | and )?)+) (?:is|are) "
           r"(the inputs?|parameters|a parameter|given)\b(?=[,. ])", _roles),
    Phrase("roles", r"(?<=[:;] )(\$[^$]+\$): (input|parameter|given, not differentiated|intermediate|output)(?=,)",
           _roles),
    Phrase("the upstream gradient", r"upstream gradient \$([^$]+)\$, short for \$\\partial \S+ / \\partial ([^$]+)\$",
           _short),
    Phrase("the upstream gradient", r"arrives here, (\d) where the output is the loss", _is("1")),
    Phrase("the upstream gradient", r"\$ (is|is not) known when the backward pass arrives", _is("is")),
    Phrase("an output alone", r"With \$[^$]+\$ (\d) at one output and (\d) at all others", _is("1", "0")),
    Phrase("a bracket", r"is (\d) where the condition in it holds, and (\d) elsewhere", _is("1", "0")),
    Phrase("a bracket", r"\*Bracket\.\* It is (\d) where its condition holds, and (\d) elsewhere", _is("1", "0")),
    Phrase("⊙", r"⊙ (\w+) (entry by entry|\w+)", _is("multiplies", "entry by entry")),
    Phrase("diag", r"diag (\w+ a vector on|\w+) the diagonal", _is("puts a vector on")),
    Phrase("**1**", r"\*\*1\*\* is a (\w+) of (\w+)", _is("column", "ones")),
    Phrase("shapes", r"; each (?:δ|\*\w\*) (has the shape of the letter in its index|[^,.]+)",
           _is("has the shape of the letter in its index")),
    Phrase("the rule of a function", _RULE, _slope),
    Phrase("a rule", r"The exponent \$[^$]+\$ comes down as a (\w+)", _is("factor")),
    Phrase("a rule", r"\*Sum\.\* Sum and derivative (.*?) exchanged", _is("may be")),
    Phrase("a rule", r"Only the term [^;.]* (contains|\w+ not contain) \$[^$]+\$; "
           r"(\w+ others \w+)", _is("contains", "all others vanish")),
    Phrase("a rule", r"Differentiate (\w+) factors? at a time, (\w+) the others, and (\w+)", _is("one", "keep", "add")),
    Phrase("a rule", r"\*Quotient\.\* (Numerator and denominator both|\w+ the \w+) depends?",
           _is("Numerator and denominator both")),
    Phrase("a rule", r"a small change ((?:\w+ not )?\w+) that index", _is("does not move")),
    Phrase("a rule", r"and its slope is (that term's|[^:]+): case by case", _is("that term's")),
    Phrase("a rule", r"(O\w+) the boundaries between them a small change stays within its case", _is("Off")),
    Phrase("a rule", r"\$ ([^,$]+), so (its derivative is [^:]+|it [^:]+):", _is(
        "enters linearly", "its derivative is its factor")),
    Phrase("contributions", r"too, but there the contributions (\w+)", _is("cancel")),
    Phrase("contributions", r"acts on the loss through (\w+) outputs? \$", _is("every")),
    Phrase("contributions", r"acts on the loss through [^:.]*\$, and the contributions (add up|\w+)",
           _is("add up")),
    Phrase("contributions", r"the way through them (is|is not) counted by", _is("is")),
    Phrase("contributions", r"give their terms in (\w+) order", _is("this")),
    Phrase("a decisive step", r"\*Fact\.\* The (\w+) step uses", _is("last")),
    Phrase("a decisive step", r"\*Cancellation\.\* The factor \$[^$]+\$ (cancels against|[^$]+?) the denominators",
           _is("cancels against")),
    Phrase("a definition", r"in place of (what it is defined as|[^:]+):", _is("what it is defined as")),
    Phrase("subdifferentials", r"holds the two slopes and (\w+) numbers? between them", _is("all")),
    Phrase("subdifferentials", r"one of them have ([\w ]+?) effects? and the derivative (does not exist|\w+)",
           _is("different", "does not exist")),
    Phrase("subdifferentials", r"the (convex hull|\w+) of the unit vectors of the active", _is("convex hull")),
    Phrase("subdifferentials", r"its entries are (not negative|\w+), they sum to (\d), and they are (\d) outside",
           _is("not negative", "1", "0")),
    Phrase("one-sided derivatives", r"The active entry that moves (up|down) fastest",
           lambda module, way: way == {"max": "up", "min": "down"}.get(_op(module))),
    Phrase("coordinates", r"Coordinates start at (\d+)", _is("0")),
    Phrase("windows", r"begins at ([^,]+?)(?:, (\w+) the padding,)? and covers", _begins),
    Phrase("windows", r"A window can only select an entry that it (\w+)", _is("contains")),
    Phrase("windows", r"A window can select (\w+) entr", _is("")),
    Phrase("windows", r"entries that its window covers, (row by row|in order|[a-z ]+?)(?= \(|:|$)",
           lambda module, words: not module.fields or words in {
               "row by row" if len(field.axes) > 1 else "in order" for _, field in module.fields}),
    Phrase("windows", r"the kernel is (\w+) than the stride", lambda module, than: all(
        (a.kernel_size > a.stride) == (than == "larger") for a in _axes(module) if a.kernel_size != a.stride)),
    Phrase("windows", r"windows?, and what they send back (adds up|[^(:.]+)", _is("adds up")),
    Phrase("windows", r"windows are clipped: they contain ([^.,]+)", _is("the entries that exist")),
    Phrase("windows", r"padding (\w+) wins a", _is("never")),
    Phrase("windows", r"a clipped window whose entries are all (below|above) 0",
           lambda module, side: side == {"max": "below", "min": "above"}.get(_op(module), side)),
    Phrase("windows", r"outputs, ([\w ]+?) windows fit", _is("as many as")),
    Phrase("windows", r"exactly one window, unless it ([^.]+)\. ", _is(
        "is part of a remainder at the far edge that fills no window and belongs to none")),
    Phrase("windows", r"is one entry, (\w+) smooth function", _is("a")),
    Phrase("windows", r"By symmetry (.*?) every entry", _is("the same holds for")),
    Phrase("an example", r"(An input (?:of the size in the question )?)(\w+) ties, and an upstream",
           lambda module, lead, word: word == "without"),
    Phrase("an example", r"Backward, each upstream gradient goes to ([^:]+?) of its window(, [a-z ]+)?:",
           lambda module, to, how: to == "the selected entry" and how in ("", ", adding up where windows share it")),
    Phrase("an example", r"Above, (\w+):.* Below, (\w+):", _is("forward", "backward")),
    Phrase("a curve", r"\((\w+)\) and its derivative \$[^$]+\$ \((\w+)\)", _is("solid", "dashed")),
    Phrase("a curve", r"the function ([\w ]+?) from", _is("goes")),
    Phrase("an example", r"rounded to (\d+) decimals", _is("4")),
    Phrase("a graph", r"(\w+) arrows: forward\. (\w+) arrows: the backward", _is("Solid", "Dashed")),
    Phrase("parameters", r"There is (\w+) parameter message",
           lambda module, word: word == "no" and not module.parameters),
)
