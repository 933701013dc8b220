"""What a question asks to show: equations between derivatives behind «Show that …», in the layer's letters."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import derive.expr as ex
import derive.notation.tree as tr
from derive.errors import DeriveError
from derive.expr import Entry, Fn, Node, Partial, Rel, transform, walk
from derive.module import Module
from derive.notation.elaboration import read_formula
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.rules.trees import all_runs
from derive.notation.symbols import name_of
from derive.question.sentences.grammar import words_of
from derive.question.words.lexicon import named
from derive.question.words.prose import Gap, Prose
from derive.question.words.reading import Read

_LETTERS = re.compile(r"[^\W\d_]+")


def to_show(read_: Read, prose: Prose, module: Module) -> Iterator[tuple[Formula, Rel | None]]:
    """Each formula that is to be shown, and its equation; None of one that is not judged.

    That is one in other letters, and one of a sentence that may say where it holds: a word in it restricts it, or
    another formula compares something.
    """
    claimed = [gap for gap in prose.gaps if _of_derivatives(gap.formula)]
    for gap in claimed:
        start, stop = prose.sentence(gap.start)
        before = prose.text[start : gap.start]
        if not any(before.startswith((" that", " whether"), s.stop) for s in named(before, "claim.shown")):
            continue
        here = {g.formula for g in prose.gaps if start <= g.start < stop} - {g.formula for g in claimed}
        others = any(isinstance(n, (Rel, ex.In, ex.Given)) for f, n in read_.nodes if f in here)
        yield gap.formula, None if others or not _plain(prose.text[start:stop]) else _claim(gap, read_, module)


def _of_derivatives(formula: Formula) -> bool:
    """∂y/∂x = …, f'(x) = …"""
    first = (formula.tree or (None,))[0]
    primed = isinstance(first, tr.Scripted) and first.primes > 0
    return kind_of(formula) is Said.GRADIENT or primed and equates(formula)


def _plain(sentence: str) -> bool:
    """Whether no word of it may restrict an equation in it."""
    plain = words_of("en", "CLAIM_PLAIN") | {"where"}
    known = {at for span in named(sentence, "claim.shown", "ask.verb") for at in range(span.start, span.stop)}
    return all(m[0].lower() in plain for m in _LETTERS.finditer(sentence) if len(m[0]) > 1 and m.start() not in known)


def _claim(gap: Gap, read_: Read, module: Module) -> Rel | None:
    """The equation in the layer's letters: ∂f/∂x of f'(x), and f of f(x), where f is the output."""
    read = (n for f, n in read_.nodes if f == gap.formula and isinstance(n, Rel))
    node = next(read, None) or _of_output(gap.formula, module)
    if not isinstance(node, Rel) or node.ops != ("=",):
        return None
    head, _ = module.definition(module.output)

    def of_output(part: Node) -> Node | None:
        if isinstance(part, Fn) and not head.indices and part.args in {(Entry(x, ()),) for x in module.inputs}:
            return {module.output: head, f"{module.output}'": Partial(head, part.args[0])}.get(part.name)
        return None

    found = transform(node, of_output, Fn)
    letters = {*module.given, *module.defined}
    known = all(n.tensor in letters if isinstance(n, Entry) else not n.name.endswith("'")
                for n in walk(found) if isinstance(n, (Entry, Fn)))
    return found if known and any(isinstance(n, Partial) for n in walk(found)) else None


def _of_output(formula: Formula, module: Module) -> Node | None:
    """σ(1 − σ), with the output for the function: a product, unless the bracket holds one thing alone."""
    applied = any(name_of(str(tr.base_of(a))) == module.output and tr.is_group(b, "LPAREN") and len(b.items) == 1
                  for run in all_runs(formula.tree or ()) for a, b in itertools.pairwise(run))
    try:
        return None if applied else read_formula(formula, module.table)
    except DeriveError:
        return None
