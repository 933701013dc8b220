"""What the sheet of a layer is about: which derivatives are asked for, and of which tensors they are made."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import cast

from derive.calculus.brackets import decided
from derive.calculus.dependence import reached
from derive.calculus.derivation import Step
from derive.calculus.expressed import expressed, is_written_in
from derive.calculus.form import simplified
from derive.calculus.matrix_form import matrix_form
from derive.calculus.messages import Messages
from derive.calculus.one_window import windowed
from derive.calculus.ranges import entry_ranges
from derive.expr import Entry, Expr, Idx, Node, Num, Partial, subst
from derive.magnitudes import held
from derive.module import Module
from derive.notation.in_text import first_written, writes
from derive.records import dataclass

LOSS = "loss"


@dataclass(frozen=True)
class Target:
    """∂of/∂wrt = ``value``, in the question's letters; where ``loss``, ∂L/∂wrt for a loss L that is not on the card."""

    of: str
    wrt: str
    before: Partial
    value: Expr
    loss: bool = False


@dataclass(frozen=True)
class Item:
    """One thing asked for: in which ``part`` of the question, of which kind, and the derivatives that it is.

    Kinds: "forward", "input" and "parameter" for the derivatives by all inputs or parameters, also as ``messages``
    for an upstream gradient, and "named" for those that the question names.
    """

    part: str
    kind: str
    targets: tuple[Target, ...] = ()
    messages: bool = False


