"""Functions that formulas apply and that words, or their own names, say: «the sigmoid σ», tanh, σ of a gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derive.functions import FUNCTIONS, SHORT, Function
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten, trees
from derive.notation.rules.functions import applied, defined
from derive.notation.rules.trees import all_runs, letters, sides, statements, with_trees
from derive.notation.symbols import GREEK, latex_of
from derive.notation.tree import Group, Item, base_of, is_token, split
from derive.question.words.lexicon import Span, begins, named
from derive.question.words.prose import Prose


def _body(function: Function | None, argument: str, sloped: bool = False) -> str:
    """What a function computes of its argument; empty where that takes a slope that the card does not have."""
    if function is None:
        return ""
    return rf"{function.latex}({argument})" if function.elementary else function.defined(argument, sloped)


KNOWN = {part: FUNCTIONS[name] for part in (
    "relu", "sigmoid", "tanh", "softplus", "silu", "mish", "gelu", "softsign", "hard_tanh", "hard_sigmoid",
    "hard_swish", "identity") if _body(FUNCTIONS.get(name := SHORT.get(part.replace("_", ""), part)), "u")}
_LETTERS = frozenset("sigma Phi phi varphi psi rho theta eta f g h".split())  # that usually stand for a function


def with_named(formulas: Sequence[Formula], prose: Prose) -> list[Formula]:
    """The formulas, and a definition for each function that is applied by name and not written out."""
    return [*with_trees(_missing(formulas, prose)), *formulas]


def _missing(formulas: Sequence[Formula], prose: Prose) -> Iterator[Formula]:
    """σ(u) = … for each function that is applied and not defined, at the line where it is applied."""
    used = letters(formulas)
    argument = next(c for c in ("u", "v", "r", "z", "q", "a") if c not in used or c == "a")
    settled = {name for f in formulas for name in defined(f)}
    places: dict[str, Formula] = {}
    for formula in formulas:
        for name in applied(formula):
            places.setdefault(name, formula)
    for name, place in places.items():
        word = len(name) > 2 and name not in GREEK
        if name not in settled and (word or name in _LETTERS):
            logistic = name == "sigma" and (_of_two_classes(name, formulas) or is_unsaid(name, prose))
            function = FUNCTIONS.get(SHORT.get(name.lower(), "")) if word else _called(name, prose) or (
                FUNCTIONS["sigmoid"] if logistic else None)
            body = _body(function, argument, r"alpha" in used and word)
            if body:
                yield _definition(name, argument, body, place)


def is_unsaid(name: str, prose: Prose) -> bool:
    """σ(z) of which nothing is said: the logistic function.

    Not where a σ stands without an argument, or with a prime, and none of a logarithm: it may be a softmax there.
    """
    formulas = with_trees(prose.formulas)
    runs = [run for f in formulas for run in all_runs(f.tree or ())]
    own = [(run, n) for run in runs for n, item in enumerate(run) if str(base_of(item)) == name]
    plain = all(is_token(run[n], "NAME") and trees.called(run, n) is not None for run, n in own)
    logs = any(is_token(item, "FN") and str(item) in ("log", "ln") for run in runs for item in run)
    said = any(True for _ in _said(name, prose)) or _functions(prose.text) or named(
        prose.text, "unnamed.activation", "part.softmax", "called.function")
    return bool(own) and plain and not (logs or said or any(name in defined(f) for f in rewritten(formulas)))


def _definition(name: str, argument: str, body: str, at: Formula) -> Formula:
    return Formula(f"{latex_of(name)}({argument}) = {body}", at.line, at.column, False)


def _of_two_classes(name: str, formulas: Sequence[Formula]) -> bool:
    """log(1 − p) of p = σ(z), or log σ(−z): σ is the probability of one of two classes, and no softmax."""
    parts = (sides(part) for f in formulas for part in statements(f.tree or ()))
    own = {name} | {str(base_of(two[0][0])) for two in parts if len(two) > 1 and two[0] and str(two[-1][0]) == name}

    def other(first: Item, second: Item | None) -> bool:
        if isinstance(first, Group):
            _, *terms = split(first.items, "MINUS")
            return str(first.items[0]) == "1" and len(terms) == 1 and str(base_of(terms[0][0])) in own
        return str(first) == name and isinstance(second, Group) and is_token(second.items[0], "MINUS")

    return any(is_token(item, "FN") and str(item) in ("log", "ln") and behind and other(behind[0], (*behind, None)[1])
               for f in formulas for run in all_runs(f.tree or ())
               for item, behind in ((item, run[n + 1 : n + 3]) for n, item in enumerate(run)))


def _known(span: Span) -> str | None:
    """The part that a span names, where it is a function that is written without letters of its own."""
    name = span.concept.partition(".")[2]
    return name if name in KNOWN else None


def _functions(text: str) -> list[str]:
    """The functions that a text names, each once."""
    return list(dict.fromkeys(name for span in named(text, "part") if (name := _known(span)) is not None))


def _said(letter: str, prose: Prose) -> Iterator[str]:
    """The words around a letter that stands by itself, as σ or σ(·), up to other formulas."""
    for gap in prose.gaps:
        tree = gap.formula.tree or ()
        if not tree or len(tree) > 1 + (trees.called(tree, 0) is not None) or trees.letter(tree[0]) != letter:
            continue
        start, stop = prose.sentence(gap.start)
        others = [g.start for g in prose.gaps if g is not gap]
        start = max([start, gap.start - 60, *(at for at in others if at < gap.start)])
        stop = min([stop, gap.start + 80, *(at for at in others if at > gap.start)])
        if begins(prose.text, gap.start + 1, "naming.is"):
            start = gap.start  # «$f$ is the tanh and $g$ is the sigmoid»
        yield prose.text[start:stop]


def _called(letter: str, prose: Prose) -> Function | None:
    """What the words say of a letter: «the sigmoid σ», «σ is the logistic function»; σ of «logistic regression»."""
    said = [*_said(letter, prose)]
    for around in said:
        found = _functions(around)
        if len(found) == 1:
            return KNOWN[found[0]]
        if not found and named(around, "called.logistic"):
            return FUNCTIONS["sigmoid"]
        if named(around, "called.normal") and named(around, "called.cumulative"):
            return FUNCTIONS["normcdf"]
    found = _functions(prose.text)
    if letter == "sigma" and ("sigmoid" in found or named(prose.text, "gated") or (
            not said and named(prose.text, "model.linear-sigmoid"))):
        return FUNCTIONS["sigmoid"]
    if letter == "Phi":
        return FUNCTIONS["normcdf"] if found == ["gelu"] else None
    mentioned = any(word in prose.text for word in ("activation", "nonlinear", "non-linear", "aktivač"))
    whole = len(found) == 1 and found[0] in _GATES and _beside_argument(letter, prose)  # x φ(x) is the swish, not φ
    return KNOWN[found[0]] if len(found) == 1 and mentioned and not whole else None


_GATES = {"silu", "mish", "gelu", "hard_swish"}  # u times something


def _beside_argument(letter: str, prose: Prose) -> bool:
    """x φ(x) stands in a formula."""
    runs = (run for f in prose.formulas for run in all_runs(f.tree or ()))
    triples = (run[n - 1 : n + 2] for run in runs for n in range(1, len(run) - 1))
    return any(str(name) == letter and isinstance(at, Group) and trees.spelt(at.items) == trees.spelt((before,))
               for before, name, at in triples)
