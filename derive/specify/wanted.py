"""What is asked for of a layer: kinds of messages, and the derivatives that are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from derive.axes import unused
from derive.errors import CardError, Problem
from derive.expr import Entry, Expr, Fn, Idx, Node, Partial, Reduce, is_bound, walk
from derive.notation import write
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, SymbolTable
from derive.records import dataclass
from derive.specify.roles import Role

_LAST = 10**9  # what has no place of its own comes last
NAMES = {
    "jacobian": "the derivative of the output",
    "vjp": "the backward message",
    "forward": "the forward message",
    "parameters": "the parameter message",
}



@dataclass(frozen=True)
class Wanted:
    """Kinds of messages as in :class:`Module`, derivatives by name, how each was read, the undefined loss."""

    kinds: tuple[str, ...]
    derivatives: tuple[Partial, ...]
    readings: tuple[str, ...]
    loss: str | None = None
    places: tuple[int, ...] = ()  # where the question asks for the kinds, then for the derivatives
    parts: tuple[str, ...] = ()  # the marks of its parts there


class Of(Enum):
    """What is differentiated by a letter: the gradient of a layer by its weights is also that of the loss."""

    OUTPUT = "output"
    LOSS = "loss"
    BOTH = "both"


class Asking:
    """Gathers what is wanted of a layer with an ``output``, from its formulas and words."""

    def __init__(self, output: Entry, defined: Iterable[str], roles: Mapping[str, Role], table: SymbolTable) -> None:
        self.output, self.defined, self.roles, self.table = output, tuple(defined), roles, table
        self.kinds: dict[str, str] = {}
        self.named: dict[Partial, None] = {}
        self.losses: dict[str, None] = {}
        self.of_loss: dict[Partial, None] = {}
        self.by_name: dict[str, Of] = {}  # letters of «with respect to $W$», and what is differentiated
        self.whole: dict[str, bool] = {}  # roles whose messages are asked for as such, and whether no letters follow
        self.everything = False  # all messages
        self.message = False  # the backward message, by that name
        self.given = False  # a gradient is that of L, of which nothing more is known
        self.arrives = False  # ∂L/∂y stands on the card
        self.unanswered: list[str] = []
        self.trivial: list[str] = []  # ∂x_i/∂x_j
        self.spoken: dict[int | None, dict[str, None]] = {}  # by line, the derivatives that it names
        self.lettered: dict[str, dict[str, None]] = {}  # by what is said, the letters that it asks for
        self.places: dict[str | Partial, int] = {}  # where kinds, letters and derivatives are asked for

    def at(self, place: int, *asked: str | Partial) -> None:
        """What is asked for here, too: the first place counts."""
        for key in asked:
            self.places[key] = min(place, self.places.get(key, place))

    def derivative(self, formula: Formula, found: Partial, place: int = 0) -> None:
        """∂y_k/∂x_i or ∂L/∂x_i, as it stands in a formula at a ``place`` of the question.

        Raises :class:`CardError` for a letter that the layer does not have.
        """
        of, wrt = self._entry(found.of), self._at_one(self._entry(found.wrt))
        if wrt is None or (of is None and wrt.tensor not in self.roles):
            return
        of = self.output if of is None else of  # d/dx ln(1 + x²)
        known = {*self.defined, *self.roles}
        loss = of.tensor not in known and not of.indices
        if wrt.tensor not in known and wrt.tensor not in self.losses:
            if loss and of.tensor == wrt.tensor:
                return
            message = f"the question speaks of {spoken(Partial(of, wrt))}, and the layer has no `{wrt.tensor}`"
            raise CardError(Problem(message, line=formula.line))
        if of.tensor not in known and not loss:
            message = f"the question speaks of {spoken(Partial(of, wrt))}, and the layer has no `{of.tensor}`"
            raise CardError(Problem(message, line=formula.line))
        if of.tensor == wrt.tensor:
            self.trivial.append(f"{spoken(Partial(of, wrt))} is 1 where the indices agree, and 0 elsewhere, "
                                "whatever the layer computes")
            return
        if loss:
            self.losses[of.tensor] = None
            if wrt.tensor == self.output.tensor:
                self.given = self.arrives = True
                return
            if wrt.tensor in known:
                own = self._indexed(Entry("loss", ()), wrt)
                self.of_loss[own] = None
                self.at(place, own)
        elif of.tensor in self.defined:
            own = self._indexed(of, wrt)
            self.named[own] = None
            self.at(place, own)
        else:
            return
        kind = "parameters" if self._trained(wrt.tensor) else "vjp" if loss else "jacobian"
        self.at(place, kind)
        self.kinds.setdefault(kind, "")
        self.spoken.setdefault(formula.line, {})[f"${write(Partial(of, wrt), self.table)}$"] = None

    def _at_one(self, wrt: Entry | None) -> Entry | None:
        """E_{id} for the E_{nd} of word numbers n_t: n by itself is no one entry."""
        symbol = None if wrt is None else self.table.named(wrt.tensor)
        if wrt is None or symbol is None or len(symbol.axes) != len(wrt.indices):
            return wrt
        known = (self.table.named(i.tensor) if isinstance(i, Entry) else None for i in wrt.indices)
        whole = [s is not None and isinstance(i, Entry) and len(s.axes) > len(i.indices)
                 for i, s in zip(wrt.indices, known, strict=True)]
        return Entry(wrt.tensor, tuple(Idx(a) if w else i for i, a, w in zip(
            wrt.indices, symbol.axes, whole, strict=True)))

    def _entry(self, node: Expr) -> Entry | None:
        """y_k; also the tensor that stands for a function at plain arguments."""
        if isinstance(node, Fn) and node.name in self.defined:
            return Entry(node.name, ())
        return node if isinstance(node, Entry) else None

    def _indexed(self, of: Entry, wrt: Entry) -> Partial:
        """∂y_i/∂x_j for ∂y/∂x of whole tensors: letters of their axes, all different."""
        taken: set[str] = {i.name for e in (of, wrt) for i in e.indices if isinstance(i, Idx)}
        found = []
        for entry in (of, wrt):
            symbol = self.table.named(entry.tensor)
            letters = []
            for axis in symbol.axes[len(entry.indices) :] if symbol else ():
                spare = (c for c in (axis, *"ijklpqruv") if c not in taken and self._is_index(c))
                letters.append(next(spare, axis + "'"))
                taken.add(letters[-1])
            found.append(Entry(entry.tensor, (*entry.indices, *map(Idx, letters))))
        return Partial(found[0], found[1])

    def _is_index(self, letter: str) -> bool:
        known = self.table.named(letter)
        own = known is not None and known.kind is Kind.INDEX
        return own or any(letter in s.axes for s in self.table.symbols) or unused(self.table, letter) == (letter,)

    def _kind(self, kind: str, said: str, place: int) -> None:
        """A kind of message; where no letter is said to be trained, all that is given is asked for."""
        if kind == "parameters" and not any(r.role == "parameters" for r in self.roles.values()):
            kind = "vjp"
        self.at(place, kind)
        self.kinds.setdefault(kind, f"asked for {NAMES[kind]} ({said})")

    def _letters(self, letters: tuple[str, ...], said: str, of: Of, place: int) -> bool:
        """Ask for the derivatives by these letters; whether one of them is the layer's."""
        of = self.meant(of)
        for name in letters:
            self.at(place, name)
            if name in self.defined and name != self.output.tensor:
                further = of is Of.LOSS and self._apart
                kind, own, inner = ("vjp", self.of_loss, Entry("loss", ())) if further else (
                    "jacobian", self.named, self.output)
                self._spoken_by(kind, name, said)
                own.setdefault(self._indexed(inner, Entry(name, ())), None)
            if name in self.roles:
                self.by_name[name] = of
                further = of is Of.LOSS and self._apart
                kind = "parameters" if self._trained(name) else "vjp" if further else "jacobian"
                self.at(place, kind)
                self._spoken_by(kind, name, said)
                if not self.output.indices and not further:
                    self.named.setdefault(self._indexed(self.output, Entry(name, ())), None)
        return any(name in self.roles or name in self.defined for name in letters)

    def _spoken_by(self, kind: str, name: str, said: str) -> None:
        """A kind of message is asked for by a letter; of a list the words grow, “by $w$”, “by $w$ and $b$”."""
        self.kinds.setdefault(kind, "")
        if any(f"`{name}`" in names for names in self.lettered.values()):
            return
        shorter = next((other for other in self.lettered if said.startswith(other.removesuffix("”"))), said)
        self.lettered[said] = {**self.lettered.pop(shorter, {}), f"`{name}`": None}

    @property
    def _apart(self) -> bool:
        """The loss is no formula of the card."""
        return bool(self.output.indices) or self.given

    def meant(self, of: Of) -> Of:
        """The gradient where ∂L/∂y is given: that of L."""
        return Of.LOSS if self.given and of is Of.BOTH else of

    def _trained(self, name: str) -> bool:
        return name in self.roles and self.roles[name].role == "parameters"

    def _besides(self) -> Iterator[Partial]:
        """What is asked for besides the derivatives that are named: ∂L/∂x; the messages of all inputs, parameters."""
        yield from self.of_loss
        letters = {name for n in (*self.named, *self.of_loss) for name in _tensors(n.wrt)}
        known = {(n.of.tensor, name) for n in (*self.named, *self.of_loss) if isinstance(n.of, Entry)
                 for name in _tensors(n.wrt)}
        for name, of in self.by_name.items():  # ∂c/∂x of an inner letter c is not yet ∂L/∂x
            if not any((end.tensor, name) in known for end in self._ends(of)):
                yield from self.of_name(name, of)
        letters |= self.by_name.keys()
        for role, plain in self.whole.items():
            names = self._of_role(role)
            if role == "parameters" and plain and not names:  # none is called so: nothing that is given is left out
                names = self._of_role("inputs")
            for name in names if plain or not letters & {*names} else ():
                if name not in letters:
                    yield from self.of_name(name)
                elif plain and self.output.indices:
                    yield self._indexed(Entry("loss", ()), Entry(name, ()))
        trained = self._of_role("parameters")
        if self.kinds.get("parameters") and not letters & {*trained}:  # «to all four parameters, and $x$»
            yield from (d for name in trained for d in self.of_name(name, next(iter(self.by_name.values()), Of.BOTH)))

    def _narrower(self) -> bool:
        """«the backward message with respect to $x$»: letters of a role are named, and others of it are not wanted."""
        wanted = {*self.by_name, *(n for role, plain in self.whole.items() if plain for n in self._of_role(role))}
        return bool(self.by_name) and not self.everything and any(
            {*self._of_role(role)} - wanted for role in ("inputs", *self.whole))

    def _of_role(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, known in self.roles.items() if known.role == role)

    @property
    def by_letters(self) -> bool:
        """Letters say of what derivatives are asked for, and no kind of message is asked for as such."""
        lettered = {*self.by_name} | {name for d in (*self.named, *self.of_loss) for name in _tensors(d.wrt)}
        beyond = any(whole and not lettered >= {*self._of_role(role)} > set() for role, whole in self.whole.items())
        free = {name for name, known in self.roles.items() if known.role != "constants"}
        return bool(lettered) and not (self.everything and not free <= lettered or beyond)

    @property
    def lacking(self) -> bool:
        """The parameter messages are asked for without their letters, and no letter is a parameter."""
        return self.whole.get("parameters", False) and not any(r.role == "parameters" for r in self.roles.values())

    def of_name(self, name: str, of: Of = Of.BOTH) -> Iterator[Partial]:
        """∂y/∂x, and ∂L/∂x where y is no number."""
        return (self._indexed(end, Entry(name, ())) for end in self._ends(of))

    def _ends(self, of: Of) -> Iterator[Entry]:
        """What is differentiated: the output, and the loss where it is another."""
        if of is not Of.LOSS or not self._apart:
            yield self.output
        if self._apart and of is not Of.OUTPUT:
            yield Entry("loss", ())

    def found(self) -> Wanted:
        loss = next(iter(self.losses)) if len(self.losses) == 1 else None
        inner = any(name in self.defined for n in self.of_loss for name in _tensors(n.wrt))
        only = (self.of_loss or self.by_name) and not (self.whole or self.everything or "forward" in self.kinds)
        narrow = self.named or inner or only or self._narrower()
        named = tuple(dict.fromkeys((*self.named, *self._besides()))) if narrow else ()
        spoken = [f"asked for {_listed(list(names))} (line {line})" for line, names in self.spoken.items()]
        spoken += [f"asked for the derivative by {', '.join(names)} ({said})" for said, names in self.lettered.items()]
        trivial = (f"not answered: {told}" for told in self.trivial)
        of_loss = bool(named) and all(d.of == Entry("loss", ()) for d in named)  # «derivatives of the loss by …»
        as_such = (text for kind, text in self.kinds.items() if text and not (of_loss and kind == "jacobian"))
        said = dict.fromkeys((*spoken, *as_such, *self.unanswered, *trivial))
        kinds, named = sorted(self.kinds, key=self._place), tuple(sorted(named, key=self._place))
        places = (*map(self._place, kinds), *map(self._place, named))
        return Wanted(tuple(kinds), named, tuple(said), loss, places)

    def _place(self, asked: str | Partial) -> int:
        """Where it is asked for: itself, its letter, or the messages of all letters of its role."""
        wrt = next(_tensors(asked.wrt), "") if isinstance(asked, Partial) else asked
        role = "parameters" if self._trained(wrt) else "vjp"
        return next((self.places[k] for k in (asked, wrt, role) if k in self.places), _LAST)


