"""A forward formula y = op over a window of x, brought to one form, with its letters and its receptive field.

This is the one place that says which formulas are covered.
"""

from __future__ import annotations

import derive.expr as ex
from derive.errors import CardError, UnsupportedError
from derive.layers.intervals import Interval, box, intervals
from derive.records import dataclass

COVERED = (
    "covered is the maximum or minimum of one input over a window, "
    r"e.g. `f_{kl} = \max_{(i, j) \in \Omega(k, l)} x_{ij}`"
)


@dataclass(frozen=True)
class WindowForm:
    """y_K = op over I ∈ Ω(K) of x_I; ``axes`` where the formula itself says what Ω is."""

    op: str
    output: ex.Entry
    source: str
    set_name: str | None
    axes: tuple[Interval, ...] | None

    @property
    def rank(self) -> int:
        return len(self.output.indices)


def is_forward(node: ex.Node) -> bool:
    """The node has the shape ``y_K = value`` of a tensor's definition (and is no derivative or argmax)."""
    if not isinstance(node, ex.Rel) or set(node.ops) != {"="} or not isinstance(node.terms[0], ex.Entry):
        return False
    entry, value = node.terms[0], node.terms[1]
    plain = all(isinstance(i, ex.Idx) for i in entry.indices) and len(set(entry.indices)) == len(entry.indices)
    derived = any(isinstance(part, ex.Partial) for part in ex.walk(node))
    # f_{kl} = x_{i^* j^*}, n = 4 and δ = ∂L/∂f say something about a layer and are none
    computed = not isinstance(value, ex.Entry) and any(isinstance(p, ex.Entry) and p.indices for p in ex.walk(value))
    return plain and computed and not derived


def window_form(equation: ex.Rel) -> WindowForm:
    """The forward equation as a window.

    Raises :class:`UnsupportedError` for a formula that is valid and not covered.
    """
    output, value = equation.terms[0], equation.terms[1]
    assert isinstance(output, ex.Entry)
    if not output.indices:
        raise UnsupportedError(f"the output `{output.tensor}` is a single number, not one per window; {COVERED}")
    if isinstance(value, ex.Extremum):
        source, axes = box(value.args, output.indices)
        return WindowForm(value.op, output, source, None, axes)
    if not isinstance(value, ex.Reduce) or value.op not in ("max", "min"):
        raise UnsupportedError(f"the formula of `{output.tensor}` is not covered yet; {COVERED}")
    named = _named_set(value, output)
    if named is not None:
        return WindowForm(value.op, output, *named, None)
    source, axes = intervals(value, output.indices)
    return WindowForm(value.op, output, source, None, axes)


def set_axes(definition: ex.Rel, form: WindowForm) -> tuple[Interval, ...] | None:
    """The window of ``Ω(k, l) = {…}``, or None where the definition is of something else."""
    left, right = definition.terms[0], definition.terms[1]
    if definition.ops[0] != "=" or not isinstance(left, ex.SetApp) or left.name != form.set_name:
        return None
    if not isinstance(right, ex.SetOf):
        raise UnsupportedError(
            f"the set `{left.name}` is defined in a way that is not covered yet; write {{(i, j) : …}}"
        )
    return intervals(right, left.args)[1]


def _named_set(value: ex.Reduce, output: ex.Entry) -> tuple[str, str] | None:
    """(x, Ω) of op over I ∈ Ω(K) of x_I, or None where the window is written otherwise."""
    binder, body = value.binder, value.body
    if not isinstance(binder.cond, ex.In) or not isinstance(binder.cond.set, ex.SetApp):
        return None
    if not isinstance(body, ex.Entry) or any(isinstance(p, (*ex.BINDING, ex.Entry)) for i in body.indices
                                             for p in ex.walk(i)):
        raise UnsupportedError(f"the window of `{output.tensor}` does not hold plain entries of one input; {COVERED}")
    applied = binder.cond.set
    if applied.args != output.indices:
        raise UnsupportedError(
            f"the window of `{output.tensor}` is `{applied.name}` of {_names(applied.args)}, and its indices are "
            f"{_names(output.indices)}; an index that only numbers channels is not covered yet, leave it out"
        )
    if body.indices != binder.variables or binder.cond.element != ex.tuple_of(binder.variables):
        raise UnsupportedError(
            f"`{body.tensor}` is not indexed by the members of `{applied.name}`, in their order; {COVERED}"
        )
    if len(body.indices) != len(output.indices):
        raise CardError(
            f"`{output.tensor}` has {len(output.indices)} indices and `{body.tensor}` has {len(body.indices)}; "
            "a window needs one of each per axis"
        )
    return body.tensor, applied.name


def _names(terms: tuple[ex.Expr, ...]) -> str:
    return "(" + ", ".join(t.name if isinstance(t, ex.Idx) else "…" for t in terms) + ")"
