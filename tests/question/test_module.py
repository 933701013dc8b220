"""Each card of the tests says in its key ``expect`` what must be understood, or the error that it must get."""

from __future__ import annotations

from pathlib import Path

import pytest

from derive import errors
from derive.card import Card
from derive.expr import Entry, Idx, In, Reduce, SetApp, eq, open_as, over, tuple_of
from derive.module import Module
from derive.notation.symbols import Kind
from derive.question import module_of
from tests.bank import REFUSED, SAMPLE, WINDOWS, understood


def summary(module: Module) -> str:
    field = module.receptive_field
    value = module.equations[0].terms[1]
    assert field is not None and isinstance(value, Reduce)
    sizes = [
        f"{what} {'x'.join(map(str, size))}".strip()
        for what, size in (
            ("", field.kernel_size),
            ("stride", field.stride),
            ("padding", field.padding),
            ("dilation", field.dilation if max(field.dilation) > 1 else ()),
            ("input", module.input_size),
        )
        if size
    ]
    return f"{module.output} {value.op} {' '.join(module.inputs)}; {' '.join(sizes)}; {' '.join(module.asked)}"


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_what_is_declined(path: Path) -> None:
    card = Card.read(path)
    name, _, message = str(card.front_matter["expect"]).partition(": ")
    with pytest.raises(errors.DeriveError) as caught:
        module_of(card)
    assert type(caught.value) is getattr(errors, name) or name == "CardError" == type(caught.value).__base__.__name__
    assert message in str(caught.value)
    assert all(str(p).startswith(f"{path}:") for p in caught.value.problems), str(caught.value)


@pytest.mark.parametrize("path", WINDOWS, ids=lambda path: path.stem)
def test_how_a_card_is_read(path: Path) -> None:
    assert summary(understood(path.stem)) == str(Card.read(path).front_matter["expect"])


@pytest.mark.parametrize("path", WINDOWS, ids=lambda path: path.stem)
def test_every_module_has_the_one_form_and_all_its_letters(path: Path) -> None:
    module = understood(path.stem)
    (equation,) = module.equations
    name, field = module.fields[0]
    table = module.table
    window, source, output = table.named(name), table.named(module.inputs[0]), table.named(module.output)
    assert window and source and output
    assert window.kind is Kind.SET and window.axes == output.axes and window.members == source.axes
    assert not set(window.axes) & set(window.members)
    outs, ins = tuple(map(Idx, output.axes)), tuple(map(Idx, source.axes))
    assert len(outs) == len(ins) == len(field.axes)
    value = equation.terms[1]
    assert isinstance(value, Reduce)
    form = Reduce(value.op, over(ins, In(tuple_of(ins), SetApp(name, outs))), Entry(source.name, ins))
    assert equation is eq(Entry(output.name, outs), form)
    assert open_as(value, ins)[1] is Entry(source.name, ins)
    for tensor in (source, output):
        message = table.named(f"delta_{tensor.name}")
        assert message and message.axes == tensor.axes
    assert dict(table.stars).items() >= dict.fromkeys(source.axes, output.axes).items()
    assert len(module.readings) >= 4


def test_the_sample_card() -> None:
    module = module_of(Card.read(SAMPLE))
    assert summary(module) == "f max x; 2x2 stride 2x2 padding 0x0; jacobian vjp"
    assert (module.key, module.name, module.tie_rule) == ("ssu_batch4_004", "max_pool", "first")
    assert [r.partition(" (")[0] for r in module.readings] == [
        "layer", "window 2×2", "stride 2 in each axis", "no padding", r"asked for $\frac{\partial f_{kl}}{\partial x_{ij}}$", "asked for the backward message"
    ]  # fmt: skip
    assert "window 2×2 (line 14: “2x2 max pooling”)" in module.readings


def test_all_problems_of_a_card_at_once() -> None:
    text = SAMPLE.read_text().replace("difficulty: 2", "stride: 0\npadding: x\ntie_rule: none")
    with pytest.raises(errors.CardError) as caught:
        module_of(Card.parse(text, "q.md"))
    assert sorted(p.line or 0 for p in caught.value.problems) == [5, 6, 7]


@pytest.mark.parametrize(
    ("value", "sizes"), [("3", (3, 3)), ("[3, 2]", (3, 2)), ('"3x2"', (3, 2)), ("3 × 2", (3, 2)), ("(3, 2)", (3, 2))]
)
def test_sizes_in_the_front_matter(value: str, sizes: tuple[int, ...]) -> None:
    text = SAMPLE.read_text().replace("difficulty: 2", f"kernel_size: {value}")
    field = module_of(Card.parse(text)).receptive_field
    assert field is not None and field.kernel_size == sizes


@pytest.mark.parametrize("value", ["a", "[]", "true", "1.5", "[1, 2, 3]", "{a: 1}", "2y2"])
def test_sizes_that_are_none(value: str) -> None:
    text = SAMPLE.read_text().replace("difficulty: 2", f"kernel_size: {value}")
    with pytest.raises(errors.CardError, match="line 5|:5: "):
        module_of(Card.parse(text, "q.md"))


@pytest.mark.parametrize("tail", [r"\quad(i=1,\dots,n).", r", \qquad (i=1,2,\dots,n)", r"\quad (i \in \{1,\dots,n\})", r"\quad (1 \le i \le n)."])
def test_a_range_in_brackets_stands_behind_a_formula(tail: str) -> None:
    asked = r"Given $\partial L/\partial y_i$, derive $\partial L/\partial x_i$."
    module = module_of(Card.parse(f"---\nid: q\n---\n# Question\n$$y_i = g_i \\tanh(x_i){tail}$$ {asked}\n"))
    assert len(module.equations) == 1 and module.first == 1


def test_a_gradient_has_the_shape_of_its_letter() -> None:
    question = (r"Let $\mathbf{y} = W \mathbf{x}$ with $W \in \mathbb{R}^{m \times n}$. Suppose $\partial L/\partial \mathbf{y} \in \mathbb{R}^m$ "
                r"is known. Derive $\partial L/\partial \mathbf{x}$.")
    assert module_of(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n")).asked == ("vjp",)


def test_an_abbreviation_of_a_hint_is_not_the_output_beside_the_gradient_that_comes_in() -> None:
    question = (r"Let $y_i = x_i / \sqrt{1 + \beta x_i^2}$ and $\delta_i = \partial L/\partial y_i$. Derive $\partial L/\partial x_i$ and "
                r"$\partial L/\partial \beta$. Hint: put $q_i = (1 + \beta x_i^2)^{-1/2}$.")
    module = module_of(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))
    assert module.output == "y" and len(module.equations) == 1


def test_a_diagonal_matrix_is_square() -> None:
    from derive.axes import axes

    card = Card.parse("---\nid: q\n---\n\n# Question\nLet $D = \\mathrm{diag}(d)$ and $y = D x$. Derive $\\partial L/\\partial d$.\n")
    found = axes(module_of(card)).classes
    assert len({found[slot] for slot in (("D", 0), ("D", 1), ("d", 0), ("x", 0), ("y", 0))}) == 1
