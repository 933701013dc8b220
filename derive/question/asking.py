"""What a question asks for: which messages, in which words or derivatives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Partial, walk
from derive.layers.forward import WindowForm
from derive.notation import write
from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.prose import PlainText
from derive.records import dataclass
from derive.specify.wanted import spoken

_VERB = (
    r"(?:derive|deriv|compute|calculate|find|determine|give|write|state|express|formulate|obtain|work out|show|define"
    r"|what (?:is|are)"
    r"|odvo[dď]\w*|spočt\w*|spočítej\w*|vypočt\w*|vypočítej\w*|urč\w*|najd\w*|napi[sš]\w*|uveď\w*|jak\w*)"
)
_NEAR = r"[^.?!;¶]{0,120}?"
_JACOBIAN = re.compile(r"\bjacobian|\bderivatives?\b|\bdifferentiat|\bsubgradient|\bderivac\w*|\bjakobián|\bjakobi")
_VJP = re.compile(
    rf"\bvector[- ]jacobian|\bvjp\b|\b{_VERB}{_NEAR}\bback-?ward(?=\s*(?:[.,;:¶]|and\b|$))"
    r"|\bback-?ward (?:message|pass|step|rule|computation|propagat)|\bback-?prop\w*|\bupstream|\berror signal"
    r"|(?<!vanishing )(?<!exploding )\bgradients?\b"
    r"(?![- ](?:descent|ascent|steps?\b|methods?\b|based|clipping|boost\w*))"
    r"|(?<!forward )(?<!parameter )(?<!parameters )\bmessages?\b|\bzpětn\w*"
)
_FORWARD = re.compile(rf"\b{_VERB}{_NEAR}\bforward (?:message|pass)|\b{_VERB}{_NEAR}\bdopředn\w+"
                      rf"|\b{_VERB}{_NEAR}\bforward(?:,| and)[^.?!;¶]{{0,40}}\bmessages\b")
_PARAMETERS = re.compile(rf"\b{_VERB}{_NEAR}\bparameters? message")
_DISCUSSED = re.compile(
    r"\b(?:explain|discuss|comment|interpret|argue|motivate|justify|why|vysvětl\w*|diskut\w*|proč)\b"
)
KINDS = (("jacobian", _JACOBIAN), ("vjp", _VJP), ("forward", _FORWARD))


_QUOTIENT = re.compile(r"(?:∂\s*|\bd)([^\W\d_])(?:_?\w+)?\s*/\s*(?:∂\s*|d)([^\W\d_])(?:_?\w+)?")
_NABLA = re.compile(r"\\nabla\s*_\s*(?:(\w)|\{\s*(?:\\(?:mathbf|boldsymbol|bm|mathrm)\s*)?\{?(\w)\}?\s*\})")


@dataclass(frozen=True)
class Asked:
    """Messages as in :class:`Module`, the one that the question names first in front; how that was read; the loss."""

    messages: tuple[str, ...]
    readings: tuple[str, ...]
    loss: str | None = None


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
    """The messages that a question wants.

    With ``in_words`` (no formula on the card) it must want them, not merely mention them.
    ``unread`` are the formulas that could not be read: what is wanted may stand there.

    Raises :class:`UnsupportedError` where it wants a derivative of something else, or none.
    """
    wanted = dict(_by_derivatives(form, table, derivatives))
    for kind, reading in _written(form, plain, unread):
        wanted.setdefault(kind, reading)
    local = "vjp" not in wanted  # the course's backward message is ∂f/∂x, unless the question writes ∂L/∂x
    for kind, pattern in (*KINDS, ("parameters", _PARAMETERS)):
        places = (m for m in pattern.finditer(plain.text) if not in_words or requested(plain.text, m.start()))
        found = next(places, None)
        if found and not (kind == "jacobian" and "vjp" in wanted):
            line = plain.line(found.start())
            wanted.setdefault(kind, f"asked for the {_NAMES[kind]} (line {line}: “{plain.quote(*found.span())}”)")
    if local and "vjp" in wanted and "jacobian" not in wanted:
        wanted = {"jacobian": wanted["vjp"], **wanted}
    if not wanted and unread:
        raise CardError(*(p for _, error in unread for p in error.problems))
    if not wanted:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        raise UnsupportedError(Problem(message, line=plain.first_line))
    losses = {d.of.tensor for _, d in derivatives if _kind(form, d) in ("vjp", "") and isinstance(d.of, Entry)}
    return Asked(tuple(wanted), tuple(dict.fromkeys(wanted.values())), losses.pop() if len(losses) == 1 else None)


def _by_derivatives(
    form: WindowForm, table: SymbolTable, derivatives: tuple[tuple[Formula, Partial], ...]
) -> Iterator[tuple[str, str]]:
    """(kind, how it was read) of the derivatives that formulas mention."""
    seen = set()
    for formula, derivative in derivatives:
        kind = _kind(form, derivative)
        if kind is None:
            raise UnsupportedError(
                Problem(
                    f"the question speaks of {spoken(derivative)}, and the formula has only the output "
                    f"`{form.output.tensor}` and the input `{form.source}`",
                    line=formula.line,
                )
            )
        if kind and kind not in seen:
            seen.add(kind)
            known = all(table.named(n.tensor) is not None for n in walk(derivative) if isinstance(n, Entry))
            said = f"${write(derivative, table)}$" if known else spoken(derivative)
            yield kind, f"asked for {said} (line {formula.line})"


def _written(
    form: WindowForm, plain: PlainText, unread: tuple[tuple[Formula, DeriveError], ...]
) -> Iterator[tuple[str, str]]:
    """(kind, how it was read) of derivatives outside the notation: ∂L/∂x in the prose, and $\\nabla_x L$."""
    for found in _QUOTIENT.finditer(plain.text):
        of, wrt = (plain.quote(*found.span(n)) for n in (1, 2))
        if wrt == form.source:
            kind = "jacobian" if of == form.output.tensor else "vjp"
            yield kind, f"asked for {plain.quote(*found.span())} (line {plain.line(found.start())})"
    for formula, _ in unread:
        gradient = _NABLA.match(formula.latex)
        if gradient and form.source in gradient.groups():
            yield "vjp", f"asked for the gradient ${formula.latex}$ (line {formula.line})"


def discussed(text: str, at: int) -> bool:
    """The sentence around this place asks to explain or discuss, and nothing in front of the place asks to derive."""
    sentence = re.split(r"[.?!;¶]", text[:at])[-1]
    return _DISCUSSED.search(sentence) is not None and not requested(text, at)


def requested(text: str, at: int) -> bool:
    """A verb of asking stands before this place in its sentence."""
    sentence = re.split(r"[.?!;¶]", text[:at])[-1]
    return re.search(rf"\b{_VERB}\b|\bhow\b", sentence) is not None


_NAMES = {
    "jacobian": "derivative of the output",
    "vjp": "backward message",
    "forward": "forward message",
    "parameters": "parameter message",
}


def _kind(form: WindowForm, derivative: Partial) -> str | None:
    """'jacobian' for ∂f/∂x, 'vjp' for ∂L/∂x, '' for the given ∂L/∂f, None for what belongs to another layer."""
    of, wrt = derivative.of, derivative.wrt
    if not isinstance(of, Entry) or not isinstance(wrt, Entry):
        return None
    loss = not of.indices and of.tensor not in (form.output.tensor, form.source)
    if wrt.tensor == form.source:
        return "jacobian" if of.tensor == form.output.tensor else "vjp" if loss else None
    return "" if loss and wrt.tensor == form.output.tensor else None
