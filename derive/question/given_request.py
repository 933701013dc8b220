"""What ``derive`` lists: kinds of messages and derivatives, in their order."""

from __future__ import annotations

from collections.abc import Iterator

from derive.errors import CardError, Problem
from derive.expr import Partial
from derive.question.given_formulas import Given
from derive.specify.stated import KINDS
from derive.specify.wanted import Asking, Wanted, partials


def request(asking: Asking, given: Given, items: tuple[str, ...], windows: bool) -> Wanted:
    """The request of a list; kinds beside derivatives are the derivatives by all letters of their role.

    Raises :class:`CardError` for an empty list and for ∂ℓ/∂y of the output, which is given.
    """
    kinds: dict[str, None] = {}
    named: dict[Partial, None] = {}
    for n, item in enumerate(items):
        if item in KINDS:
            kinds |= dict.fromkeys(KINDS[item] if windows or item != "backward" else ("vjp",))
        for formula, derivative in partials(tuple(given.of("derive", n))):
            asking.derivative(formula, derivative)
            new = [d for d in (*asking.named, *asking.of_loss) if d not in named]
            if not new and not any(d.wrt == derivative.wrt for d in named):
                message = f"`derive: {item}` is the upstream gradient, which is given"
                raise CardError(Problem(message, line=formula.line))
            named |= dict.fromkeys(new)
    if not items:
        raise CardError("`derive` lists nothing; write e.g. `derive: [backward]`")
    if len(asking.losses) > 1:
        raise CardError(f"`derive` names the losses {', '.join(f'`{n}`' for n in asking.losses)}; keep one")
    if windows:
        return Wanted(tuple(kinds | dict.fromkeys(asking.kinds)), (), _said(given, items), _loss(asking))
    if named:
        named |= dict.fromkeys(d for kind in kinds for d in _whole(asking, kind))
        kinds = {kind: None for kind in kinds if kind == "forward"} | dict.fromkeys(asking.kinds)
    return Wanted(tuple(kinds), tuple(named), _said(given, items), _loss(asking))


def _loss(asking: Asking) -> str | None:
    return next(iter(asking.losses), None)


def _whole(asking: Asking, kind: str) -> Iterator[Partial]:
    """The derivatives of a kind of message, each by its letter."""
    roles = {"jacobian": "inputs", "vjp": "inputs", "parameters": "parameters"}
    for name, role in asking.roles.items():
        if role.role == roles.get(kind):
            yield from asking.of_name(name, kind != "jacobian")


def _said(given: Given, items: tuple[str, ...]) -> tuple[str, ...]:
    lines = sorted({f.line for f, _ in given.of("derive")})
    where = f" (line {lines[0]})" if lines else ""
    return (f"asked for as `derive` lists it{where}: {', '.join(i if i in KINDS else f'${i}$' for i in items)}",)
