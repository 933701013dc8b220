"""What questions ask for, in words: kinds of messages, in their order."""

from __future__ import annotations

import re

import pytest

from derive.card import Card
from derive.errors import CardError, DeriveError, UnsupportedError
from derive.expr import Entry, Idx
from derive.module import Module
from derive.notation import symbols, write
from derive.question import module_of
from derive.question.requests.spoken import Spoken
from tests.bank import named

CASES = r"""
derive the backward message and the parameter message. | vjp parameters
derive the forward, backward and parameter messages. | forward vjp parameters
derive the parameter messages. | parameters
derive its backward. | vjp
derive forward and backward. | forward vjp
the forward message is shown. | nothing
does it have a parameter message? | nothing
derive all messages. | vjp all
derive the messages of this layer. | vjp all
derive the messages for ∎. | vjp
use gradient descent. | nothing
the gradient vanishes. | vjp
differentiate the layer. | jacobian
compute the gradient of the loss with respect to both weights and bias. | vjp parameters
compute the weight update. | parameters
show how the error is propagated back to the input. | vjp
odvoďte zpětnou zprávu a zprávu pro parametry. | vjp parameters
odvoďte všechny zprávy. | vjp all
""".strip().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_messages_in_words(case: str) -> None:
    words, _, expected = case.partition(" | ")
    said = Spoken(words)
    kinds = dict.fromkeys([*(item.kind for item in said.items), *["all"] * (said.everything is not None)])
    assert (" ".join(kinds) or "nothing") == expected


@pytest.mark.parametrize(("request_", "loss"), [
    ("Derive the gradient with respect to $W$.", True),
    ("Derive the gradient of the output with respect to $W$.", False),
    ("Derive the derivative of the loss with respect to $W$.", True),
    ("Derive the derivative with respect to $W$.", False),
])  # fmt: skip
def test_a_gradient_is_that_of_a_loss_unless_the_output_is_named(request_: str, loss: bool) -> None:
    module = read(f"$y_k = \\sum_j W_{{kj}} x_j$ with the weights $W$. {request_}")
    assert any("loss" in repr(d.of) for d in module.wanted) is loss


def test_the_gradient_of_the_loss_asks_for_no_derivative_of_the_output() -> None:
    module = read("$y_k = \\sum_j W_{kj} x_j$ with the weights $W$. Derive the gradients of the loss with respect to $x$ and $W$.")
    assert [d.of for d in module.wanted] == [Entry("loss", ()), Entry("loss", ())]


@pytest.mark.parametrize("request_", [
    "Given $\\partial L/\\partial Y$, what is $\\partial L/\\partial X$?",
    "Derive $\\frac{\\partial L}{\\partial X}$ from the upstream $\\frac{\\partial L}{\\partial Y}$.",
])  # fmt: skip
def test_a_given_derivative_names_the_output(request_: str) -> None:
    module = read(f"A feature map $X$ enters a max pooling layer with a $2\\times2$ window and stride 2. {request_}")
    assert (module.output, module.inputs, module.asked) == ("Y", ("X",), ("vjp",))


def test_what_is_said_of_a_loss_asks_for_nothing() -> None:
    module = read("Squared error is sensitive to outliers. For $L = (w x - t)^2$ compute $\\partial L/\\partial w$.")
    assert len(module.wanted) == 1


def test_one_step_of_a_recursion_is_a_layer() -> None:
    step = "$h = \\tanh(w g + u x)$. During backpropagation through time, $\\partial L/\\partial h$ arrives"
    assert read(f"{step} at this step. Derive $\\partial L/\\partial g$.").asked == ("vjp",)
    with pytest.raises(UnsupportedError, match="recursions"):
        read(f"{step}. Derive $\\partial L/\\partial g$.")


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n", "q.md"))


