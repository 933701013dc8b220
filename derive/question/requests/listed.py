"""What the front matter asks for: the list of ``derive``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from derive.errors import CardError, Problem
from derive.expr import Node, Partial
from derive.notation.formulas import Formula
from derive.specify.stated import KINDS
from derive.specify.wanted import Asking, Of, Wanted, partials

Items = Callable[[int], list[tuple[Formula, Node]]]  # the formulas of an item of ``derive``


def request(asking: Asking, given: Items, items: tuple[str, ...], windows: bool) -> Wanted:
    """The request of a list; kinds beside derivatives are the derivatives by all letters of their role.

    Raises :class:`CardError` for an empty list and for ∂ℓ/∂y of the output, which is given.
    """
    kinds: dict[str, None] = {}
    named_: dict[Partial, None] = {}
    for n, item in enumerate(items):
        if item in KINDS:
            kinds |= dict.fromkeys(KINDS[item] if windows or item != "backward" else ("vjp",))
        for formula, derivative in partials(tuple(given(n))):
            asking.derivative(formula, derivative)
            new = [d for d in (*asking.named, *asking.of_loss) if d not in named_]
            if not new and not any(d.wrt == derivative.wrt for d in named_):
                message = f"`derive: {item}` is the upstream gradient, which is given"
                raise CardError(Problem(message, line=formula.line))
            named_ |= dict.fromkeys(new)
    if not items:
        raise CardError("`derive` lists nothing; write e.g. `derive: [backward]`")
    if len(asking.losses) > 1:
        raise CardError(f"`derive` names the losses {', '.join(f'`{n}`' for n in asking.losses)}; keep one")
    loss = next(iter(asking.losses), None)
    if windows:
        return Wanted(tuple(kinds | dict.fromkeys(asking.kinds)), (), _listed(given, items), loss)
    if named_:
        named_ |= dict.fromkeys(d for kind in kinds for d in _whole(asking, kind))
        kinds = {kind: None for kind in kinds if kind == "forward"} | dict.fromkeys(asking.kinds)
    return Wanted(tuple(kinds), tuple(named_), _listed(given, items), loss)


def _whole(asking: Asking, kind: str) -> Iterator[Partial]:
    """The derivatives of a kind of message, each by its letter."""
    roles = {"jacobian": "inputs", "vjp": "inputs", "parameters": "parameters"}
    for name, role in asking.roles.items():
        if role.role == roles.get(kind):
            yield from asking.of_name(name, Of.OUTPUT if kind == "jacobian" else Of.BOTH)


def _listed(given: Items, items: tuple[str, ...]) -> tuple[str, ...]:
    lines = sorted({f.line for n in range(len(items)) for f, _ in given(n)})
    where = f" (line {lines[0]})" if lines else ""
    return (f"asked for as `derive` lists it{where}: {', '.join(i if i in KINDS else f'${i}$' for i in items)}",)
