"""Card or module in, solution out: derive, compose, verify."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.card import Card
from derive.collection import no_collection
from derive.errors import CardError, DeriveError, Problem, UnsupportedError, known
from derive.expr import Entry, Node
from derive.layers.refused import refuse_layer
from derive.module import Module
from derive.records import dataclass
from derive.sheet import Math, Sheet
from derive.statement import Statement
from derive.timeout import within
from derive.verify.report import Report
from derive.words import languages

if TYPE_CHECKING:
    import sympy

    from derive.calculus.messages import Messages
    from derive.numbers import Numbers


_PICTURE = re.compile(r"^!\[.*\n\n", re.MULTILINE)


@dataclass(frozen=True)
class Solution:
    """The derived messages of a layer, their sheet, and the report on every printed equation.

    Arrays are passed by the names of the module's inputs, parameters and constants, strides and dilations by a letter
    as whole numbers (``s=2``); see :func:`derive.solve.solve`.
    """

    card: Card | None
    module: Module
    sheet: Sheet
    report: Report
    derivation: Messages

    @property
    def derived(self) -> str:
        """What was derived, in a word or two each: ``∂f_kl/∂x_ij, δ_x``."""
        from derive.exposition.subject import Subject
        from derive.notation import write
        from derive.render.unicode import inline

        table, subject = self.messages.module.table, Subject(self.messages)
        found: list[Node] = list(self.module.wanted) or [t.before for t in subject.targets]
        if "vjp" in self.module.asked and not self.module.wanted and not subject.is_scalar:
            found += [Entry(f"delta_{t.wrt}", ()) for t in subject.targets]
        return ", ".join(inline(write(node, table, display=False)) for node in found) or "forward message"

    def __repr__(self) -> str:
        found = self.derived if len(self.derived) < 60 else self.derived[:60] + " …"
        return f"<Solution: {found}; {len(self.report.checks)} checks, {'ok' if self.report.ok else 'not ok'}>"

    def _repr_html_(self) -> str | None:
        """The answer, with the steps to open below it; what failed, where something did."""
        from derive.render.html import fragment

        try:
            return fragment(self)
        except DeriveError as error:
            return f"<pre>{escape(f'{self!r}')}\n{escape(str(error))}</pre>"

    def _repr_markdown_(self) -> str:
        """The sheet under its title, without its figures, which are files; what failed, where something did."""
        from derive.render import render

        try:
            return _PICTURE.sub("", str(render(replace(self, card=None), "md")))
        except DeriveError as error:
            return f"{self!r}\n\n    " + str(error).replace("\n", "\n    ")

    def _repr_latex_(self) -> str | None:
        """The formulas of the answer; nothing where one of them failed."""
        if not self.report.ok:
            return None
        return "\n".join(f"$$\n{block.latex.strip()}\n$$" for block in self.sheet.answer if isinstance(block, Math))

    @cached_property
    def numbers(self) -> Numbers:
        """The layer on arrays."""
        from derive.numbers import Numbers

        return Numbers(self.module, self.derivation)

    @property
    def messages(self) -> Messages:
        """The derivation by letters: Jacobian, message and stages of each."""
        return self.derivation

    def forward(self, **arrays: Any) -> Any:
        """y = F(x; θ): float64 arrays of any size; leading axes beyond the layer's own are batch axes."""
        return self.numbers.forward(**arrays)

    def jacobian(self, wrt: str, *, sparse: bool = False, **arrays: Any) -> Any:
        """∂y/∂x, the derived formula evaluated: output axes, then the axes of ``wrt`` (no batch axes).

        ``sparse``: (output indices, input indices, values) of the non-zero entries.
        """
        return self.numbers.jacobian(wrt, sparse=sparse, **arrays)

    def backward(self, wrt: str, *, upstream: Any = None, **arrays: Any) -> Any:
        """δ_x = Jᵀ δ_y, the derived formula evaluated; batch axes as in :meth:`forward`.

        ``upstream`` has the output's shape; for a scalar output it is 1 unless given.
        """
        return self.numbers.backward(wrt, upstream=upstream, **arrays)

    def ties(self, **arrays: Any) -> dict[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """The active set of each window: output index → the places of the input where its value is attained."""
        numbers, arrays = self.numbers.at(arrays)
        return numbers.ties(**arrays)

    def directional(self, wrt: str, *, v: Any, **arrays: Any) -> Any:
        """y'(x; v), the one-sided derivative, exact at ties, ±∞ where y jumps; ``v`` has the shape of ``wrt``."""
        numbers, arrays = self.numbers.at(arrays)
        return numbers.directional(wrt, v=v, **arrays)

    def subdifferential(self, wrt: str, *, upstream: Any = None, **arrays: Any) -> Any:
        """The vertices of the Clarke subdifferential of Σ_k upstream_k y_k by ``wrt``: one gradient a row.

        Leading axes are batch axes, in the rows, too: of each sample one vertex, in all combinations.
        """
        numbers, arrays = self.numbers.at(arrays)
        return numbers.subdifferential(wrt, upstream=upstream, **arrays)

    def is_subgradient(self, gradient: Any, *, upstream: Any = None, wrt: str | None = None, **arrays: Any) -> bool:
        """Whether ``gradient`` lies in that subdifferential, decided exactly; leading axes are batch axes."""
        numbers, arrays = self.numbers.at(arrays)
        return numbers.is_subgradient(gradient, upstream=upstream, wrt=wrt, **arrays)

    def window(self) -> sympy.Expr:
        """One whole window as a SymPy Max (or Min) of z_1, …, z_n."""
        from derive.symbolic.window import window_max

        self._windowed()
        return window_max(self.module)[1]

    def cases(self) -> sympy.Piecewise:
        """The cases of one window: (entry, open region where it is the extreme one)."""
        from derive.symbolic.window import cases

        self._windowed()
        return cases(self.module)

    def symbolic_jacobian(self, input_size: tuple[int, ...]) -> list[tuple[Any, Any, sympy.Expr]]:
        """(output index, input index, SymPy expression) of every non-zero entry at a size."""
        from derive.symbolic.instance import symbolic_jacobian

        self._windowed()
        return symbolic_jacobian(self.module, tuple(input_size))

    def _windowed(self) -> None:
        from derive.exposition.story import whole

        if whole(self.derivation) is None:
            raise UnsupportedError("only a layer that takes the maximum or minimum of its windows has these cases")


@no_collection()
def solve(card: Card | Module | Statement | str | Path | None = None, *, formula: str | Sequence[str] | None = None,
          statement: Statement | None = None, tie_rule: str | None = None, usual_tie_rule: str | None = None,
          code: bool | None = None, language: str | None = None, usual_language: str | None = None,
          timeout: float | None = None) -> Solution:  # fmt: skip
    """Derive, compose and verify the solution of a card, a path to one, a module, a statement, or a ``formula``.

    ``statement`` counts over what a card says.  Without a request the backward and the parameter messages are derived.
    ``tie_rule`` overrides the card's; ``usual_tie_rule`` counts where the card says none.  ``code``: the sheet
    carries the layer in NumPy, too; unless given, the card's key ``code`` says so.  ``language`` is that of the
    sheet's words, as :func:`language_of` has it.
    Raises :class:`derive.errors.DeriveError` with the command's own message, a
    :class:`derive.errors.LimitError` after ``timeout`` seconds; a refuted equation shows in ``solution.report``.
    """
    with within(timeout):
        read = None if card is None or isinstance(card, (Module, Statement, Card)) else Card.read(card)
        read = card if isinstance(card, Card) else read
        said = language_of(read, language, usual_language)
        module = _ruled(_module(card, read, formula, statement), tie_rule, usual_tie_rule)
        module = replace(module, table=replace(module.table, language=said))
        try:
            return _solved(read, module, _code_of(read) if code is None else code)
        except DeriveError as error:
            if read is None:
                raise
            raise error.located(read.path, read.question_line) from error


def _module(card: Card | Module | Statement | str | Path | None, read: Card | None,
            formula: str | Sequence[str] | None, statement: Statement | None) -> Module:
    """The layer that is given, or that a card or a statement says."""
    if isinstance(card, Module):
        return card
    if read is None:
        return stated(card if isinstance(card, Statement) else Statement(), formula, statement)
    from derive.question import module_of

    return module_of(read, statement)


def _ruled(module: Module, tie_rule: str | None, usual: str | None) -> Module:
    """The layer with the tie rule; the ``usual`` one where neither this nor its card says one."""
    if tie_rule is None and not any(reading.startswith("tie rule") for reading in module.readings):
        tie_rule = usual
    if tie_rule is None:
        return module
    from derive.layers import check_tie_rule

    check_tie_rule(tie_rule)
    return replace(module, tie_rule=tie_rule)


def stated(given: Statement, formula: str | Sequence[str] | None = None, other: Statement | None = None) -> Module:
    """The layer of a statement alone; raises :class:`CardError` where it gives neither formulas nor layers."""
    from derive.question import module_of

    if formula is not None:
        given = given.overlaid(Statement(forward=(formula,) if isinstance(formula, str) else tuple(formula)))
    given = given if other is None else given.overlaid(other)
    if given.forward is None and given.layers is None:
        raise CardError("a statement without a card needs `forward` or `layers`: what does the layer compute?")
    if given.derive is None:
        trained = given.parameters or given.layers
        given = given.overlaid(Statement(derive=("backward", "parameters") if trained else ("backward",)))
    module = module_of(Card.parse("---\nid: layer\n---\n# Question\nDerive.\n"), given)
    kept = (r for r in module.readings if not r.startswith("not on the card"))
    return replace(module, readings=tuple(kept))


def language_of(card: Card | None, language: str | None = None, usual: str | None = None) -> str:
    """The ``language`` that is given, that of the card's key, the ``usual`` one, English: the first that there is.

    The language in which a card is written says nothing of that of its sheet.  Raises :class:`CardError` for a
    language that sheets are not written in.
    """
    if language is not None:
        return known("language", language, languages())
    value = None if card is None else card.front_matter.get("language")
    if card is None or value is None:
        return known("language", usual or "en", languages())
    try:
        return known("language", str(value), languages())
    except CardError as error:
        raise error.located(card.path, card.key_line("language")) from None


def _code_of(card: Card | None) -> bool:
    """What the front matter says of ``code``; raises :class:`CardError` for what is neither true nor false."""
    value = None if card is None else card.front_matter.get("code")
    if card is not None and value is not None and not isinstance(value, bool):
        line = card.key_line("code")
        raise CardError(Problem(f"`code: {value}` is neither `true` nor `false`", card.path, line))
    return bool(value)


def _solved(read: Card | None, module: Module, code: bool) -> Solution:
    from derive.exposition.sheet import with_checks
    from derive.verify.sheet import verify
    from derive.verify.words import closed

    made = composed(read, module)
    sheet, messages = made.sheet, made.messages
    report = verify(sheet, messages)
    if code:
        sheet, report = _with_code(sheet, report, messages)
    sheet = with_checks(sheet, report, messages)
    return replace(made, sheet=sheet, report=replace(report, checks=(*report.checks, *closed(sheet, report))))


def composed(read: Card | None, module: Module) -> Solution:
    """The layer of a card with its sheet, of which nothing has been checked yet."""
    from derive.calculus.cancelled import refuse_nothing
    from derive.calculus.kinks import settled
    from derive.calculus.one_window import derivation
    from derive.calculus.subexpressions import lettered
    from derive.exposition.sheet import compose
    from derive.exposition.subject import not_written_so
    from derive.verify.claimed import judged

    refuse_layer(module)
    module = judged(lettered(module))
    messages = derivation(settled(module))
    refuse_nothing(messages)
    if said := not_written_so(messages):
        module = replace(module, readings=(*module.readings, *said))
        messages = derivation(settled(module))
    return Solution(read, module, compose(messages, read.question if read else ""), Report(()), messages)


def _with_code(sheet: Sheet, report: Report, messages: Messages) -> tuple[Sheet, Report]:
    """The sheet with the layer in code, and the report with how that was tried."""
    from derive.exposition.listing import with_listings

    sheet, checks = with_listings(sheet, messages)
    return sheet, replace(report, checks=(*report.checks, *checks))