@pytest.mark.parametrize("request_", [r"$\nabla J(\mathbf{w})$", "its gradient", "the gradient"])
def test_the_gradient_of_a_function_is_the_one_by_its_argument(request_: str) -> None:
    question = (r"The objective is $J(\mathbf{w}) = \frac{1}{2N} \|\mathbf{y} - \mathbf{X} \mathbf{w}\|^2$ with the "
                rf"$N \times p$ matrix $\mathbf{{X}}$. Derive {request_}.")
    module = module_of(Card.parse(f"---\nid: applied\n---\n\n# Question\n{question}\n"))
    assert [d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)] == ["w"]
    assert "N" not in module.given


@pytest.mark.parametrize(("request_", "name"), [
    ("Derive the gradients with respect to $x$, $W$ and $V_T$.", "V_T"),
    ("Derive the derivative of the loss with respect to the weights $W$ and the gate $g$.", "g"),
])
def test_a_letter_that_the_layer_does_not_have_is_not_left_out(request_: str, name: str) -> None:
    with pytest.raises(CardError, match=f"asks for the derivative by `{name}`"):
        read(f"$y_k = \\sum_j W_{{kj}} x_j$ with the weights $W$; the layer before has $V_T \\in \\mathbb{{R}}^n$. {request_}")


@pytest.mark.parametrize("given", [r"$\partial L/\partial s'$", r"$\frac{\partial L}{\partial \mathcal{Q}[z]}$"])
def test_a_derivative_that_cannot_be_read_is_not_passed_over(given: str) -> None:
    """It may be asked for, or be the gradient of something further on that no formula computes."""
    with pytest.raises(CardError):
        read(rf"$z = \tanh(W x + U s)$. Given {given}, derive $\partial L/\partial s$ and $\partial L/\partial x$.")


@pytest.mark.parametrize("part", [
    r"\frac{y}{\partial v_k}", r"\frac{\partial y}{v_k}", r"{\partial y}{\partial v_k}", r"\partial y \partial v_k",
    r"\partial y/v_k", r"y/\partial v_k", r"\nabla{v} y",
])
def test_a_part_of_a_derivative_is_not_left_out_of_a_list(part: str) -> None:
    with pytest.raises(CardError, match=re.escape(f"`{part}`: a part of a derivative; write")):
        read(rf"Let $y = \sum_k v_k u_k$. Determine ${part}$ and $\frac{{\partial y}}{{\partial u_k}}$.")


def test_a_jacobian_may_be_by_the_transposed_letter() -> None:
    plain, turned = (read(rf"$y = \tanh(W x)$ with $x \in \mathbb{{R}}^n$. Find $\partial y/\partial {x}$.") for x in ("x", r"x^\top"))
    assert plain.wanted == turned.wanted != ()


def test_what_stands_behind_a_preposition_is_not_in_the_list() -> None:
    module = read(r"$y = \tanh(W x)$. Derive the gradients of a cost $E$ with respect to $W$ and $x$ from the column "
                  r"vector $\delta = \partial E/\partial y$.")
    assert {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} == {"W", "x"}


@pytest.mark.parametrize(("request_", "letters"), [
    ("the backward messages with respect to $x$ and $z$", "x z"),
    ("the backward message for $x$", "x"),
    ("the gradients with respect to $x$ and all parameters", "x W U b"),
    ("the gradient with respect to $z$ and the weights", "z W U"),
    ("the backward message with respect to $x$ and the parameter messages", "x W U b"),
    ("the backward message with respect to $x$ and the parameter message with respect to $U$", "x U"),
    ("the parameter message with respect to $W$", "W"),
])
def test_letters_and_roles_that_are_named_are_answered_and_no_others(request_: str, letters: str) -> None:
    module = read(rf"A layer computes $y = \tanh(W x + U z + b)$. Derive {request_}.")
    assert list(dict.fromkeys(w.wrt.tensor for w in module.wanted if isinstance(w.wrt, Entry))) == letters.split()


