"""Conditions in words of what an equation differentiates by: «if the input is positive», «is the largest of …»."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from derive.expr import (
    ONE,
    ZERO,
    And,
    Bracket,
    Cond,
    Entry,
    Fn,
    Idx,
    Num,
    Partial,
    Reduce,
    Rel,
    conditions,
    eq,
    subst,
)
from derive.formulas import formulas
from derive.functions import SPELLINGS
from derive.module import Module
from derive.notation import tree as tr
from derive.notation import write
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten, trees
from derive.notation.rules.functions import applied, defined
from derive.notation.symbols import Kind, Symbol, latex_of, name_of
from derive.question.letters.applied import with_named
from derive.question.sentences.grammar import grammar, words_of
from derive.question.words.prose import prose_of
from derive.question.words.reading import read_parts

_SIGNS = {"NONNEGATIVE": "≥", "NONPOSITIVE": "≤", "POSITIVE": ">", "NEGATIVE": "<"}
# the temperature $T$; an adjective may restrict: the optimal $w$
NAMING = re.compile(r"\b([a-z]{3,}?(?<!ed|al|ar|ic|um)(?<!ing|ive|ant|ous|ble))\s+\$\s*(\\[A-Za-z]+(?:\{\w+\})?|\w)")
_PLACES = re.compile(r"\\arg|\*|\)\s*&?=")  # (i, j) = (0, 1)
_GAP = r"(?:\s|\\[,;:! ])*"
_NUMBER = _GAP + r"-?(?:\d+(?:\.\d+)?(?:/\d+)?|\\[td]?frac\s*(?:\{\d+\}|\d)\s*(?:\{\d+\}|\d))" + _GAP
_TRANSPOSE = r"(?:\s*\^\s*\{?\s*(?:\\top|T|\\mathsf\{T\})\s*\}?)?"
_LIST = re.compile(rf"(?<==)\s*(?:\\left)?[(\[]({_NUMBER}(?:,{_NUMBER})+)(?:\\right)?[)\]]{_TRANSPOSE}(?![\w^(\\])")
_WHOLE = re.compile(r"\s*([^=^(]+?)\s*=\s*(?:\\(?:mathbf|boldsymbol)\s*)?(?:\{\s*([01])\s*\}|([01]))\s*[.,;]?\s*")
_IDENTITY = re.compile(r"(?<![A-Za-z\\{_^])(?:\\mathbf\s*(?:\{I\}|I)|I)(?:_(?:\w|\{\w+\}))?(?![A-Za-z_\[(^'])")
_OF_MATRICES = re.compile(r"\\top|diag|\\partial|^[^=]*=\s*(?:\\mathbf\s*)?\{?I\}?[\s.,;]*$")
# f'(0) = …, \ell'(-0.5) = …, f(1) = …
_AT_NUMBER = re.compile(rf"\s*(?P<name>\\?[A-Za-z]+)(?P<prime>\s*'?)\s*(?:\\left)?\(({_NUMBER})(?:\\right)?\)\s*="
                        r"(?P<value>[^=]+)")
_APPLIED = re.compile(r"(\\?[A-Za-z]+)\s*'?\s*(?:\\left)?\(\s*(\\?[A-Za-z]+)\s*(?:\\right)?\)")
_NEXT_ROW = r"\\"
_DELTA = re.compile(r"\\delta(?![A-Za-z_^])")
_UPSTREAM = re.compile(r"\s*\\delta\s*&?\s*(?::=|=)\s*(?:\\[dt]?frac\s*\{\s*\\partial\s*\\?\w+\s*\}\s*\{\s*\\partial\s*"
                       r"(?P<by>\\?[A-Za-z]+)\s*\}|\\nabla_\{?\s*(?P<under>\\?[A-Za-z]+)\s*\}?\s*\\?\w+)"
                       r"[\s.,;:&]*(?:=|\\\\|$)")  # and nothing behind it: not ∂L/∂y (1 - y^2)
_PRIMED = re.compile(rf"\\({'|'.join(SPELLINGS)})\s*(?='|\^\{{?\s*\\prime)")
_BARE = re.compile(r"\s*(\\[A-Za-z]+)\s*'\s*&?=")  # \sigma' = …
_FREE = "rho phi psi chi varphi omega zeta xi".split()  # letters for functions
_OPENS = r"(?:if|when|whenever|where|for|provided)\s+"


@cache
def rows(name: str) -> str:
    """The phrases of a name as a pattern."""
    found = (" ".join(f"(?:{'|'.join(sorted(p.choices))})" for p in row.pieces) for row in grammar("en")[name])
    return r"\b(?:" + "|".join(re.sub(r"[ ]", r"[\\s-]+", row) for row in sorted(found, key=len, reverse=True)) + r")\b"


def _largest(shut: str, named: str) -> str:
    """Is the maximum of its window; ``shut`` ends the words, ``named`` a window with its name."""
    return rf"(?:{rows('CLAIM_IS')})\s+(?:(?P<max>{rows('CLAIM_MAXIMUM')})|(?P<min>{rows('CLAIM_MINIMUM')}))" + (
        rf"(?:\s+{rows('CLAIM_WINDOW')}{named}|{shut})(?!\s+(?:of|in|within|inside|among|over|along|for|at|and|or)\b)")


@cache
def phrase() -> re.Pattern[str]:
    """If the input is positive; for all negative inputs; when it is negative; if $x_i$ is the largest of its window."""
    signs = "|".join(f"(?P<{{0}}{name}>{rows(f'CLAIM_{name}')})" for name in _SIGNS)
    subject, largest_ = rows("CLAIM_SUBJECT"), _largest("", r"(?:\s+\0+)?")
    return re.compile(
        rf"{_OPENS}(?:(?:(?:the|its|this|an|a|all|any|every)\s+)?(?:(?:{subject}|(?P<it>\bit\b))\s+(?:is|are)\s+"
        rf"(?:{signs.replace('{0}', 'is_')})|(?:{signs.replace('{0}', 'of_')})\s+{subject})"
        rf"|(?P<letter>\0+)\s+{largest_}"
        rf"|(?P<own>\0+)\s+(?:is|are)\s+(?:{signs.replace('{0}', 'own_')}))", re.IGNORECASE)


@cache
def _in_cases() -> re.Pattern[str]:
    r"""x_{ij} \text{ is the maximum of window } (k, l)"""
    shut = r"\s*[.,]?\s*\}"
    words = _largest(shut, rf"(?:\s*\}}\s*\([^()]*\)|{shut})")
    return re.compile(rf"[A-Za-z]_(?:\{{[^{{}}]*\}}|\w)\s*\\(?:text|mbox|textrm)\{{\s*{words}", re.IGNORECASE)


@cache
def _signed() -> re.Pattern[str]:
    r"""x_k \text{ is positive}"""
    signs = "|".join(f"(?P<{name}>{rows(f'CLAIM_{name}')})" for name in _SIGNS)
    return re.compile(rf"\\(?:text|mbox|textrm)\{{\s*(?:is|are)\s+(?:{signs})\s*[.,]?\s*\}}", re.IGNORECASE)


def with_functions(asked: Sequence[Formula], written: Sequence[Formula], question: str, text: str,
                   module: Module) -> tuple[list[Formula], list[Formula], Module]:
    r"""Equations of functions that a solution applies and no formula tells, what it writes with them, their letters.

    \sigma(u) = … where words name it; \phi(u) = \tanh(u) for \tanh'(s), which is written \phi'(s).
    """
    whole = f"{question}\n\n{text}"
    names = dict.fromkeys(m[1] for f in written for m in _PRIMED.finditer(f.latex))
    primed = dict(zip(names, (rf"\{c}" for c in _FREE if rf"\{c}" not in whole), strict=False))
    found = [replace(f, latex=_PRIMED.sub(lambda m: primed.get(m[1], m[0]), f.latex)) for f in written]
    new = [replace(written[0], latex=rf"{letter}(u) = \{name}(u)", line=0) for name, letter in primed.items()]
    own = rewritten([*asked, *new, *found])
    told = {f.name for f in module.functions} | {name for f in own for name in defined(f)}
    if {name for f in own for name in applied(f)} - told:
        named_ = with_named(own, prose_of(whole, 1, rewritten(formulas(whole))))
        by_words = named_[:len(named_) - len(own)]
        new += [replace(f, line=0) for f in by_words if not told.issuperset(defined(f))]
    symbols = [Symbol(name, latex_of(name), Kind.FUNCTION, ("u",)) for f in rewritten(new) for name in defined(f)]
    return new, found, replace(module, table=module.table.extended(symbols)) if symbols else module


def with_argument(formula: Formula) -> Formula:
    r"""\sigma'(u) = \sigma(u)(1 - \sigma(u)) for \sigma' = \sigma(1 - \sigma), where none has an argument."""
    head = _BARE.match(formula.latex)
    if head is None:
        return formula
    applied_ = re.finditer(rf"\{head[1]}\s*(?:'|\^\S+)?\s*(?:\\left)?\(([^()]*)", formula.latex)
    if any(head[1] not in one[1] for one in applied_):
        return formula
    own = re.compile(rf"(\{head[1]}\s*'?\s*(?:\^\s*(?:\d|\{{\d\}}))?)(?![A-Za-z'^])")
    return replace(formula, latex=own.sub(r"\1(u)", formula.latex))


def labelled(written: Sequence[Formula], module: Module) -> list[Formula]:
    r"""\delta as \delta_z where a formula says δ = ∂L/∂z: it has the shape of z then."""
    found = {m["by"] or m["under"] for f in written if (m := _UPSTREAM.match(f.latex)) is not None}
    if len(found) != 1 or any(s.latex == r"\delta" for s in module.table.symbols):
        return [*written]
    letter = name_of(next(iter(found)))

    def below(item: tr.Item) -> tr.Item:
        bare = tr.is_token(item, "NAME") and str(item) == "delta"
        return tr.Scripted(item, ((trees.name(letter, item),),), (), 0, item.start, item.end) if bare else item

    def run(items: trees.Run) -> trees.Run:
        return tuple(map(below, items))

    return [f if _DELTA.search(f.latex) is None else trees.changed([f], lambda tree: trees.mapped(tree, run))[0]
            for f in trees.with_trees(written)]


def identities(written: Sequence[Formula], module: Module) -> list[Formula]:
    r"""I - y y^\top as \operatorname{diag}(\mathbf{1}) - y y^\top, where I is no letter of the layer or of the text."""
    if module.table.named("I") is not None or any(re.match(r"\s*I\b[^=]*=|\s*I_", f.latex) for f in written):
        return [*written]
    return [replace(f, latex=_IDENTITY.sub(r"\\operatorname{diag}(\\mathbf{1})", f.latex))
            if _OF_MATRICES.search(f.latex) else f for f in written]


def arguments(written: Iterable[Formula]) -> dict[str, str]:
    """x of f(x) and f'(x), where it is always that."""
    found = dict[str, set[str]]()
    for m in (m for f in written for m in _APPLIED.finditer(f.latex)):
        found.setdefault(name_of(m[1]), set()).add(m[2])
    return {name: next(iter(letters)) for name, letters in found.items() if len(letters) == 1}


