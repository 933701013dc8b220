"""The equations of a solution: what each claims in the letters of the question, and which ones define letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from derive.errors import DeriveError
from derive.expr import And, Entry, Fn, Given, Idx, Node, Partial, Rel, Size, free_indices, walk
from derive.formulas import formulas
from derive.module import Module
from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten
from derive.notation.symbols import SymbolTable
from derive.question.reading import read_parts
from derive.records import dataclass
from derive.verify.check import unbound


@dataclass(frozen=True)
class Claim:
    """One link of an equation, ``head = value``; without a ``node`` it was not read, for the ``reason`` given."""

    formula: Formula
    node: Rel | None = None
    reason: str = ""
    definition: bool = False
    supposes: bool = False  # it may restrict the equations behind it, as x = 0


@dataclass
class Letters:
    """The letters of the question, and those that the solution has defined so far."""

    module: Module
    table: SymbolTable
    defined: dict[str, Node] = field(default_factory=dict)

    def unknown(self, node: Node) -> str:
        """A letter of which nothing is said."""
        module = self.module
        own = {*module.given, *module.defined}
        sizes = {s for symbol in module.table.symbols for s in symbol.sizes if isinstance(s, str)}
        arguments = {a.tensor for n in walk(node) if isinstance(n, Fn) and module.function(n.name.rstrip("'"))
                     for a in n.args if isinstance(a, Entry)} if _of_function(node, module) else set()
        for n in walk(node):
            if isinstance(n, Entry) and n.tensor.removeprefix("delta_") not in own | {*self.defined} | arguments:
                return n.tensor
            if isinstance(n, Size) and n.name not in sizes:
                return n.name
        return ""

    def defines(self, node: Rel) -> bool:
        """Whether it says what a new letter is, in known ones."""
        head = node.terms[0]
        if not isinstance(head, Entry) or node.ops != ("=",) or unbound(node):
            return False
        base = head.tensor.removeprefix("delta_")
        fresh = base not in {*self.module.given, *self.module.defined, *self.defined} and base == head.tensor
        distinct = all(isinstance(i, Idx) for i in head.indices) and len({*head.indices}) == len(head.indices)
        derived = any(isinstance(n, Partial) or isinstance(n, Entry) and n.tensor.startswith("delta_")
                      for n in walk(node))
        return fresh and distinct and not derived and not self.unknown(node.terms[1])


def _of_function(node: Node, module: Module) -> bool:
    """σ'(u) = …, about the number u alone."""
    head = node.terms[0] if isinstance(node, Rel) else None
    return isinstance(head, Fn) and module.function(head.name.rstrip("'")) is not None


def claims(text: str, first: int, module: Module) -> Iterator[Claim]:
    """Each equation of the solution, chains link by link, in order."""
    found = [f for f in formulas(text, first) if "=" in f.latex]
    written = rewritten(found)
    letters = Letters(module, gather(written, module.table))
    for formula in written:
        for part, node in read_parts(formula, letters.table):
            if isinstance(node, DeriveError):
                yield Claim(part, None, node.problems[0].message.partition(": ")[2] or str(node.problems[0].message))
            else:
                yield from _links(part, node, letters)


def _links(formula: Formula, node: Node, letters: Letters) -> Iterator[Claim]:
    if isinstance(node, Given):
        yield Claim(formula, None, "its condition is not understood")
        return
    parts = node.conds if isinstance(node, And) else (node,)
    equations = [p for p in parts if isinstance(p, Rel) and {*p.ops} == {"="}]
    given = {e.terms[0].tensor for e in equations if isinstance(e.terms[0], Entry)} & {*letters.module.given}
    if len(equations) < len(parts) or (given and len(parts) > 1):
        yield Claim(formula, None, "what stands beside the equation may say where it holds", supposes=True)
        return
    for equation in equations:
        head = equation.terms[0]
        for term in equation.terms[1:]:
            yield _link(formula, Rel((head, term), ("=",)), letters)


def _link(formula: Formula, link: Rel, letters: Letters) -> Claim:
    head = link.terms[0]
    if letters.defines(link):
        assert isinstance(head, Entry)
        letters.defined[head.tensor] = link
        return Claim(formula, link, definition=True)
    if (name := letters.unknown(link)):
        return Claim(formula, None, f"nothing says what `{name}` is")
    if isinstance(head, Entry) and head.tensor in {*letters.module.given, *letters.defined}:
        return Claim(formula, None, f"it says of `{head.tensor}` what was free, or said before", supposes=True)
    if (loose := unbound(link)):
        return Claim(formula, None, f"{loose} is free on the right and absent on the left")
    if not free_indices(head) and any(isinstance(n, Idx) for n in free_indices(link)):
        return Claim(formula, None, "an index is free")
    return Claim(formula, link)