@pytest.mark.parametrize(("request_", "asked"), [
    ("the gradient with respect to all parameters", "parameters"), ("the gradients of its weights and its bias", "parameters"),
    ("the gradients of the parameters and the backward message", "vjp parameters"),
])
def test_the_gradient_by_the_parameters_alone_asks_for_no_backward_message(request_: str, asked: str) -> None:
    assert {*read(rf"A layer computes $y = \tanh(W x + b)$. Derive {request_}.").asked} == {*asked.split()}


@pytest.mark.parametrize("words", ["the messages", "messages", "all messages"])
def test_messages_without_a_word_in_front_are_all_of_them(words: str) -> None:
    assert set(read(rf"Let $y_k = \sum_j W_{{kj}} x_j$ with weights $W$. Derive {words}.").asked) == {
        "forward", "jacobian", "vjp", "parameters"}


def test_messages_are_answered_in_the_order_of_the_request() -> None:
    module = read(r"A layer computes $y = \tanh(W x + b)$. Derive the forward message, the backward message and the "
                  "parameter messages.")
    assert module.asked == ("forward", "vjp", "parameters")


PLAIN = r"$y = \tanh(W x + b)$ with $x \in \mathbb{R}^n$ and weights $W$, $b$."


@pytest.mark.parametrize("asked", [
    r"Derive $\partial L/\partial W$ and $q_x$.", r"Derive $q_x$ and $\partial L/\partial W$.",
    r"Derive $\delta_x$, $\delta_W$ and $\partial L/\partial b$.", r"Derive $\partial L/\partial W$ and $J_x$.",
    r"Derive $\partial L/\partial W$ and the curvature.", r"Derive the spectrum and the backward message.",
    r"Derive the backward message and $dW$.", "Compute the Jacobian, the eigenvalues and the parameter messages.",
    r"Find $\partial y/\partial x$ as well as the pseudoinverse.", "Derive the backward message; then find the blorp.",
    "Derive the negative gradient with respect to $W$.", "Derive the inverse of the Jacobian.",
    r"Derive the derivative of $\log y$ with respect to $W$.", "Derive the norm of the gradient with respect to $x$.",
    r"Derive the backward message. Compute $\kappa(W)$ too.", "(a) Derive the backward message. (b) Find the gizmo.",
])
def test_every_item_of_what_is_asked_is_understood(asked: str) -> None:
    """Half of a request is never answered."""
    with pytest.raises(CardError, match="is not understood in what is asked"):
        read(f"{PLAIN} {asked}")


@pytest.mark.parametrize("more", [
    ", and likewise for $b$.", " (similarly for $b$).", ". What about $b$?", ". Then the bias.", ". And $b$?",
    ". (b) Repeat for $b$.", ". (b) Same for $b$.", ". Also derive the corresponding expression for $b$.",
    " and that of the bias.",
])
def test_more_that_is_asked_for_without_a_verb_is_not_left_out(more: str) -> None:
    with pytest.raises(CardError, match="is not understood in what is asked"):
        read(rf"{PLAIN} (a) Derive $\partial L/\partial W${more}")


@pytest.mark.parametrize(("asked", "letters"), [
    ("the gradients for $W$, $b$ and the input", "Wbx"), ("the gradients with respect to $W$, and the input", "Wx"),
    ("the gradients with respect to the input $x$, the weights and $b$", "xWb"),
])
def test_nouns_beside_letters_are_asked_for_too(asked: str, letters: str) -> None:
    module = read(f"{PLAIN} Derive {asked}.")
    by = {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)}
    assert by == {*letters} or (not by and {"vjp", "parameters"} <= {*module.asked})  # all


@pytest.mark.parametrize(("question", "letters"), [
    ("$y = g x + c$ with gain $g$ and shift $c$. Derive the derivative with respect to the gain.", "g"),
    ("$y = g x + c$ with scale $g$ and offset $c$. Derive the gradients for the scale and the offset.", "gc"),
    (r"$z = W x$ and the logits $z$ give $y = \tanh(z)$. Derive the gradient with respect to the logits.", "z"),
])
def test_the_noun_of_one_letter_asks_for_that_letter(question: str, letters: str) -> None:
    assert {d.wrt.tensor for d in read(question).wanted if isinstance(d.wrt, Entry)} == {*letters}


