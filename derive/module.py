"""What a layer computes: its forward equations, who is who in them, and the window."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from derive.expr import (
    BINDING,
    ONE,
    Arg,
    Entry,
    Expr,
    Fn,
    Idx,
    In,
    Node,
    Partial,
    Reduce,
    Rel,
    SetApp,
    add,
    free_indices,
    subst,
    walk,
)
from derive.notation.symbols import SymbolTable
from derive.receptive_field import ReceptiveField
from derive.records import dataclass, replace

TIE_RULES = ("first", "last", "split")
FROM_ONE = "the card counts coordinates from 1; here they count from 0"
UNSAID = "nothing says otherwise"  # in how the role of a letter was read
_UNANSWERED, _LINE = "not answered, ", re.compile(r" \(line \d+\)$|(?<=: )line \d+: ")
Numbers = tuple[tuple[tuple[int, ...], Fraction], ...]  # entry by entry, as the layer counts
ROLES = ("inputs", "parameters", "constants")  # of the letters that a layer is given


@dataclass(frozen=True)
class Function:
    """f(s, …) = body: a function that the card defines; a parameter is a scalar entry of its name."""

    name: str
    parameters: tuple[str, ...]
    body: Expr

    def at(self, args: tuple[Expr, ...]) -> Expr:
        """f(args), written out."""
        return subst(self.body, {Entry(p, ()): a for p, a in zip(self.parameters, args, strict=True)})


@dataclass(frozen=True)
class Update:
    """θ_new = θ − η ∂ℓ/∂θ, a step of gradient descent: the names of θ, of ℓ (the output, or "loss") and of η.

    ``size`` is the number of η, where the question gives it.
    """

    wrt: str
    of: str
    rate: str
    size: Fraction | None = None

    @property
    def new(self) -> str:
        """The name of θ_new."""
        return f"new_{self.wrt}"


@dataclass(frozen=True)
class Mask:
    """M = ∂f/∂x, 1 where a maximum f passes an entry of x: summed over f's windows, or entry by entry."""

    of: str
    wrt: str
    windows: bool

    @property
    def name(self) -> str:
        return f"mask_{self.wrt}"


def plain(name: str) -> str:
    """The tensor x of which ``delta_x`` is the gradient, ``new_x`` the value after a step, ``mask_x`` a mask."""
    return name.removeprefix("delta_").removeprefix("new_").removeprefix("mask_")