@dataclass(frozen=True)
class Subject:
    """The messages of a layer and what its question wants of them; ``question`` is its text, None where unknown."""

    messages: Messages
    question: str | None = None

    @property
    def module(self) -> Module:
        return self.messages.module

    @property
    def output(self) -> Entry:
        return self.module.definition(self.module.output)[0]

    @property
    def is_scalar(self) -> bool:
        return not self.output.indices

    @property
    def backward(self) -> tuple[Target, ...]:
        """What is derived from the output back: the gradients of a loss, but not of an output that is one number."""
        if self.module.wanted:
            return tuple(t for t in self.targets if t.loss)
        return self.targets if {"vjp", "parameters"} & {*self.module.asked} and not self.is_scalar else ()

    @property
    def forward(self) -> tuple[Target, ...]:
        """What is derived from the input forward: derivatives of the output or of another tensor.

        Where the gradient of the loss is derived by the same letter, the derivative of the output stands there.
        """
        shown = {t.wrt for t in self.backward}
        return tuple(t for t in self.targets if t not in self.backward
                     and not (t.of == self.module.output and t.wrt in shown))

    @cached_property
    def inputs(self) -> tuple[Target, ...]:
        """Derivatives by inputs, or those that the question names."""
        if self.module.wanted:
            return tuple(self.named(p) for p in self.module.wanted)
        wanted = {"jacobian", "vjp"} & {*self.module.asked}
        return tuple(self.target(wrt) for wrt in self.module.inputs if wrt not in self.held) if wanted else ()

    @cached_property
    def held(self) -> tuple[str, ...]:
        """Inputs whose derivative is not asked for."""
        return held(self.module)

    @cached_property
    def parameters(self) -> tuple[Target, ...]:
        wanted = "parameters" in self.module.asked and not self.module.wanted
        return tuple(self.target(wrt) for wrt in self._as_written(self.module.parameters)) if wanted else ()

    def _as_written(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """In the order in which the question's formulas first write them, where these write them all."""
        symbols = [s for s in map(self.module.table.named, names) if s is not None]
        places = first_written(self.question or "", [s.latex for s in symbols])
        return names if places is None or len(symbols) < len(names) else tuple(names[n] for n in places)

    @property
    def targets(self) -> tuple[Target, ...]:
        return (*self.inputs, *self.parameters)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What the question asks for, in its order."""
        module, found = self.module, list[Item]()
        asked: tuple[str | Partial, ...] = (*module.asked, *module.wanted)
        parts = module.parts if len({*module.parts} - {""}) > 1 else ("",) * len(asked)
        pairs = zip(parts, asked, strict=True)
        for part, one in sorted(pairs, key=lambda pair: pair[0]) if "" not in parts else pairs:
            if isinstance(one, str) and module.wanted and one != "forward":
                continue  # the derivatives that are named say it
            item = self._item(part, one)
            if found and (found[-1].part, found[-1].kind) == (part, item.kind):
                before = found.pop()
                targets = tuple(dict.fromkeys((*before.targets, *item.targets)))
                item = Item(part, item.kind, targets, before.messages or item.messages)
            found.append(item)
        return tuple(found)

    def _item(self, part: str, asked: str | Partial) -> Item:
        match asked:
            case "forward":
                return Item(part, "forward")
            case "parameters":
                return Item(part, "parameter", self.parameters, True)
            case "jacobian" | "vjp":
                return Item(part, "input", self.inputs, asked == "vjp")
            case _:
                return Item(part, "named", (self.named(cast(Partial, asked)),))

    @property
    def is_window(self) -> bool:
        """The layer is one maximum over windows and nothing else."""
        return any(w.whole for w in windowed(self.module))

    def is_named(self, item: Item) -> bool:
        """∂L/∂x alone is asked for, of one maximum over windows."""
        return self.is_window and item.kind == "input" and "jacobian" not in self.module.asked

    def on_card(self, name: str) -> bool:
        """The question writes the letter."""
        symbol = self.module.table.named(name)
        return self.question is None or symbol is None or writes(self.question, symbol.latex)

    def entry(self, name: str) -> Entry | None:
        """A tensor with the letters of its axes."""
        symbol = self.module.table.named(name)
        return None if symbol is None else Entry(name, tuple(map(Idx, symbol.axes)))

    def target(self, wrt: str) -> Target:
        """∂y/∂wrt of the output."""
        found = self.messages.jacobian(wrt)
        value = expressed(cast(Expr, found.after), self.module)
        return Target(self.module.output, wrt, cast(Partial, found.before), value)

    def named(self, wanted: Partial) -> Target:
        """A derivative that the question names, in the letters in which it names it."""
        of, wrt = _tensor(wanted.of), _tensor(wanted.wrt)
        if of == LOSS:
            message = self.messages.message(wrt)
            before = Partial(Entry(LOSS, ()), Entry(wrt, cast(Entry, message.before).indices))
            value = cast(Expr, message.after)
        else:
            found = self.messages.jacobian(wrt, None if of == self.module.output else of)
            before, value = cast(Partial, found.before), cast(Expr, found.after)
        letters: dict[Node, Node] = {}
        for mine, theirs in ((before.of, wanted.of), (before.wrt, wanted.wrt)):
            if isinstance(mine, Entry) and isinstance(theirs, Entry) and len(mine.indices) == len(theirs.indices):
                letters |= dict(zip(mine.indices, theirs.indices, strict=True))
        before, value = subst(before, letters), subst(value, letters)
        numbered = any(isinstance(at, (Num, Entry)) for at in letters.values())
        if numbered or len(set(letters.values())) < len(letters):  # ∂E/∂w_1, ∂p_i/∂z_i: a delta is decided
            entries = (before.of, before.wrt)
            ranges = {i: r for e in entries if isinstance(e, Entry) for i, r in entry_ranges(e, self.module).items()}
            value = decided(simplified(value, ranges, self.module))
        return Target(self.module.output if of == LOSS else of, wrt, before, expressed(value, self.module), of == LOSS)

    @cached_property
    def in_matrices(self) -> bool:
        """Something that is asked for is a product with a matrix: beside it all are told of whole vectors."""
        steps = [self.messages.message(t.wrt) for t in self.targets if not self.is_scalar]
        stated = [*((t.before, t.value) for t in self.targets), *((s.before, cast(Expr, s.after)) for s in steps)]
        return any(matrix_form(*pair, self.module) is not None for pair in stated)

    def message(self, target: Target) -> Step:
        """δ_x of a target, in its own letters; of a maximum over windows the sum over those that cover an entry."""
        return _covering(self.messages.message(target.wrt))

    @cached_property
    def gradients(self) -> dict[Entry, Step]:
        """δ of each tensor from the output back, then of what is asked for."""
        found: dict[Entry, Step] = {}
        for target in self.backward:
            found |= {cast(Entry, s.before): s for s in self.messages.stages(target.wrt)}
            found[cast(Entry, self.message(target).before)] = self.message(target)
        return found

    def path(self, target: Target) -> tuple[str, ...]:
        """The tensors between ``wrt`` and ``of``, in order of evaluation, ``of`` last."""
        below = reached(Entry(target.of, ()), self.module)
        return tuple(t for t in self.module.defined
                     if t in below and t != target.wrt and target.wrt in reached(Entry(t, ()), self.module))


@lru_cache(maxsize=256)
def _covering(step: Step) -> Step:
    return next((s for s in step if s.rule == "covering"), step)


def _tensor(entry: Expr) -> str:
    assert isinstance(entry, Entry)
    return entry.tensor


def not_written_so(messages: Messages) -> tuple[str, ...]:
    """What is said where no answer is written in the letters that the question names."""
    module = messages.given
    values = [t.value for t in Subject(messages).targets] if module.written_in else []
    return tuple(f"not answered, since it is not written in these letters alone: {where}"
                 for letters, where in module.written_in
                 if values and not any(is_written_in(value, letters, module) for value in values))