ITEMS = [("the bias gradient", {"parameters"}), ("the forward message", {"forward"}), ("the backward message", {"vjp"}),
         ("the gradient with respect to the input", {"vjp"})]


@pytest.mark.parametrize(("item", "kinds"), ITEMS)
@pytest.mark.parametrize("listed", ["\n\n- {}\n- {}", ":\n* {}\n* {}", " the following.\n\n1. {}\n2. {}", "\n\n(a) {};\n\n(b) {}."])
def test_the_verb_in_front_of_a_list_asks_for_each_of_its_items(item: str, kinds: set[str], listed: str) -> None:
    first = r"$\partial L/\partial W$"
    one, module = read(f"{PLAIN} Derive {first} and {item}."), read(f"{PLAIN} Derive{listed.format(first, item)}")
    assert kinds | {"parameters"} <= {*module.asked} and {*map(repr, module.wanted)} == {*map(repr, one.wanted)}
    with pytest.raises(CardError, match="is not understood in what is asked"):
        read(f"{PLAIN} Derive{listed.format(item, 'the gizmo')}")


@pytest.mark.parametrize("asked", [
    "the gradients with respect to the weight matrix and the bias vector", "the gradient with respect to the input vector",
    "the gradient with respect to the entries of $W$", "the gradients with respect to its input, weights and bias",
])
def test_the_plain_nouns_of_a_layer_are_understood(asked: str) -> None:
    assert read(f"{PLAIN} Derive {asked}.").asked


def test_a_given_derivative_by_the_output_stands_in_front_of_the_request() -> None:
    given = "Writing $g$ for the derivative of the loss with respect to this output, derive"
    assert read(rf"{PLAIN} {given} $\partial L/\partial W$.").wanted == read(rf"{PLAIN} Derive $\partial L/\partial W$.").wanted


CHAINS = {"written": r"$z = W x$, $y = \max(0, z)$.", "named": "A linear layer is followed by a ReLU."}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("asked", [
    "the gradients for the hidden units", "the derivative of the ReLU",
    "the derivative with respect to the output of the linear layer", "the Jacobian of the linear layer", "both backward messages", "the gradient with respect to the residual",
])
def test_a_quantity_in_between_without_a_letter_is_left_open(asked: str, chain: str) -> None:
    with pytest.raises(CardError, match="is not understood in what is asked"):
        read(f"{CHAINS[chain]} Derive {asked}.")


@pytest.mark.parametrize("asked", [
    "the gradient with respect to all parameters except $b$", "the gradient with respect to everything other than $x$",
    "the gradients with respect to all but $W$", "all messages, except that for $W$",
    "the gradient with respect to all parameters apart from the bias",
])
def test_what_is_excepted_is_not_what_is_asked(asked: str) -> None:
    with pytest.raises(CardError, match="is not understood in what is asked"):
        read(f"{PLAIN} Derive {asked}.")


@pytest.mark.parametrize("asked", [
    "Derive the backward message and the output $y$.", "Write down $y$ and derive the backward message.",
    "Derive the local gradient $g$ and with it the backward message.", "State precisely and derive the backward message.",
    "Derive the backward message and the gradients for $W$ and $b$, and simplify.",
    "How does the curvature change? Derive the backward message.",
    r"Derive both backward messages $\partial L/\partial x$ and $\partial L/\partial b$.",
    r"Derive $\partial L/\partial x$, being careful with the limits of the sums.",
])
def test_what_the_sheet_shows_may_be_asked_for_beside_a_message(asked: str) -> None:
    assert "vjp" in read(f"{PLAIN} {asked}").asked