def respelled(formula: Formula, module: Module, applied_to: Mapping[str, str] = MappingProxyType({})) -> Formula:
    """Its conditions in words as relations, where its head says of which derivative; x = (1, 2)^⊤ as a column.

    w = 0 of a vector as w_j = 0, f'(0) = … as f'(x) = … if x = 0.
    """
    latex = _signed().sub(lambda m: f"{next(op for name, op in _SIGNS.items() if m[name])} 0", formula.latex)
    if not _PLACES.search(latex):
        latex = _LIST.sub(lambda m: rf"\begin{{pmatrix}} {m[1].replace(',', _NEXT_ROW)} \end{{pmatrix}}", latex)
    at = _AT_NUMBER.fullmatch(latex)
    argument = applied_to.get(name_of(at["name"]), "") if at is not None else ""
    letter = module.table.named(name_of(argument)) if argument else None
    if at is not None and letter is not None and not letter.axes and letter.name in module.given:
        latex = (f"{at['name']}{at['prime']}({argument}) = {at['value'].rstrip(' .,;')}"
                 rf" \quad \text{{if }} {argument} = {at[3]}")
    whole = _WHOLE.fullmatch(latex)
    letter = module.table.named(name_of(whole[1])) if whole is not None else None
    if whole is not None and letter is not None and letter.axes and letter.name in module.given:
        each = Entry(letter.name, tuple(map(Idx, letter.axes)))
        latex = write(eq(each, Num(Fraction(whole[2] or whole[3]))), module.table)
    formula = formula if latex == formula.latex else replace(formula, latex=latex)
    found = _in_cases().search(formula.latex)
    if found is None:
        return formula
    head = next((node.terms[0] for _, node in read_parts(Formula(
        formula.latex.partition("=")[0] + "= 0", formula.line, 0, True), module.table) if isinstance(node, Rel)), None)
    cond = largest(head, "max" if found["max"] else "min", module)
    if cond is None:
        return formula
    said = ", ".join(write(c, module.table) for c in conditions(cond))
    return replace(formula, latex=formula.latex[:found.start()] + said + formula.latex[found.end():])


