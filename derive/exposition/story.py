"""What a sheet tells of a maximum over windows: the equation as a layer of its own, its window, its derivations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from derive.calculus.derivation import Step
from derive.calculus.extremum import Extremiser, extremisers
from derive.calculus.messages import Messages, variable
from derive.calculus.one_window import OneWindow, Windowed, scope_name, windowed
from derive.expr import Entry, Idx
from derive.module import Module
from derive.receptive_field import ReceptiveField
from derive.records import dataclass

if TYPE_CHECKING:
    from derive.symbolic.window import Case


@dataclass(frozen=True)
class Story:
    """One windowed equation of a layer; ``number``: the how manyth."""

    messages: Messages
    windowed: Windowed
    number: int = 0

    @property
    def module(self) -> Module:
        return self.windowed.layer

    @property
    def wrt(self) -> str:
        return self.windowed.source

    @property
    def window(self) -> OneWindow:
        return self.windowed.window

    @property
    def scope(self) -> str:
        """The name of the window's scope."""
        return scope_name("window", self.number)

    @property
    def entries(self) -> str:
        """The name of the scope of the list of its entries."""
        return scope_name("entries", self.number)

    @property
    def jacobian(self) -> Step:
        return self.messages.jacobian(self.wrt)

    @property
    def message(self) -> Step:
        return self.messages.message(self.wrt)

    @property
    def covering(self) -> Step:
        """The message as a sum over the windows that cover an entry, the maximiser written out."""
        return next((s for s in self.message if s.rule == "covering"), self.message)

    @cached_property
    def extremiser(self) -> Extremiser:
        return extremisers(self.module)[0]

    @cached_property
    def symbolic_cases(self) -> tuple[Case, ...]:
        """SymPy's cases of one window, each with its derivative."""
        from derive.symbolic.window import case_list

        return case_list(self.module)

    @property
    def slopes(self) -> tuple[str, str]:
        """Of the largest entry by itself, and by another one, where SymPy has them."""
        from derive.symbolic.window import case_list

        own, other = case_list(self.module, 2)[0].gradient
        return str(own), str(other)

    @property
    def field(self) -> ReceptiveField:
        field = self.module.receptive_field
        assert field is not None
        return field

    @property
    def op(self) -> str:
        return self.window.op

    @cached_property
    def output(self) -> Entry:
        return self.module.definition(self.module.output)[0]

    @cached_property
    def source(self) -> Entry:
        return variable(self.module, self.wrt)

    @cached_property
    def outputs(self) -> tuple[Idx, ...]:
        return tuple(i for i in self.output.indices if isinstance(i, Idx))

    @cached_property
    def indices(self) -> tuple[Idx, ...]:
        return tuple(i for i in self.source.indices if isinstance(i, Idx))


def stories(derivation: Messages) -> tuple[Story, ...]:
    """One for each maximum over windows in a layer."""
    module = derivation.module
    return tuple(Story(derivation if w.whole else Messages(w.layer), w, number)
                 for number, w in enumerate(windowed(module)))


def whole(derivation: Messages) -> Story | None:
    """The story that is the layer's own: it is one maximum over windows and nothing else."""
    found = stories(derivation)
    return found[0] if found and found[0].windowed.whole else None