@pytest.mark.parametrize("asked", [
    r"∂L/∂W and $\partial L/\partial x$", r"dL/dW and dL/dx", r"`dL/dW` and $\nabla_x L$",
    r"$dW$ and $dx$, where $dy = \partial L/\partial y$", r"`dW` and `dx` from the upstream gradient $\frac{\partial L}{\partial y}$",
])
def test_gradients_as_programs_and_plain_text_spell_them(asked: str) -> None:
    module = read(f"{PLAIN} Derive {asked}.")
    assert {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} == {"W", "x"}


@pytest.mark.parametrize("asked", ["`dW` and `dx`", r"$dL$ in terms of $dy$ and $\partial L/\partial W$"])
def test_differentials_are_no_gradients_where_no_derivative_says_so(asked: str) -> None:
    with pytest.raises(DeriveError):
        read(f"{PLAIN} Derive {asked}.")


def test_a_loss_of_the_output_may_be_written_as_a_function() -> None:
    assert read(rf"{PLAIN} Let $L = L(y)$. Derive $\partial L/\partial x$.").asked == ("vjp",)
    with pytest.raises(CardError, match=r"what does the function `L` compute"):
        read(rf"{PLAIN} Let $L = L(y, W)$. Derive $\partial L/\partial x$.")


@pytest.mark.parametrize(("upstream", "message"), [
    (r"for an upstream gradient $\delta_k$", r"\delta_i"),
    (r"given the upstream gradient $g_k = \partial L / \partial y_k$", "g_i"),
    (r"given $\bar y_k = \frac{\partial L}{\partial y_k}$", r"\bar{y}_i"),
    (r"where $g_k$ denotes the incoming gradient", "g_i"),
    (r"given $dy = \partial L/\partial y$", r"\mathrm{dy}_i"),
    (r"for an upstream gradient $x_k$", r"\delta_{y,i}"),  # a letter of the layer is no other thing
])
def test_the_upstream_gradient_has_the_letter_of_the_question(upstream: str, message: str) -> None:
    table = read(rf"A layer computes $y_k = \tanh(x_k)$. Derive the backward message {upstream}.").table
    of = table.named("y")
    assert of is not None
    entry = Entry("delta_y", (Idx("i"),))
    assert write(entry, table.extended([symbols.message(of, table)])).replace("_{i}", "_i") == message


@pytest.mark.parametrize("asked", [
    r"Given $g = \frac{\partial L}{\partial y}$, derive the gradients with respect to $x$ and $W$.",
    r"Derive the gradients of $L$ with respect to $x$ and $W$.",
    r"For an upstream gradient $g$, derive the gradients for $x$ and $W$.",
])
@pytest.mark.parametrize("layer", [PLAIN, r"A maxout unit computes $z_k = \sum_j W_{kj} x_j$ and $y = \max_k z_k$."])
def test_gradients_are_those_of_the_loss_whose_gradient_is_given(layer: str, asked: str) -> None:
    wanted = read(f"{layer} {asked}").wanted
    assert [(d.of.tensor, d.wrt.tensor) for d in wanted if isinstance(d.of, Entry) and isinstance(d.wrt, Entry)] == [
        ("loss", "x"), ("loss", "W")]


@pytest.mark.parametrize(("question", "names"), [
    (r"One step of an LSTM is $$ c = f \odot b + i \odot g, \quad h = o \odot \tanh(c). $$", ("lstm",)),
    (r"Unlike the Huber loss, this one is $\ell = \log(1 + r^2)$.", ()),
    (r"The gate is a sigmoid, $s_k = 1/(1 + e^{-u_k})$ with $u_k = \sum_j W_{kj} x_j$.", ()),  # a part of the layer
])
def test_what_the_question_calls_its_formulas(question: str, names: tuple[str, ...]) -> None:
    assert read(f"{question} Derive the backward message.").called == names


def test_letters_by_which_parameter_messages_are_asked_for_are_parameters() -> None:
    module = read(r"Let $y = \tanh(Ax + c)$. Derive the backward message $\partial L/\partial x$ and the parameter messages "
                  r"$\partial L/\partial A$, $\partial L/\partial c$.")
    assert (module.inputs, module.parameters) == (("x",), ("A", "c"))


