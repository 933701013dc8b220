"""What a question asks for: which messages, in which words or derivatives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import Entry, Expr, Idx, Node, Partial, walk
from derive.layers.forward import WindowForm
from derive.notation.formulas import Formula
from derive.question.plain_text import PlainText

_VERB = (
    r"(?:derive|deriv|compute|calculate|find|determine|give|write|state|express|formulate|obtain|work out|show|define"
    r"|what (?:is|are)"
    r"|odvo[dď]\w*|spočt\w*|spočítej\w*|vypočt\w*|vypočítej\w*|urč\w*|najd\w*|napi[sš]\w*|uveď\w*|jak\w*)"
)
_NEAR = r"[^.?!;¶]{0,120}?"
_JACOBIAN = re.compile(r"\bjacobian|\bderivatives?\b|\bdifferentiat|\bsubgradient|\bderivac\w*|\bjakobián|\bjakobi")
_VJP = re.compile(
    r"\bback-?ward (?:message|pass|step|rule|computation|propagat)|\bback-?prop\w*|\bupstream|\berror signal"
    r"|(?<!vanishing )(?<!exploding )\bgradient\w*|(?<!forward )(?<!parameter )(?<!parameters )\bmessages?\b|\bzpětn\w*"
)
_FORWARD = re.compile(rf"\b{_VERB}{_NEAR}\bforward (?:message|pass)|\b{_VERB}{_NEAR}\bdopředn\w+")
_PARAMETERS = re.compile(rf"\b{_VERB}{_NEAR}\bparameters? message")


@dataclass(frozen=True)
class Asked:
    """Messages as in :class:`Module`, the one that the question names first in front; and how that was read."""

    messages: tuple[str, ...]
    readings: tuple[str, ...]


def asked(
    form: WindowForm,
    derivatives: tuple[tuple[Formula, Partial], ...],
    plain: PlainText,
    in_words: bool,
    unread: tuple[Problem, ...] = (),
) -> Asked:
    """The messages that a question wants.

    With ``in_words`` (no formula on the card) it must want them, not merely mention them.
    ``unread`` are the formulas that could not be read: what is wanted may stand there.

    Raises :class:`UnsupportedError` where it wants a derivative of something else, or none.
    """
    wanted: dict[str, str] = {}
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
        if kind:
            wanted.setdefault(kind, f"asked for {spoken(derivative)} (line {formula.line})")
    for kind, pattern in (
        ("jacobian", _JACOBIAN), ("vjp", _VJP), ("forward", _FORWARD), ("parameters", _PARAMETERS)
    ):  # fmt: skip
        places = (m for m in pattern.finditer(plain.text) if not in_words or _requested(plain.text, m.start()))
        found = next(places, None)
        if found and not (kind == "jacobian" and "vjp" in wanted):
            line = plain.line(found.start())
            wanted.setdefault(kind, f"asked for the {_NAMES[kind]} (line {line}: “{plain.quote(*found.span())}”)")
    if "vjp" in wanted and "jacobian" not in wanted and not any(_kind(form, d) == "vjp" for _, d in derivatives):
        wanted = {"jacobian": wanted["vjp"], **wanted}  # the course's backward message is ∂f/∂x
    if not wanted and unread:
        raise CardError(*unread)
    if not wanted:
        raise UnsupportedError(
            Problem(
                "the question asks for no message or derivative; write e.g. “Derive the backward message.”",
                line=plain.first_line,
            )
        )
    return Asked(tuple(wanted), tuple(dict.fromkeys(wanted.values())))


def _requested(text: str, at: int) -> bool:
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


def partials(nodes: tuple[tuple[Formula, Node], ...]) -> tuple[tuple[Formula, Partial], ...]:
    """The derivatives that formulas mention, each once."""
    found: dict[Partial, Formula] = {}
    for formula, node in nodes:
        for part in walk(node):
            if isinstance(part, Partial):
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
