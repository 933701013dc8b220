"""What textbooks write, brought to the notation: rules on the trees of a card's formulas, in one list."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from derive.notation.formulas import Formula
from derive.notation.rules import columns, dots, functions, letters, lists, sets, signs, softmax, trees
from derive.records import dataclass


@dataclass(frozen=True)
class Rule:
    """What is rewritten, and the formulas of a card with that done wherever it applies."""

    name: str
    result: Callable[[list[Formula]], list[Formula]]


# Letters with names of their own: the words see these.
LETTERS = (
    Rule("∂L/∂p = ? is ∂L/∂p", trees.in_statements(signs.questioned)),
    Rule("∂L/∂y_1, …, ∂L/∂y_K is ∂L/∂y", lists.derivatives_listed),
    Rule("MSE = … is one letter", letters.words),
    Rule("C' is a size", letters.sizes),
    Rule("x^1, …, x^m are samples", lists.samples),
    Rule("layers are numbered above", letters.layers),
    Rule("dℓ/da is ∂ℓ/∂a", letters.quotients),
    Rule("dW is ∂L/∂W", letters.gradients),
    Rule("ℓ is log L, p is p(y = 1 | x)", letters.compounds),
    Rule("a[z] is a(z)", signs.brackets),
    Rule("x(n - Dk) and u_c(i, j) are entries", lists.in_brackets),
)
# Signs and lists: what a statement is spelt with, too.
SPELLINGS = (
    Rule("what a brace marks stands for itself", columns.braces),
    Rule("a if s > 0, b otherwise is cases", columns.in_one_line),
    Rule("rows of values and conditions are cases", columns.cases),
    Rule("φ(u) = … (elementwise)", columns.remarks),
    Rule("z = … (update gate)", columns.stages),
    Rule("z = … (i = 1, …, n)", columns.ranges),
    Rule("≈ is =", columns.approximations),
    Rule("a ∈ (0, 1] is 0 < a ≤ 1", trees.in_statements(signs.interval)),
    Rule("i ∈ Ω = {1, …, N} is i ∈ {1, …, N}", signs.named_ranges),
    Rule("Ω(k) = {2k, 2k + 1} has all between its ends", sets.windows),
    Rule("(i, j) ∈ {2k, 2k + 1} × {2l, 2l + 1} is 2k ≤ i ≤ 2k + 1, …", sets.products),
    Rule("y_{out} has a label", signs.labels),
    Rule("diag(d_1, …, d_n) is diag(d)", lists.in_diagonals),
    Rule("← is =", trees.in_statements(signs.arrow)),
    Rule("h = tanh is h(u) = tanh(u)", functions.by_name),
    Rule("y(x, w) = w_0 + w_1 x is y(x)", functions.of_several),
    Rule("y = f(x) = … defines f and y", functions.in_chains),
    Rule("f(x_k) = … defines f", functions.of_numbers),
    Rule("f(x_k) is f_k", functions.of_entries),
    Rule("x = (x_1, …, x_n) has n entries", lists.entries),
    Rule("m ∈ {0, 1}^n is m ∈ R^n", trees.in_statements(signs.cells)),
    Rule("δ_{ik} is [i = k]", signs.kroneckers),
    Rule("W_{k:} is W_{k,:}", lambda formulas: trees.changed(formulas, lambda t: trees.each(t, signs.whole_axes))),
    Rule("a ⊗ b is a ⊙ b, or a b^⊤", signs.circled),
    Rule("1{y = k} is [y = k]", signs.indicated),
    Rule("h = … ∈ R^K has a shape", signs.shaped_values),
    Rule("L = L(y) defines nothing", signs.of_arguments),
    Rule("k = 1, 2, 3 is k = 1, …, 3", lists.ranges),
    Rule("dots run over an index", dots.dots),
)
RULES = (
    Rule("[z]_+ is max(0, z)", trees.in_statements(signs.positive_part)),
    Rule("θ = (W, b) is a name of several", lists.names_of_several),
    *SPELLINGS,
    Rule("h_j(a) = … is written out", functions.of_indices),
    Rule("a function of vectors is written out", functions.of_vectors),
    Rule("a softmax and its argument have letters", softmax.with_letters),
)


def rewritten(formulas: Iterable[Formula], rules: Iterable[Rule] = (*LETTERS, *RULES)) -> list[Formula]:
    """The formulas after each rule in its turn; those without a tree stay as they are."""
    found = trees.with_trees(formulas)
    for rule in rules:
        found = rule.result(found)
    return found