def _tensors(node: Node) -> Iterator[str]:
    return (n.tensor for n in walk(node) if isinstance(n, Entry))


def _listed(names: list[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def derivatives(nodes: tuple[tuple[Formula, Node], ...]) -> Iterator[tuple[Formula, Partial]]:
    """The derivatives that formulas mention, f'(x) among them."""
    yield from partials(nodes)
    for formula, node in nodes:
        for part in walk(node):
            if isinstance(part, Fn) and part.name.endswith("'") and len(part.args) == 1:
                argument = part.args[0]
                if isinstance(argument, Entry):
                    yield formula, Partial(Entry(part.name.rstrip("'"), ()), argument)


def partials(nodes: tuple[tuple[Formula, Node], ...]) -> tuple[tuple[Formula, Partial], ...]:
    """The derivatives that formulas mention, each once; not those in a sum over their indices, x^T ∂L/∂x.

    Nor one that is summed by itself, as in Σ_i ∂y_i/∂x_j = 0; that in the sum of a chain rule is mentioned.
    """
    found: dict[Partial, Formula] = {}
    for formula, node in nodes:
        parts = [*walk(node)]
        alone = [part.body for part in parts if isinstance(part, Reduce)]
        for part in parts:
            if isinstance(part, Partial) and part not in alone and not any(
                    is_bound(n) for n in walk(part.wrt) if isinstance(n, Idx)):
                found.setdefault(part, formula)
    return tuple((formula, part) for part, formula in found.items())


def spoken(derivative: Partial) -> str:
    """∂f_kl/∂x_ij."""
    return f"∂{_spoken(derivative.of)}/∂{_spoken(derivative.wrt)}"


def _spoken(entry: Expr) -> str:
    if not isinstance(entry, Entry):
        return "…"
    indices = "".join(i.name if isinstance(i, Idx) else "·" for i in entry.indices)
    return f"{entry.tensor}_{indices}" if indices else entry.tensor
