"""Statements in the front matter: they count over the question, and what they leave out is read from it."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.errors import CardError, DeriveError
from derive.module import Module
from derive.question import module_of

MISH = r"""forward:
  - 's_k = \sum_j W_{kj} x_j + b_k'
  - 'y_k = f(s_k)'
functions:
  - 'f(s) = s \tanh(\ln(1 + e^{s}))'
parameters: [W, b]
shapes:
  - 'W \in \mathbb{R}^{K \times n}'
"""


def read(front: str, question: str = "Derive.") -> Module:
    return module_of(Card.parse(f"---\nid: q\n{front}---\n# Question\n{question}\n", "q.md"))


def refused(front: str, question: str = "Derive.") -> str:
    with pytest.raises(DeriveError) as error:
        read(front, question)
    return str(error.value)


@pytest.mark.parametrize("question", [
    "Derive.", "A blubb layer with 3×3 max pooling of stride 7 and unpooling, where $W$ is a target.",
    "Here $y = q(]$ and $\\int_0^1 x \\, dx = \\mathbb{E}[x]$.", "Nakreslete graf.",
])  # fmt: skip
def test_whatever_the_words_say(question: str) -> None:
    module = read(MISH + "derive: [forward, backward, parameters]\n", question)
    assert (module.inputs, module.parameters, module.output) == (("x",), ("W", "b"), "y")
    assert module.asked == ("forward", "vjp", "parameters")
    assert [f.name for f in module.functions] == ["f"]
    assert module.readings[-1] == ("the front matter counts over the question's words: `forward` (line 4), `functions` (line 7), "
                                   "`parameters` (line 8), `shapes` (line 10)")


def test_it_is_solved() -> None:
    solution = derive.solve(Card.parse(f"---\nid: q\n{MISH}derive: [backward, parameters]\n---\n# Question\nDerive.\n"))
    assert solution.report.ok


def test_what_is_asked_may_come_from_the_question() -> None:
    question = r"The loss is $\ell$. Derive $\frac{\partial \ell}{\partial W_{kj}}$ of the Mish layer."
    module = read(MISH, question)
    assert [str(d.wrt) for d in module.wanted] == [str(d.wrt) for d in read(
        MISH + r"derive: ['\frac{\partial \ell}{\partial W_{kj}}']" + "\n").wanted] != []
    assert read(MISH, "Derive the backward message.").asked == ("vjp",)


def test_roles_may_come_from_the_question() -> None:
    front = "forward: ['y_k = a x_k']\nderive: [backward]\n"
    assert read(front, "The slope $a$ is trainable.").parameters == ("a",)
    assert read(front).parameters == ()


def test_keys_beside_a_question_with_formulas() -> None:
    formula = r"Consider $y_k = \max(s_k, a s_k)$."
    module = read("parameters: [a]\nderive: [backward, parameters]\n", formula)
    assert (module.parameters, module.asked) == (("a",), ("vjp", "parameters"))
    assert "layer (line 7: $y_k = \\max(s_k, a s_k)$)" in module.readings
    module = read(r"derive: ['\frac{\partial \ell}{\partial a}']" + "\n", formula)
    assert [d.wrt.tensor for d in module.wanted] == ["a"]  # type: ignore[attr-defined]
    assert read("facts: ['a > 0']\n", formula + " Derive the backward message.").facts


def test_a_function_that_the_question_applies() -> None:
    question = "Consider $y_k = g(s_k)$. Derive the backward message."
    module = read("functions: ['g(s) = s^3 + c']\nconstants: [c]\nfacts: ['c > 0']\n", question)
    assert (module.inputs, module.constants) == (("s",), ("c",))
    assert module.facts


def test_keys_beside_a_layer_that_the_question_names() -> None:
    module = read("kernel_size: 2\nderive: [vjp]\n", "Consider max pooling with stride 2.")
    assert (module.name, module.asked, module.fields[0][1].stride) == ("max_pool", ("vjp",), (2, 2))
    assert read("kernel_size: 2\nfacts: ['x_{ij} > 0']\n", "Derive the backward message of average pooling.").facts


def test_a_window_of_its_own() -> None:
    forward = r"forward: 'f_{kl} = \max_{(i,j) \in \Omega(k,l)} x_{ij}'" + "\n"
    module = read(forward + "kernel_size: 2\npadding: [0+1, 1]\nderive: [backward]\n", "Derive. The stride is 7.")
    assert module.fields[0][1].stride == (2, 2)
    assert [(a.padding, a.padding_after) for a in module.fields[0][1].axes] == [(0, 1), (1, 1)]  # type: ignore[union-attr]
    assert (module.name, module.asked) == ("max_pool", ("jacobian", "vjp"))
    assert read(forward + "derive: [backward]\n", "The windows are 3×3.").fields[0][1].kernel_size == (3, 3)


def test_shapes_declare_vectors_and_letters_with_labels() -> None:
    module = read(r"""forward:
  - 's = W x + b_0'
  - 'y = \tanh(s)'
