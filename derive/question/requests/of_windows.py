"""What a question on windows asks for: messages in words, derivatives in formulas."""

from __future__ import annotations

from collections.abc import Iterator

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Partial, walk
from derive.layers.forward import WindowForm
from derive.notation import write
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.requests.in_formulas import refuse_derivative
from derive.question.requests.spoken import ORDER, Item, Spoken
from derive.question.requests.verbs import requested
from derive.question.words.prose import PlainText
from derive.records import dataclass
from derive.specify.wanted import NAMES, spoken


@dataclass(frozen=True)
class Asked:
    """Messages as in :class:`Module`, the one that the question names first in front; how that was read; the loss."""

    messages: tuple[str, ...]
    readings: tuple[str, ...]
    loss: str | None = None
    parts: tuple[str, ...] = ()


def asked_by_statement(card: Card) -> Asked | None:
    """What stands for the request of the front matter until it is read; None where there is none."""
    return None if card.front_matter.get("derive") is None else Asked(("jacobian", "vjp"), ())


def asked(
    form: WindowForm,
    table: SymbolTable,
    derivatives: tuple[tuple[Formula, Partial], ...],
    plain: PlainText,
    in_words: bool,
    unread: tuple[tuple[Formula, DeriveError], ...] = (),
) -> Asked:
    """The messages that a question on windows wants.

    With ``in_words`` (no formula on the card) it must want them, not merely mention them.
    ``unread`` are the formulas that could not be read: what is wanted may stand there.

    Raises :class:`UnsupportedError` where it wants a derivative of something else, or none.
    """
    wanted = dict(_by_derivatives(form, table, derivatives))
    places = {kind: plain.place(f) for f, d in reversed(derivatives) if (kind := _kind(form, d))}
    for formula, error in unread:
        refuse_derivative(formula, error)
        bare = formula.latex.replace(" ", "")
        if bare.startswith(r"\nabla_") and form.source in bare[7:].partition("}")[0]:
            wanted.setdefault("vjp", f"asked for the gradient ${formula.latex}$ (line {formula.line})")
    local = "vjp" not in wanted  # the course's backward message is ∂f/∂x, unless the question writes ∂L/∂x
    for item in _first_items(plain, in_words):
        if item.kind != "jacobian" or "vjp" not in wanted:
            said = f"line {plain.line(item.start)}: “{plain.quote(item.start, item.stop)}”"
            wanted.setdefault(item.kind, f"asked for {NAMES[item.kind]} ({said})")
            places.setdefault(item.kind, plain.origin[item.start])
    if local and "vjp" in wanted and "jacobian" not in wanted:
        wanted = {"jacobian": wanted["vjp"], **wanted}
    if not wanted and unread:
        raise CardError(*(p for _, error in unread for p in error.problems))
    if not wanted:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        raise UnsupportedError(Problem(message, line=plain.first_line))
    losses = {d.of.tensor for _, d in derivatives if _kind(form, d) in ("vjp", "") and isinstance(d.of, Entry)}
    kinds = sorted(wanted, key=lambda kind: places.get("vjp" if kind == "jacobian" else kind, places.get(kind, 0)))
    parts = tuple(plain.part(places.get(kind, places.get("vjp", 0))) for kind in kinds)
    loss = losses.pop() if len(losses) == 1 else None
    return Asked(tuple(kinds), tuple(dict.fromkeys(wanted.values())), loss, parts)


def _first_items(plain: PlainText, in_words: bool) -> Iterator[Item]:
    """The first item of each kind that the words name; with ``in_words`` those that a verb asks for."""
    items = [i for i in Spoken(plain.text).items if not in_words or requested(plain.text, i.start)]
    yield from (item for kind in ORDER if (item := next((i for i in items if i.kind == kind), None)) is not None)


def _by_derivatives(
    form: WindowForm, table: SymbolTable, derivatives: tuple[tuple[Formula, Partial], ...]
) -> Iterator[tuple[str, str]]:
    """(kind, how it was read) of the derivatives that formulas mention."""
    for formula, derivative in derivatives:
        kind = _kind(form, derivative)
        if kind is None:
            raise CardError(Problem(f"the question speaks of {spoken(derivative)}, and the formula has only the output "
                                    f"`{form.output.tensor}` and the input `{form.source}`", line=formula.line,
                                    key="derive"))
        if kind:
            known = all(table.named(n.tensor) is not None for n in walk(derivative) if isinstance(n, Entry))
            said = f"${write(derivative, table)}$" if known else spoken(derivative)
            yield kind, f"asked for {said} (line {formula.line})"


def _kind(form: WindowForm, derivative: Partial) -> str | None:
    """'jacobian' for ∂f/∂x, 'vjp' for ∂L/∂x, '' for the given ∂L/∂f, None for what belongs to another layer."""
    of, wrt = derivative.of, derivative.wrt
    if not isinstance(of, Entry) or not isinstance(wrt, Entry):
        return None
    loss = not of.indices and of.tensor not in (form.output.tensor, form.source)
    if wrt.tensor == form.source:
        return "jacobian" if of.tensor == form.output.tensor else "vjp" if loss else None
    return "" if loss and wrt.tensor == form.output.tensor else None