def classed(written: Sequence[Formula], module: Module) -> list[Formula]:
    r"""L of L = -\log p_c, with c on one side alone, as L_c, of which the layer's loss has an entry for each class."""
    output = module.table.named(module.output)
    if output is None or len(output.axes) != 1:
        return [*written]
    bare = re.compile(rf"(?<![A-Za-z\\]){re.escape(output.latex)}(?![A-Za-z_'^(]|\s*_)")
    entry = rf"{output.latex}_{{{output.axes[0]}}}"
    return [replace(f, latex=bare.sub(lambda _: entry, f.latex)) for f in written]


def condition(found: re.Match[str], equation: Rel, module: Module) -> Cond | None:
    """x_k > 0 beside ∂y_k/∂x_k = … and δ_{x,k} = …, s > 0 beside f'(s) = …."""
    head = equation.terms[0]
    if found["letter"]:
        return largest(head, "max" if found["max"] else "min", module)
    sign = next(op for name, op in _SIGNS.items() if found[f"is_{name}"] or found[f"of_{name}"] or found[f"own_{name}"])
    about = head.wrt if isinstance(head, Partial) else head.args[0] if isinstance(head, Fn) and head.args else None
    if isinstance(head, Entry) and head.tensor.startswith("delta_"):
        about = Entry(head.tensor.removeprefix("delta_"), head.indices)
    return Rel((about, ZERO), (sign,)) if isinstance(about, Entry) else None