@pytest.mark.parametrize(("asked", "said"), [
    ("with respect to $w$ and $b$", "asked for the derivative by `w`, `b`"), ("with respect to $w$", "asked for the derivative by `w`"),
])
def test_all_letters_of_a_list_are_said_to_be_asked_for(asked: str, said: str) -> None:
    module = read(rf"Let $y = \tanh(\sum_j w_j x_j + b)$. Derive the gradients {asked}.")
    assert [r for r in module.readings if r.startswith("asked")] == [f"{said} (line 5: “{asked}”)"]


@pytest.mark.parametrize("name", ["max_pooling_backward", "huber", "logistic_regression", "average_pooling", "linear_squared"])
def test_a_derivative_that_is_asked_for_stands_on_the_line_that_is_named(name: str) -> None:
    text = named(name).read_text("utf-8")
    lines, readings = text.splitlines(), module_of(Card.parse(text)).readings
    found = [found for r in readings if (found := re.fullmatch(r"asked for (\$.*\$) \(line (\d+)\)", r))]
    assert found and all(r"\frac{\partial" in lines[int(f[2]) - 1] for f in found)


@pytest.mark.parametrize("asked, letters", [
    ("Forward, backward and parameter message. (4p)", "x W b"),
    ("forward / backward / parameter messages pls", "x W b"),
    ("Parameter messages for $W$ and $b$, backward message for $x$.", "W b x"),
    ("Backward message to $x$?", "x"),
    ("- Backward message to $x$\n- Parameter message for $b$", "x b"),
])
def test_a_list_of_messages_is_a_request(asked: str, letters: str) -> None:
    said = r"A layer with weights $W$ and bias $b$ maps the input $x$ to $$y_k = \tanh(\sum_j W_{kj} x_j + b_k).$$ "
    module = module_of(Card.parse(f"---\nid: t\n---\n# Question\n\n{said}\n\n{asked}\n\n# Solution\n\nTODO\n"))
    found = {w.wrt.tensor for w in module.wanted if isinstance(w.wrt, Entry)}
    if not found:
        found = {*(module.inputs if "vjp" in module.asked else ()), *(module.parameters if "parameters" in module.asked else ())}
    assert found == {*letters.split()}
    assert not any("Derive" in reading for reading in module.readings)  # what is quoted stands on the card


def test_kinds_of_messages_may_be_joined_by_strokes() -> None:
    module = read(r"A layer computes $y = \tanh(W x + b)$. Derive the forward / backward / parameter messages.")
    assert module.asked == ("forward", "vjp", "parameters")


@pytest.mark.parametrize(("question", "parameters"), [
    (r"A fully connected layer $s = W x + b$ is followed by $y_k = \max(s_k, a s_k)$ where $0 < a < 1$ is a learnable slope.", "W b a"),
    (r"Let $y = W x + b$ with the weight matrix $W$.", "W b"), (r"Let $h = \tanh(V x + c)$ and $y = W h + b$.", "V c W b"), (r"Let $y = g \odot (W x) + c$ with the gain $g$.", "g W c"),
])
def test_the_parameter_messages_are_those_of_all_parameters(question: str, parameters: str) -> None:
    """Weights and biases of which no word says anything are parameters, too, where another is called so."""
    assert {*read(f"{question} Derive the backward message and the parameter messages.").parameters} == {*parameters.split()}


def test_whether_a_letter_is_a_parameter_is_not_guessed() -> None:
    with pytest.raises(CardError, match="nothing says whether `M`, `u` are parameters"):
        read(r"Let $h = \tanh(W x + M u)$. Derive the parameter messages.")