shapes: ['W \in \mathbb{R}^{m \times n}', 'x \in \mathbb{R}^n', 'b_0 \in \mathbb{R}^{\cdot}']
derive: [backward]
""")
    assert module.inputs == ("W", "x", "b_0")
    assert len(module.table.named("b_0").axes) == 1  # type: ignore[union-attr]


def test_a_range_stands_beside_its_equation() -> None:
    front = r"forward: ['y_t = \sum_{k=0}^{2} w_k x_{t-k}']" + "\nranges: ['2 \\le t < N']\nshapes: ['x \\in \\mathbb{R}^N']\n"
    assert read(front + "derive: [backward]\n").recounted is not None


def test_own_letters_for_the_loss_and_the_upstream_gradient() -> None:
    module = read("forward: ['y_k = x_k^2']\nloss: E\nupstream: g\nderive: [backward]\n")
    assert module.table.named("loss").latex == "E"  # type: ignore[union-attr]
    assert module.table.named("delta_y").latex == "g"  # type: ignore[union-attr]
    assert refused("forward: ['y_k = x_k^2']\nloss: x\nderive: [backward]\n") == (
        "q.md:4: `loss: x` is a letter of the layer; give one of them another")


def test_one_of_two_outputs() -> None:
    front = "forward: ['y_k = x_k^2', 'z_k = 3 x_k']\nderive: [backward]\n"
    assert "which is the layer's output" in refused(front)
    assert read(front + "output: z\n").output == "z"
    assert refused(front + "output: q\n") == "q.md:5: `output: q` is defined by no formula; defined are `y`, `z`"


@pytest.mark.parametrize(("front", "message"), [
    ("forward: ['y_k = x_k^2']\n", "the question asks for no message or derivative"),
    ("forward: ['3 x_k']\nderive: [backward]\n", "`forward: 3 x_k`: a formula says what a letter is"),
    ("forward: ['y_k = x_k^2']\nfacts: ['x_k']\nderive: [backward]\n", "`facts: x_k`: a fact is a relation"),
    ("forward: ['y_k = x_k^2']\nshapes: ['x > 0']\nderive: [backward]\n", "`shapes: x > 0`: a shape is written as in"),
    ("forward: ['y_k = x_k^2']\nderive: [backwards]\n", "`derive: backwards`: did you mean `backward`?"),
    ("forward: ['y_k = x_k^2']\nderive: []\n", "`derive` lists nothing"),
    ("forward: ['y_k = g(x_k)']\nfunctions: ['g(s) = s^2', 'f(s) = g(s)']\nderive: [backward]\n", "a function that a formula applies"),
    ("forward: ['y_k = x_k^2']\nparameters: [w]\nderive: [backward]\n", "`parameters` names `w`, which the layer is not given"),
    ("forward: ['y_k = g(x_k)']\nderive: [backward]\n", "define the function, as in `g(u) = …`"),
    ("forward: ['y_k = x_k^2']\nderive: ['\\frac{\\partial \\ell}{\\partial y_k}']\n", "is the upstream gradient, which is given"),
])  # fmt: skip
def test_what_says_nothing_is_refused(front: str, message: str) -> None:
    found = refused(front)
    assert message in found
    assert found.startswith("q.md:")


def test_a_fact_on_no_letter_of_the_layer_is_said_to_be_left_out() -> None:
    readings = read("forward: ['y_k = x_k^2']\nfacts: ['\\epsilon > 0']\nderive: [backward]\n").readings
    assert "the fact $\\epsilon > 0$ is no condition on one of the letters given, and is left out" in readings


def test_kinds_beside_derivatives_are_those_by_all_letters() -> None:
    front = "forward: ['y = \\sum_k w_k x_k']\nparameters: [w]\nderive: [parameters, '\\frac{\\partial y}{\\partial x_k}']\n"
    assert [d.wrt.tensor for d in read(front).wanted] == ["x", "w"]  # type: ignore[attr-defined]


def test_an_unreadable_formula_names_its_key_and_line() -> None:
    with pytest.raises(CardError, match=r"q.md:5: `forward`: column"):
        read("forward:\n  - 'y_k = x_k'\n  - 'z_k = y_k^2^3'\nderive: [backward]\n")


def test_two_sizes_whose_product_divides_are_those_of_two_sums() -> None:
    module = read("forward: ['s_c = \\frac{1}{HW} \\sum_{i,j} u_{cij}']\nderive: [backward]\n")
    assert module.inputs == ("u",)
    assert module.table.named("u").sizes == ("", "H", "W")  # type: ignore[union-attr]


@pytest.mark.parametrize(("question", "otherwise"), [
    (r"Let $y_k = \max(0, x_k)$.", True), (r"Let $y_k = f(x_k)$ with $f(s) = \max(0, s)$.", True),
    (r"Let $y_k = \max(2 x_k, 0)$.", False), (r"Let $y = 2 \max(0, x)$.", False), (r"Let $f(s) = 2 \max(0, s)$.", False),
    (r"Let $y_k = \phi(x_k)$ with $\phi(u) = \max(0, u)$.", False),  # of letters that the statement has not
])
def test_a_statement_that_the_question_contradicts_is_said_on_the_sheet(question: str, otherwise: bool) -> None:
    card = Card.parse("---\nid: q\nforward: ['y_k = f(x_k)']\nfunctions: ['f(s) = \\max(0, 2 s)']\nderive: [backward]\n---\n\n"
                      f"# Question\n{question} Derive.\n")
    said = [r for r in derive.solve(card).module.readings if "the front matter says otherwise" in r]
    assert bool(said) is otherwise