@dataclass(frozen=True)
class Module:
    """y = F(x; θ): forward equations in the order of evaluation, and their letters.

    ``equations`` are ``Rel`` of two terms: the entry defined, and its value; the
    last defines ``output``.  ``fields`` names the receptive field of each window
    set.  ``asked`` holds what the question wants: ``"forward"``, ``"jacobian"``,
    ``"vjp"`` (the full backward message), ``"parameters"``.  ``readings`` says in
    words how each of these was understood.  ``functions`` are those that the card
    defines, ``facts`` what it states of its letters (Σ_i t_i = 1, ε > 0, t ∈ {0, 1}).
    ``held`` names defined tensors that a partial derivative holds constant.
    """

    equations: tuple[Rel, ...]
    table: SymbolTable
    output: str
    inputs: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    fields: tuple[tuple[str, ReceptiveField], ...] = ()
    tie_rule: str = "first"
    name: str | None = None  # of the layer in the catalogue, or of its parts: linear → relu
    called: tuple[str, ...] = ()  # the layers of the catalogue by whose names the question calls its formulas
    key: str = "layer"  # the card's id: seeds the worked example
    input_size: tuple[int, ...] | None = None
    asked: tuple[str, ...] = ("jacobian", "vjp")
    readings: tuple[str, ...] = ()
    functions: tuple[Function, ...] = ()
    facts: tuple[Rel | In, ...] = ()
    held: tuple[str, ...] = ()
    steps: tuple[tuple[str, int | None], ...] = ()  # strides, dilations, sides by a letter that no axis has; numbers
    wanted: tuple[Partial, ...] = ()  # derivatives that the question names: ∂ℓ/∂w_i
    parts: tuple[str, ...] = ()  # of ``asked``, then of ``wanted``: the marks of the question's parts, (a), (b)
    recounted: tuple[Entry, Entry] | None = None  # the output here, and as the question counts it: y_t, y_{t+K-1}
    first: int | None = None  # where the question begins to count, where a range of an output says so
    starts: tuple[tuple[str, int, int], ...] = ()  # of an output's axes, where it says 0 of one and 1 of another
    ranges: tuple[tuple[str, int, Expr], ...] = ()  # of a tensor's axis, how many entries the question says it has
    values: tuple[tuple[str, Numbers], ...] = ()  # that the question gives to letters and to the upstream gradient
    decimals: bool = False  # the question writes these numbers as decimals
    rows: bool = False  # ∂y/∂x is asked for as such at these numbers, not as what a backward message begins with
    updates: tuple[Update, ...] = ()  # the steps of gradient descent that the question asks for
    masks: tuple[Mask, ...] = ()  # that the question asks for
    at_ties: tuple[tuple[Expr, Expr], ...] = ()  # of max(u, v), the term whose slope is taken where u = v
    claims: tuple[tuple[Rel, int], ...] = ()  # equations that the question asks to show, and their lines
    written_in: tuple[tuple[tuple[str, ...], str], ...] = ()  # «in terms of $p$»: letters, and where
    written: tuple[tuple[Rel, int], ...] = ()  # what the question says of letters that a statement defines otherwise

    @property
    def renumbered(self) -> tuple[tuple[Entry, Entry], ...]:
        """Entries as they are numbered here, and in the question, where these differ."""
        if self.recounted is not None or FROM_ONE not in self.readings:
            return () if self.recounted is None else (self.recounted,)
        covered = [e for e in self.equations if any(isinstance(n, SetApp) for n in walk(e))]
        tensors = dict.fromkeys(n.tensor for e in covered for n in walk(e) if isinstance(n, Entry) and n.indices)
        entries = [Entry(s.name, tuple(map(Idx, s.axes))) for s in map(self.table.named, tensors) if s is not None]
        return tuple((e, Entry(e.tensor, tuple(add(i, ONE) for i in e.indices))) for e in entries)

    def definition(self, tensor: str) -> tuple[Entry, Expr]:
        """The defining equation of a tensor: (entry with its index variables, value)."""
        for equation in self.equations:
            entry, value = equation.terms
            if isinstance(entry, Entry) and entry.tensor == tensor:
                return entry, value
        raise KeyError(tensor)

    @property
    def given(self) -> tuple[str, ...]:
        """The tensors that have no equation."""
        return (*self.inputs, *self.parameters, *self.constants)

    @property
    def passed(self) -> tuple[str, ...]:
        """The letters for which numbers are passed: tensors, and steps that are not fixed."""
        return (*self.given, *(name for name, number in self.steps if number is None))

    def stepping(self, chosen: Mapping[str, int]) -> Module:
        """The module at these numbers of its steps; steps that are not among them stay as they are."""
        steps = tuple((name, chosen.get(name, number)) for name, number in self.steps)
        return self if steps == self.steps else replace(self, steps=steps)

    @property
    def defined(self) -> tuple[str, ...]:
        """The tensors that the equations define, in order."""
        return tuple(e.terms[0].tensor for e in self.equations if isinstance(e.terms[0], Entry))

    @property
    def jacobian_apart(self) -> bool:
        """The derivatives of the outputs are asked for in another part than the message, or without it."""
        part = dict(zip(self.asked, self.parts or ("",) * len(self.asked), strict=False))
        return "jacobian" in part and part["jacobian"] != part.get("vjp")

    def function(self, name: str) -> Function | None:
        """The card's function of that name."""
        return next((f for f in self.functions if f.name == name), None)

    def applied(self, node: Fn) -> Expr | None:
        """A card's function written out at its arguments; None for a function that is known by name."""
        known = self.function(node.name)
        return None if known is None else known.at(node.args)

    def sources(self, tensor: str) -> Iterator[str]:
        """The tensors that stand in a tensor's definition, each once."""
        _, value = self.definition(tensor)
        yield from dict.fromkeys(n.tensor for n in walk(value) if isinstance(n, Entry))

    def parameters_of(self, node: Node) -> tuple[Idx, ...]:
        """The free indices of a node: those of the tensor that it defines, else of the output, then as they occur."""
        free = free_indices(node)
        part = Reduce(node.op, node.binder, node.body) if isinstance(node, Arg) else node
        output = self.table.named(self.output)
        heads = (head.indices for head, value in (q.terms for q in self.equations)
                 if isinstance(head, Entry) and part in walk(value))
        axes = next(heads, None) or [Idx(a) for a in (output.axes if output else ())]
        found = [n for n in walk(node) if isinstance(n, Idx) and n in free]
        return tuple(dict.fromkeys([a for a in axes if a in free] + found))

    @property
    def receptive_field(self) -> ReceptiveField | None:
        """The one receptive field, or None where the layer has no windows."""
        return self.fields[0][1] if self.fields else None

    @property
    def assumed(self) -> tuple[str, ...]:
        """The inputs of which the card does not say that they are inputs."""
        return tuple(n for n in self.inputs if f"input `{n}` ({UNSAID})" in self.readings)

    @property
    def language(self) -> str:
        """That of the words of its sheet."""
        return self.table.language

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Why something that the question asks for besides is not answered, and what: “since it asks for words: …”."""
        return tuple(_LINE.sub("", r.removeprefix(_UNANSWERED)) for r in self.readings if r.startswith(_UNANSWERED))

    @property
    def elementwise(self) -> bool:
        """Every equation defines an entry from entries at the same indices and from single numbers."""
        if not self.inputs or self.fields:
            return False
        used = False
        for equation in self.equations:
            entry, value = equation.terms
            if not isinstance(entry, Entry) or any(isinstance(n, BINDING) for n in walk(value)):
                return False
            entries = [n for n in walk(value) if isinstance(n, Entry)]
            if any(n.indices and n.indices != entry.indices for n in entries):
                return False
            used = used or any(n.tensor == self.inputs[0] and n.indices == entry.indices for n in entries)
        return used

    def field(self, set_name: str) -> ReceptiveField:
        return dict(self.fields)[set_name]

    def holding(self, held: tuple[str, ...]) -> Module:
        """The module for derivatives that hold these tensors constant; one object for each choice, as memos' key."""
        family: dict[tuple[str, ...], Module] = self.__dict__.setdefault("_family", {self.held: self})
        if held not in family:
            family[held] = replace(self, held=held)
            family[held].__dict__["_family"] = family
        return family[held]

    @cached_property
    def anonymous(self) -> Module:
        """What it computes, whatever its card is and asks: the next card with this layer has the same derivation."""
        plain = replace(self, key="layer", name=None, called=(), asked=(), readings=(), wanted=(), parts=(), claims=(),
                        written=(), written_in=(), values=(), decimals=False, rows=False, updates=(), masks=())
        return self if plain == self else plain

    def with_field(self, field: ReceptiveField) -> Module:
        """The same layer over other windows."""
        return replace(self, fields=tuple((name, field) for name, _ in self.fields))