@pytest.mark.parametrize(("layer", "asked", "found"), [
    (r"$y = w^\top x + b$", r"the gradients of the loss with respect to $w$ in terms of $\frac{\partial L}{\partial y}$", "L"),
    (r"$y_k = w_k x_k$", r"the gradients of the loss with respect to $w$ in terms of $\frac{\partial E}{\partial y_k}$", "E"),
])
def test_what_an_answer_is_written_with_says_what_the_loss_is(layer: str, asked: str, found: str) -> None:
    module = read(f"Let {layer}. Derive {asked}.")
    assert [d.of.tensor for d in module.wanted if isinstance(d.of, Entry)] == ["loss"]
    loss = module.table.named("loss")
    assert loss is not None and loss.latex == found


def test_a_partial_derivative_along_what_depends_on_its_letter_has_two_readings() -> None:
    with pytest.raises(CardError, match="at a fixed `y`, or with `y` that depends on `x`"):
        read(r"Let $f(x, y) = x^2 y$ with $y = \sin x$. Derive $\partial f/\partial x$.")
    assert read(r"Let $f(x, y) = x^2 y$ with $y = \sin x$. Derive $\frac{df}{dx}$.").wanted
    assert read(r"Let $L(\hat y, y) = (\hat y - y)^2$ with $\hat y = w x$. Derive $\partial L/\partial w$.").wanted


@pytest.mark.parametrize("asked", [r"$\nabla f(x)$ and $\partial f/\partial A$", r"$\partial f/\partial A$ and $\nabla f$",
                                   r"$\nabla_A f$ and the gradient $\nabla f(x)$"])
def test_the_gradient_beside_other_derivatives_is_not_left_out(asked: str) -> None:
    module = read(rf"Let $f(x) = x^\top A x$. Derive {asked}.")
    assert {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} == {"x", "A"}


@pytest.mark.parametrize("asked", [r"$\delta_x$ and $\partial L/\partial b$", r"$\nabla_b L$. Also give $\delta_x$",
                                   r"$\partial L/\partial b$ and from it $\delta_x$", r"$db$, as well as $\delta_x$"])
def test_a_message_by_its_letter_is_not_left_out_beside_others(asked: str) -> None:
    module = read(rf"Let $y = \tanh(Wx + b)$ and $L = \|y - t\|^2$ with the target $t$. Derive {asked}.")
    assert {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} == {"x", "b"}


@pytest.mark.parametrize(("jacobian", "asked", "found"), [
    (r"\partial c / \partial c_0", "Given $\\partial L/\\partial y$, give the gradient of $L$ with respect to $c_0$ and $W$", 3),
    (r"\partial y / \partial c_0", "Given $\\partial L/\\partial y$, give the gradient of $L$ with respect to $c_0$ and $W$", 3),
    (r"\partial c / \partial c_0", "Give the derivatives with respect to $c_0$ and $W$", 3),
    (r"\partial y / \partial c_0", "Give the derivatives with respect to $c_0$ and $W$", 2),
])
def test_a_derivative_of_something_else_by_the_same_letter_is_not_yet_the_gradient(jacobian: str, asked: str, found: int) -> None:
    module = read(r"Let $y = W c$ and $c = c_0 \odot g$ with $c_0, g \in \mathbb{R}^n$, $W \in \mathbb{R}^{m \times n}$. "
                  rf"(1) State the Jacobian ${jacobian}$. (2) {asked}.")
    assert len(module.wanted) == found and {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} == {"c_0", "W"}


@pytest.mark.parametrize("text", [
    r"Derive the derivatives of $f(z) = z^2$ and $g(z) = z^3$.", r"Find the derivative of $f(z) = z^2$ and of $g(z) = z^3$.",
    r"Let $f(z) = z^2$ and $g(z) = z^3$. Derive the derivatives of $f$ and $g$.",
    r"Compute the gradient of $f(x) = \sum_i x_i^2$ and $g(x) = \sum_i x_i^3$."])
def test_of_two_functions_that_are_asked_for_none_is_left_out(text: str) -> None:
    with pytest.raises(CardError, match="which is the layer's output"):
        module_of(Card.parse(f"---\nid: a\n---\n\n# Question\n{text}\n"))
