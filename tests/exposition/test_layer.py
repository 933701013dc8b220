"""The sheet of every layer of the zoo: what is printed reads back, and what is asked for is answered."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import derive
from derive.calculus.messages import Messages
from derive.calculus.one_window import WHOLE, scope_tables
from derive.exposition.sheet import compose
from derive.expr import Entry, Idx, Partial, Rel, walk
from derive.notation import read
from derive.sheet import Block, Heading, Math, Prose, Sheet, Table
from tests.bank import composed as composed_card
from tests.bank import solved, unchecked
from tests.calculus.zoo import LAYERS, ZOO, Layer, composed, messages_of, module_from


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_every_sheet(layer: Layer) -> None:
    """Composed once, it is held to all that holds of any sheet."""
    messages, sheet = messages_of(layer.name), composed(layer.name)
    every_formula_reads_back_as_what_it_was_written_from(sheet, messages)
    the_answer_has_the_derivative_and_the_message_of_every_input(sheet, layer)
    no_side_of_an_equation_is_printed_twice(sheet)
    every_inline_formula_is_known(sheet)
    of_an_output_that_is_one_number_no_upstream_gradient_is_printed(sheet, layer)


def every_formula_reads_back_as_what_it_was_written_from(sheet: Sheet, messages: Messages) -> None:
    tables = scope_tables(messages.module)
    for math in (*sheet.formulas(), *sheet.inline):
        assert read(math.latex, tables[math.scope]) is math.expr, math.latex


def the_answer_has_the_derivative_and_the_message_of_every_input(sheet: Sheet, layer: Layer) -> None:
    names = {b.name for b in sheet.answer if isinstance(b, Math)}
    output = layer.module().definition(layer.module().output)[0]
    kinds = ("jacobian", "message") if output.indices else ("jacobian",)  # of a number they are the same
    assert names >= {f"{kind}_{wrt}" for kind in kinds for wrt in layer.shapes}


def no_side_of_an_equation_is_printed_twice(sheet: Sheet) -> None:
    for block in sheet.formulas():
        if isinstance(block.expr, Rel) and len(block.expr.terms) > 2:
            sides = block.latex.removeprefix(r"\begin{aligned} ").removesuffix(r" \end{aligned}").replace(r" \\ &= ", " = ")
            parts = sides.replace(" &= ", " = ").split(" = ")
            assert all(a != b or len(a) < 9 for a, b in pairwise(parts)), block.latex


def every_inline_formula_is_known(sheet: Sheet) -> None:
    known = {m.latex for m in sheet.inline}
    cells = [c for b in sheet.blocks() if isinstance(b, Table) for row in b.rows for c in row]
    for text in (words(sheet), *cells):
        assert set(re.findall(r"\$([^$]+)\$", text)) <= known


def of_an_output_that_is_one_number_no_upstream_gradient_is_printed(sheet: Sheet, layer: Layer) -> None:
    if not layer.module().definition(layer.module().output)[0].indices:
        deltas = {n.tensor for m in sheet.formulas() for n in walk(m.expr)
                  if isinstance(n, Entry) and n.tensor.startswith("delta_")}
        assert not deltas and "upstream" not in words(sheet), deltas


def asked(name: str, **changes: object) -> Sheet:
    return compose(Messages(replace(ZOO[name].module(), **changes)))  # type: ignore[arg-type]


def partial(of: str, wrt: str) -> Partial:
    entries = [Entry(n, tuple(map(Idx, letters))) for n, _, letters in (part.partition(" ") for part in (of, wrt))]
    return Partial(*entries)


def formulas(blocks: tuple[Block, ...]) -> list[str]:
    return [b.latex for b in blocks if isinstance(b, Math) and b.scope != WHOLE]


def words(sheet: Sheet) -> str:
    return "\n".join(b.text for b in sheet.blocks() if isinstance(b, (Prose, Heading)))


NAMED = [
    ("neuron_bce", ("ell", "w i"), r"\frac{\partial \ell}{\partial w_{i}} = (\hat{y} - t) x_{i}"),
    ("neuron_bce", ("y_hat", "s"), r"\frac{\partial \hat{y}}{\partial s} = \hat{y} \cdot (1 - \hat{y})"),
    ("softmax", ("p i", "z i"), r"\frac{\partial p_{i}}{\partial z_{i}} = p_{i} (1 - p_{i})"),
    ("linear_prelu_squared", ("y i", "x j"), r"\frac{\partial y_{i}}{\partial x_{j}} = W_{ij} \begin{cases} 1 & \text{if } s_{i} > a s_{i} \\ a & \text{otherwise} \end{cases}"),
    ("linear", ("loss", "W pq"), r"\frac{\partial L}{\partial W_{pq}} = \delta_{s,p} x_{q}"),
]


@pytest.mark.parametrize(("name", "wanted", "expected"), NAMED)
def test_a_derivative_that_the_question_names_is_the_answer(name: str, wanted: tuple[str, str], expected: str) -> None:
    sheet = asked(name, wanted=(partial(*wanted),), asked=("jacobian",))
    assert formulas(sheet.answer) == [expected]


def test_only_what_is_asked_for_is_answered() -> None:
    roles = {"inputs": ("x",), "parameters": ("W", "b")}
    forward = asked("linear", asked=("forward",), **roles)
    assert formulas(forward.answer) == [r"s_{k} = \sum_{j} W_{kj} x_{j} + b_{k}"]
    backward = asked("linear", asked=("jacobian", "vjp"), **roles)
    assert [b.name for b in backward.answer if isinstance(b, Math) and b.scope != WHOLE] == ["jacobian_x", "message_x"]
    trained = asked("linear", asked=("parameters",), **roles)
    names = [b.name for b in trained.answer if isinstance(b, Math) and b.scope != WHOLE]
    assert names == ["jacobian_W", "jacobian_b", "message_W", "message_b"]
    assert "nothing to train" in words(asked("relu", asked=("parameters",)))


def test_a_maximiser_is_defined_before_it_is_used() -> None:
    sheet = asked("maxout")
    assert formulas(sheet.answer)[0].startswith(r"r^* = \arg\max_{r}")
    assert "the first of them if there are several" in words(sheet) and "`first`" in words(sheet)


def test_sums_have_the_limits_that_the_card_writes() -> None:
    assert r"\sum_{j=1}^{n} \delta_{y,j}" in " ".join(formulas(asked("layer_norm").answer))
    assert r"\sum_{i} \delta_{y,i}" in " ".join(formulas(asked("batch_norm").answer))


def test_each_rule_has_words() -> None:
    for name, rule in [("softmax", "*Quotient.*"), ("sigmoid", "*Exponential.*"), ("neuron_bce", "*Logarithm.*"),
                       ("two_layers", "*Hyperbolic tangent.*"), ("squared", "*Power.*"), ("two_norm", "*Root.*"),
                       ("maxout", "*Maximum.*"), ("prelu", "*Maximum of terms.*"), ("elu", "*Cases.*"),
                       ("absolute", "*Absolute value.*"), ("product_of_entries", "*Long product.*"),
                       ("bilinear", "*Product.*"), ("linear", "*Sum.*"), ("neuron_bce_function", "outer function")]:
        assert rule in words(asked(name)), name


def test_a_chain_goes_back_through_what_is_known_already() -> None:
    text = " ".join(formulas(asked("softmax_regression", asked=("jacobian",)).details))
    assert r"\frac{\partial \ell}{\partial x_{j}} = \sum_{k} \frac{\partial \ell}{\partial s_{k}} \frac{\partial s_{k}}{\partial x_{j}} = \sum_{k} (p_{k} - t_{k}) W_{kj}" in text
    assert text.count(r"\frac{\partial \ell}{\partial s_{k}} = ") == 1


def test_a_residual_layer_of_parameters_alone_has_a_graph() -> None:
    formulas_ = (r"r_i = \max(0, \sum_j U_{ij} x_j)", r"y_i = x_i + \sum_j V_{ij} r_j")
    module = module_from(Layer("residual", formulas_, {"x": (3,), "U": (3, 3), "V": (3, 3)}))
    sheet = compose(Messages(replace(module, inputs=(), parameters=("U", "x", "V"))))
    assert sheet.figures()


def test_what_cancels_is_said_to_cancel() -> None:
    assert "contributions cancel" in words(asked("batch_norm"))


def test_a_local_derivative_that_holds_others_fixed_is_not_printed_as_a_total_one() -> None:
    printed = " ".join(formulas(asked("batch_norm").details))
    assert r"\frac{\partial \hat{x}_{i}}{\partial x_{j}} = \frac{1}{\sqrt{v + \epsilon}} \, \mathbb{I}[j = i] = " not in printed


def test_both_sides_of_a_kink_are_named() -> None:
    text = words(asked("prelu"))
    assert "jumps between $a$ and $1$; the formulas take $a$" in text
    assert "Where $s_{k} = 0$, $y_{k}$ has no derivative with respect to $s_{k}$ unless $a = 1$" in text


def test_a_window_says_what_it_covers() -> None:
    assert "covers the $(i, j)$ with $k - 1 \\le i \\le k$ and $2l \\le j \\le 2l + 2$" in words(asked("window_mean"))


@pytest.mark.parametrize(("norm", "said", "missing"), [
    (1, "$x_{ij} = 0$", "is a norm"), (3, "$f_{kl} = 0$, that is where all entries of a window", "$x_{ij} = 0$"),
    (2.5, "$f_{kl} = 0$, that is where all entries of a window", "$x_{ij} = 0$"),
])  # fmt: skip
def test_a_power_above_1_has_no_kink(norm: float, said: str, missing: str) -> None:
    shown = words(unchecked(derive.layer("lp_pool", kernel_size=2, norm=norm)).sheet)
    assert said in shown and missing not in shown


def test_every_axis_of_an_entry_has_a_letter() -> None:
    mean, square = r"\frac{1}{C T} \sum_{c=1}^{C} \sum_{t=1}^{T}", r"\sigma^2_{ng}"
    layer = Layer("group_norm", (
        rf"\mu_{{ng}} = {mean} x_{{ngct}}", rf"{square} = {mean} (x_{{ngct}} - \mu_{{ng}})^2",
        rf"y_{{ngct}} = \frac{{x_{{ngct}} - \mu_{{ng}}}}{{\sqrt{{{square} + \epsilon}}}}"),
        {"x": (2, 3, 2, 2), "epsilon": ()})
    messages = Messages(module_from(layer))
    for math in compose(messages).formulas():
        assert read(math.latex, messages.module.table) is math.expr, math.latex


def test_a_maximum_over_steps_has_a_star_that_reads_back() -> None:
    """h_k = max_{0≤a<2} x_{2k+a}: a^* is an index, and 2k + a^* lies in range."""
    layer = Layer("pooled_twice", (r"h_k = \max_{0 \le a < 2} x_{2k+a}", r"y_k = \max_{0 \le a < 2} h_{2k+a}"), {"x": (8,)})
    messages = Messages(module_from(layer))
    sheet = compose(messages)
    tables = scope_tables(messages.module)
    for math in (*sheet.formulas(), *sheet.inline):
        assert read(math.latex, tables[math.scope]) is math.expr, math.latex
    answers = [b.latex for b in sheet.answer if isinstance(b, Math) and b.name == "jacobian_x"]
    assert answers == [r"\frac{\partial y_{k}}{\partial x_{i}} = \mathbb{I}[i = 2 (2k + a'^*) + a^*(2k + a'^*)]"]


def test_what_is_derived_like_something_before_has_a_display_of_its_own() -> None:
    blocks = tuple(solved("two_layers_numbers").sheet.blocks())
    lead = next(n for n, b in enumerate(blocks) if isinstance(b, Prose) and b.text.startswith("**With respect to** $v_{i}$."))
    assert formulas(blocks[lead + 1:])[0] == r"\frac{\partial y}{\partial v_{i}} = h_{i}"


def test_a_derivative_beside_messages_is_derived_in_the_standard_sheet() -> None:
    blocks = solved("mixture_of_linear_experts").sheet.blocks("standard")
    shown = [b.expr.terms[0] for b in blocks if isinstance(b, Math) and b.name == "chain" and isinstance(b.expr, Rel)]
    assert partial("y k", "x j") in shown


def told(question: str, tmp_path: Path, detail: str = "standard") -> str:
    """The sheet of a question in Markdown."""
    card = tmp_path / "card.md"
    card.write_text(f"---\nid: card\n---\n\n# Question\n{question}\n", encoding="utf-8")
    return str(derive.render(derive.solve(card), "md", detail))


@pytest.mark.parametrize(("question", "first"), [
    ("Let $y = Wx + b$ and $\\ell = \\frac{1}{2} \\| y - t \\|^2$ with target $t$. Derive the parameter messages.", "(k, j) = (i, l)"),
    ("Let $y_k = \\max(0, s_k)$. Derive the backward message.", "i = k"),
    ("Let $y = x^2$. Derive $\\frac{dy}{dx}$.", ""),
])
def test_what_a_bracket_means_is_said_once(question: str, first: str, tmp_path: Path) -> None:
    """By the answer if it has one, else behind the first in the derivation; not where there is none."""
    text = told(question, tmp_path)
    assert text.count("is 1 where the condition in it holds") == bool(first)
    assert (rf"Here $\mathbb{{I}}[{first}]$" in text) == bool(first)


def test_definitions_that_the_card_tells_in_words_are_in_one_notation(tmp_path: Path) -> None:
    text = told("A batch normalization layer has gain $\\gamma$, shift $\\beta$ and a small $\\epsilon$ added to the "
                "variance. Derive its backward message.", tmp_path)
    assert r"\mu_{k} = \frac{1}{N} \sum_{n} x_{nk}" in text and r"\mu = " not in text
    assert "- layer (line 6, in words): $y_{nk} =" in text and "- layer (line 6: " not in text


@pytest.mark.parametrize(("name", "rounded"), [("maxout_unit", False), ("lstm_by_name", True)])
def test_rounding_is_told_where_there_is_some(name: str, rounded: bool) -> None:
    assert ("what is not rational is rounded" in str(derive.render(solved(name), "md", "full"))) == rounded


@pytest.mark.parametrize(("name", "title"), [
    ("network_softmax", "Linear layer, ReLU, linear layer, softmax and categorical cross-entropy: derivative with respect to $W^{(2)}$"),
    ("softmax_ce_facts", "Softmax and categorical cross-entropy: derivative with respect to $s$"),
    ("maxout_stages", "Maxout layer: derivatives with respect to $x$ and $w$"),
])
def test_a_title_names_each_layer_where_the_formulas_tell_more_than_the_words(name: str, title: str) -> None:
    assert composed_card(name).sheet.title == title


def test_the_card_s_own_letters_for_numbers_of_units_are_the_answer_s() -> None:
    """«s $M$ jednotkami … s $K$ jednotkami»."""
    module = solved("mlp_words_cz").messages.module
    sizes = {s.name: [getattr(n, "name", n) for n in s.sizes] for s in module.table.symbols if s.sizes}
    assert (sizes["W"][0], sizes["V"], sizes["c"]) == ("M", ["K", "M"], ["K"])


def test_what_holds_on_the_same_boundary_is_said_once() -> None:
    said = next(b.text for b in composed_card("triplet").sheet.answer if isinstance(b, Prose) and "unless" in b.text)
    assert said.count(r"\alpha = 0") == 1 and said.count(", none with respect to") == 2 and "unless $p_{i} = n_{i}$" in said


@pytest.mark.parametrize(("name", "entrywise"), [
    ("mlp_words_cz", True), ("gru_step", True), ("triplet", False), ("lstm_cell", False), ("logistic_samples", False)])
def test_functions_of_vectors_are_said_to_act_entry_by_entry(name: str, entrywise: bool) -> None:
    text = " ".join(b.text for b in composed_card(name).sheet.answer if isinstance(b, Prose))
    assert ("functions act entry by entry" in text) == entrywise


@pytest.mark.parametrize(("name", "outputs", "first"), [("conv2d_bank", 1, True), ("conv1d_full", 4, False)])
def test_of_many_outputs_the_first_is_said_where_others_have_no_numbers(name: str, outputs: int, first: bool) -> None:
    sheet = composed_card(name).sheet
    shown = {n.of for b in sheet.details if isinstance(b, Math) and b.name == "example_derivatives" for n in walk(b.expr)
             if isinstance(n, Partial)}
    assert len(shown) == outputs
    assert any("those of the first" in b.text for b in sheet.details if isinstance(b, Prose)) == first