def largest(head: object, op: str, module: Module) -> Cond | None:
    """Of ∂y_k/∂x_i for y_k = max_{p} x_{2k+p}: x_i = max_p x_{2k+p}, and i = 2k + p for some p."""
    if not isinstance(head, Partial) or not isinstance(head.of, Entry) or not isinstance(head.wrt, Entry):
        return None
    for equation in module.equations:
        told, value = equation.terms[0], equation.terms[-1]
        over = value.body if isinstance(value, Reduce) and isinstance(told, Entry) else None
        if isinstance(over, Entry) and isinstance(told, Entry) and (told.tensor, over.tensor) == (
                head.of.tensor, head.wrt.tensor) and all(isinstance(i, Idx) for i in told.indices):
            here = subst(value, dict(zip(told.indices, head.of.indices, strict=True)))
            assert isinstance(here, Reduce) and isinstance(here.body, Entry)
            entry = Reduce(op, here.binder, here.body)
            same = And(tuple(eq(a, b) for a, b in zip(here.body.indices, head.wrt.indices, strict=True)))
            return And((eq(head.wrt, entry), eq(Reduce("sum", here.binder, Bracket(same)), ONE)))
    return None


def named(question: str, module: Module) -> frozenset[str]:
    """What the question calls the letters of its layer: of a part of the inputs such a word says nothing."""
    letters = {s.latex.partition("_")[0] for s in module.table.of_kind(Kind.TENSOR)}
    words = {m[1] for m in NAMING.finditer(question) if m[2] in letters}
    return frozenset(words | {f"{w}s" for w in words}) - words_of("en", "CLAIM_REGION") - words_of("en", "CLAIM_WHERE")
