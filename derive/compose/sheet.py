"""The order of a sheet: the answer, the window, why, the full message, ties, example, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from derive.calculus import messages
from derive.calculus.derivation import Step
from derive.calculus.extremum import Extremiser, extremisers, star_definitions
from derive.calculus.one_window import OneWindow, one_window
from derive.compose import answer, details, example
from derive.compose.builder import Builder
from derive.compose.checked import closing
from derive.expr import Arg, Entry, Idx, Reduce
from derive.layers import spoken
from derive.letters import unused, with_size_letters
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.receptive_field import ReceptiveField
from derive.sheet import Sheet
from derive.verify.report import Report

if TYPE_CHECKING:
    from derive.symbolic.window import Case


@dataclass(frozen=True)
class Derived:
    """A module with all that follows from its formula and that its sheet shows."""

    module: Module

    @cached_property
    def sized(self) -> Module:
        return with_size_letters(self.module)

    @cached_property
    def wrt(self) -> str:
        return self.module.inputs[0]

    @cached_property
    def jacobian(self) -> Step:
        return messages.jacobian(self.sized, self.wrt)

    @cached_property
    def message(self) -> Step:
        return messages.message(self.sized, self.wrt)

    @cached_property
    def extremiser(self) -> Extremiser:
        return extremisers(self.sized)[0]

    @cached_property
    def star_definitions(self) -> dict[str, tuple[Arg, int]]:
        """Star letter → the argmax it is a component of, and which component."""
        return star_definitions(self.sized)

    @cached_property
    def window(self) -> OneWindow:
        return one_window(self.sized)

    @cached_property
    def symbolic_cases(self) -> tuple[Case, ...]:
        """SymPy's cases of one window, each with its derivative."""
        from derive.symbolic.window import case_list

        return case_list(self.module)

    @property
    def field(self) -> ReceptiveField:
        field = self.module.receptive_field
        assert field is not None
        return field

    @property
    def op(self) -> str:
        _, value = self.module.definition(self.module.output)
        assert isinstance(value, Reduce)
        return value.op

    @property
    def output(self) -> Entry:
        return self.sized.definition(self.module.output)[0]

    @property
    def source(self) -> Entry:
        return messages.variable(self.sized, self.wrt)

    @property
    def outputs(self) -> tuple[Idx, ...]:
        return tuple(i for i in self.output.indices if isinstance(i, Idx))

    @property
    def indices(self) -> tuple[Idx, ...]:
        return tuple(i for i in self.source.indices if isinstance(i, Idx))

    @cached_property
    def tables(self) -> dict[str, SymbolTable]:
        """The letters of each scope of the sheet."""
        loss = self.window.module.table.named("loss")
        mask, = unused(self.sized.table, "CBGTSXYZ")
        axes = tuple(i.name for i in self.indices)
        assert loss is not None
        layer = self.sized.table.extended((loss, Symbol("mask", mask, Kind.TENSOR, axes)),
                                          ((i.name, tuple(k.name for k in self.outputs)) for i in self.indices))
        entries = self.window.module.table.named(self.window.entries)
        offsets = unused(self.sized.table, "abcdguvw", len(axes))
        assert entries is not None
        listing = self.sized.table.extended((entries, *(Symbol(a, a, Kind.INDEX) for a in offsets)))
        return {"layer": layer, "window": self.window.module.table, "entries": listing, "example": layer, "tied": layer}


def compose(module: Module) -> tuple[Sheet, Derived]:
    """The sheet of a module, all but its closing section; what it shows is derived on the way."""
    derived = Derived(module)
    front, body = Builder(derived.tables, "windows"), Builder(derived.tables, "windows")
    answer.build(front, derived)
    for section in (details.reading, details.window, details.why, details.indicator, details.full_message,
                    details.ties):
        section(body, derived)
    trial = example.build(body, derived)
    title = front.say("title", name=spoken(module.name), op=derived.op)
    return Sheet(title, tuple(front.blocks), tuple(body.blocks), (), (*front.inline, *body.inline), trial), derived


def with_checks(sheet: Sheet, report: Report, derived: Derived) -> Sheet:
    """The sheet closed by what was proved and what was tested."""
    return replace(sheet, checked=closing(report, derived.tables))
