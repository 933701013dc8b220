"""Words that may name mathematics open a question beside parts, losses and windows; roles where they count."""

import pytest

from derive.card import Card
from derive.errors import CardError, DeriveError
from derive.module import Module
from derive.notation import write
from derive.question import module_of


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: a\n---\n# Question\n{question}\n\n---\n# Solution\n"))


@pytest.mark.parametrize(("question", "word"), [
    # beside parts that only words name
    ("A linear layer with weights $W$, a mixture of experts and a softmax with cross-entropy. Derive all messages.",
     "mixture"),
    ("A causal linear layer, then ReLU and squared error. Derive all messages.", "causal"),
    ("A ReLU with reuse of the weights in the linear layer, then squared error. Derive all messages.", "reuse"),
    ("Two linear layers followed by softmax with cross-entropy. Derive all messages.", "linear layers"),
    ("A linear layer with zero bias, then a sigmoid and squared error. Derive all messages.", "zero"),
    ("A linear layer with positive weights, then squared error. Derive all messages.", "positive"),
    ("A linear layer with a lookup table, then tanh and squared error. Derive all messages.", "lookup"),
    ("Kauzální lineární vrstva, pak ReLU a kvadratická chyba. Odvoďte všechny zprávy.", "Kauzální"),
    ("A linear layer and a sigmoid; the loss is the Brier score. Derive all messages.", "Brier"),
    # losses that no formula computes
    ("A layer $s = w^T x + b$ and a sigmoid $p = 1/(1+e^{-s})$ are trained with the focal loss. Derive the gradients "
     "for $w$ and $b$.", "focal"),
    ("Let $y_k = \\max(0, x_k)$. The loss is the Euclidean distance. Derive the backward message.", "Euclidean"),
    ("Let $y = w^\\top x$. Minimise the quantile loss. Derive the gradient with respect to $w$.", "quantile"),
    ("Let $p = 1/(1+e^{-s})$ with target $t$. Derive the backward message.", "`t`"),
    # windows
    ("Max pooling over 2x2 windows. In a second version the windows overlap by one cell. Derive the backward message.",
     "version"),
    ("Max pooling over $3\\times 3$ windows with stride 2, where the median of the windows is subtracted. Derive the "
     "backward message.", "subtracted"),
    ("Average pooling over $2\\times2$ windows with likelihood weights. Derive the backward message.", "weights"),
])
def test_a_word_that_may_name_mathematics_opens(question: str, word: str) -> None:
    with pytest.raises(DeriveError, match=word):
        read(question)


CZECH = "Vrstva počítá $y_k = \\tanh(\\sum_j W_{kj} x_j + b_k)$. a) Odvoďte zprávu $\\frac{\\partial L}{\\partial x_j}$. b) "


@pytest.mark.parametrize("asked", ["Odvoďte gradienty parametrů $W$, $b$.", "Spočítejte gradienty vah $W$ a prahů $b$."])
def test_each_part_of_a_czech_question_is_asked_for(asked: str) -> None:
    assert "the parameter message" in " ".join(read(CZECH + asked).readings)


def test_a_part_of_a_czech_question_that_nothing_reads_is_open() -> None:
    with pytest.raises(DeriveError, match="is not understood in what is asked"):
        read(CZECH + "Odvoďte totéž pro parametry $W$ a $b$.")


@pytest.mark.parametrize("question", [
    "Let $s = w^\\top x$. The unit is trained with the perceptron criterion $L = \\max(0, -t s)$. Derive the gradient of "
    "$L$ with respect to $w$.",
    "In knowledge distillation the softmax with temperature $T$ is used, $q_i = \\frac{\\exp(z_i / T)}{\\sum_j "
    "\\exp(z_j / T)}$. Derive $\\frac{\\partial q_i}{\\partial z_j}$.",
    "The last stage of a classifier is a linear layer followed by a sigmoid. Derive the backward message.",
])
def test_what_a_formula_computes_is_read(question: str) -> None:
    assert read(question)


@pytest.mark.parametrize(("asked", "told"), [
    ("Compute $\\frac{\\partial y}{\\partial x_k}$.", True), ("Derive the backward message.", False),
])
def test_a_role_is_open_only_where_it_counts(asked: str, told: bool) -> None:
    question = f"The layer is $y = \\sum_k c_k x_k$ with the prototypes $c$. {asked}"
    if told:
        assert any("prototypes" in reading and "does not depend" in reading for reading in read(question).readings)
    else:
        with pytest.raises(DeriveError, match="prototypes"):
            read(question)


@pytest.mark.parametrize(("said", "parameters"), [
    ("Let $y_k = \\sum_j W_{kj} x_j + b_k$.", {"W", "b"}),
    ("A layer has two inputs, $x \\in \\mathbb{R}^n$ and $z \\in \\mathbb{R}^m$, and computes "
     "$y_k = x^\\top A_k z + c_k$.", {"A", "c"}),
    ("Let $y_k = \\beta x_k$. The sharpness $\\beta > 0$ is shared by all units and it is a parameter.", {"beta"}),
    ("Let $y_k = u_k v_k$.", None),
])
def test_which_letters_are_parameters_where_their_messages_are_asked_for(said: str, parameters: set[str] | None) -> None:
    question = f"{said} Derive the backward messages and the parameter messages."
    if parameters is None:
        with pytest.raises(DeriveError, match="no letter is said to be a parameter"):
            read(question)
    else:
        assert {*read(question).parameters} == parameters


def test_a_noun_of_a_letter_in_a_request_says_nothing_more() -> None:
    question = ("Let $f = \\sum_m \\beta_m \\tanh(\\omega_m x)$. Calculate the derivatives of $f$ with respect to the "
                "coefficients $\\beta_m$ and the ")
    assert {*read(f"{question}directions $\\omega_m$.").inputs} == {"omega", "x"}
    with pytest.raises(DeriveError, match="blorps"):
        read(f"{question}blorps.")


@pytest.mark.parametrize("second", ["Explain why it is bounded.", "Also compute the complexity of this layer."])
def test_a_second_question_in_prose_is_told(second: str) -> None:
    readings = read(f"Let $y_k = \\tanh(x_k)$. Derive the backward message. {second}").readings
    assert any(reading.startswith("not answered") and second in reading for reading in readings)


@pytest.mark.parametrize("question", [
    "Derive the forward, blorp and parameter messages of a linear layer followed by PReLU.",
    "Derive the blorp, backward and parameter messages of a linear layer followed by PReLU.",
    "Derive the backward message of temporal max pooling over windows of length 3 with blorp 1.",
    "Derive the backward message of max pooling with kernel size 3 and a blorp of 2.",
])
def test_an_unknown_word_in_a_list_of_messages_or_before_a_number_of_windows_is_open(question: str) -> None:
    with pytest.raises(CardError, match="“blorp” is not understood"):
        module_of(Card.parse(f"---\nid: said\n---\n\n# Question\n{question}\n"))


@pytest.mark.parametrize("question", [
    "A dense layer with four inputs and three output units, followed by ReLU.",
    "A linear layer maps a 4-dimensional input to a 3-dimensional output, followed by tanh.",
    "A two-layer network: a linear layer with 8 hidden units, a tanh, and a linear layer with 2 outputs.",
])
def test_numbers_of_units_and_inputs_are_understood(question: str) -> None:
    assert read(f"{question} Derive the backward message.").parameters


@pytest.mark.parametrize(("question", "word"), [
    ("A dense layer with 3 units, 5 outputs, followed by ReLU.", "3 units, or 5"),
    ("A dense layer with 3 blorps, followed by ReLU.", "“3”"),
    ("A three-layer network: a linear layer with 8 hidden units, a tanh, and a linear layer with 2 outputs.", "three"),
])
def test_numbers_of_which_it_is_not_clear_what_they_count_open(question: str, word: str) -> None:
    with pytest.raises(CardError, match=word):
        read(f"{question} Derive the backward message.")


def test_a_neuron_of_which_the_weights_are_asked_for_weighs_its_inputs() -> None:
    said = "A neuron with a sigmoid activation is trained with the squared error. Derive the gradient of the loss with respect to"
    assert read(f"{said} the weights and the bias.").parameters == ("w", "b")
    assert read("A ReLU unit. Derive its backward message.").parameters == ()


def computed(question: str) -> list[str]:
    """What each formula of the layer computes, by the name of its function."""
    names = {"\\max": "relu", "\\tanh": "tanh", "frac": "sigmoid", "\\sum": "linear"}
    module = read(question)
    latex = [write(equation, module.table) for equation in module.equations]
    return [next((name for sign, name in names.items() if sign in formula), "sum") for formula in latex]


@pytest.mark.parametrize(("question", "order"), [
    ("A linear layer whose input is a ReLU's output.", ["relu", "linear"]),
    ("A linear layer whose input is the output of a ReLU.", ["relu", "linear"]),
    ("A tanh layer that takes its input from a sigmoid layer.", ["sigmoid", "tanh"]),
    ("A linear layer following a ReLU.", ["relu", "linear"]),
    ("A linear layer after ReLU.", ["relu", "linear"]),
    ("A linear layer and the following ReLU.", ["linear", "relu"]),
    ("A linear layer with a preceding tanh.", ["tanh", "linear"]),
    ("A linear layer with a skip connection around it, followed by a ReLU.", ["linear", "sum", "relu"]),
    ("A linear layer followed by a tanh with a skip connection around both layers.", ["linear", "tanh", "sum"]),
])
def test_the_order_that_words_give(question: str, order: list[str]) -> None:
    assert computed(f"{question} Derive the backward message.") == order


@pytest.mark.parametrize("question", [
    "A network: layer, GELU, squared error. Derive all messages.",
    "A network: linear layer, GELU, error. Derive all messages.",
    "A network consists of a layer, PReLU and squared error. Derive all messages.",
    "A layer is obtained by joining a layer and a layer of hyperbolic tangents: the linear layer has $K$ units and biases. "
    "Derive all messages.",
    # a word is missing, and which of the two comes first is open
    r"The nonlinearity $\phi(s) = s^3$ is applied elementwise the output of a linear layer with weights $A$ and bias $c$. "
    "Derive all messages.",
])
def test_an_item_that_does_not_say_which_is_not_left_out(question: str) -> None:
    with pytest.raises(DeriveError, match="layer|error"):
        read(question)


@pytest.mark.parametrize(("question", "word"), [
    ("A linear layer following a ReLU is followed by a softmax.", "what goes into it"),
    ("Consider a linear layer between a sigmoid and a tanh.", "between"),
    ("A ReLU follows. Consider the linear layer in front of it.", "ReLU follows"),
    ("First a tanh, then a linear layer, then the tanh again.", "tanh"),
    ("A ReLU, a linear layer and the same ReLU.", "ReLU"),
    ("A linear layer with ReLU inputs.", "ReLU"),
    ("A linear layer is not followed by a ReLU.", "not followed by"),
    ("A linear layer isn't followed by a ReLU.", "isn't"),
    # a skip connection around some of the parts
    ("A linear layer followed by a tanh with a skip connection around the tanh only.", "around the tanh"),
    ("A linear layer followed by a tanh with a skip connection around the activation.", "around the activation"),
    # what none of the parts has, or makes another of them
    ("A sigmoid of the negative input.", "of the negative"),
    ("A tanh layer whose inputs are negated.", "negated"),
    ("A sigmoid with slope $k$.", "slope"),
    ("A tanh layer with a bias.", "bias"),
    ("A ReLU on its first output only.", "on its first"),
    ("A linear layer with a transposed weight matrix $W$.", "transposed"),
    ("A linear layer followed by the derivative of the tanh.", "tanh"),
    ("Batch normalisation at test time with gain $g$, shift $b$ and a small $\\epsilon$ added to the variance.",
     "test time"),
    # losses
    ("A linear layer with a third of the squared error.", "third of"),
    ("A linear layer with the negative squared error.", "squared error"),
    ("A linear layer with the log of the squared error.", "squared error"),
    ("A linear layer, a sigmoid and the squared error between its pre-activation and the target.", "pre-activation"),
    ("A linear layer with the squared error between its output and its input.", "its input"),
    ("A linear layer followed by a softmax with the cross-entropy of the logits.", "logits"),
    ("A linear layer followed by a softmax with cross-entropy with label smoothing.", "cross-entropy"),
    ("A linear layer followed by a softmax with the cross-entropy in bits.", "in bits"),
    # windows
    ("Max pooling of the negated input with 2x2 windows.", "negated"),
])
def test_what_the_plain_layers_do_not_have_opens(question: str, word: str) -> None:
    with pytest.raises(DeriveError, match=word):
        read(f"{question} Derive the backward message.")


@pytest.mark.parametrize("later", [
    "Then do the same for a sigmoid.", "A softmax will follow in the next exercise.",
])
def test_a_part_first_named_behind_the_request_is_not_joined(later: str) -> None:
    with pytest.raises(DeriveError, match="is not understood"):
        read(f"A linear layer is followed by a tanh. Derive the backward message. {later}")


@pytest.mark.parametrize("beside", [
    r"Suppose that the derivatives $\partial L/\partial y_k$ of the loss with respect to the outputs are available.",
    "(Hint: first compute the gradient with respect to the matrix of similarities.)", "Write everything in vectorized form.",
])
def test_words_beside_a_request_that_ask_for_nothing_more(beside: str) -> None:
    layer, asked = r"A layer computes $y_k = \tanh(x_k)$.", r"Derive $\partial L/\partial x_k$."
    assert read(f"{layer} {beside} {asked}").wanted == read(f"{layer} {asked}").wanted == read(
        f"{layer} {asked} {beside}").wanted


@pytest.mark.parametrize("told", [
    "comment on why the loss is less sensitive to outliers than the squared loss",
    "verify that it gives back the usual gradient of logistic regression",
])
def test_what_is_told_behind_a_request_asks_for_no_derivative(told: str) -> None:
    asked = r"For $L = \sum_k \ln\cosh x_k$ derive $\partial L/\partial x_k$"
    assert read(f"{asked} and {told}.").wanted == read(f"{asked}.").wanted


def test_letters_in_which_an_answer_is_written_are_not_asked_for() -> None:
    loss = r"For $E = \sum_n (w^\top x_n - t_n)^2$ derive the gradient with respect to"
    assert read(f"{loss} $w$ in terms of $x_n$ and $t_n$.").wanted == read(f"{loss} $w$.").wanted


def test_what_is_to_be_shown_with_a_letter_of_its_own_is_open() -> None:
    with pytest.raises(CardError, match="pre-activation"):
        read(r"A layer computes $y_k = \tanh(x_k)$. Derive $\partial L/\partial x_k$ and show that the gradient with respect "
             r"to the pre-activation is $1 - y_k^2$.")


LAYER = r"Let $h = Wx + b$ and $y = \tanh(h)$ for a given $\partial L/\partial y$. "


@pytest.mark.parametrize(("order", "told"), [
    (r"Derive $\partial L/\partial W$. Relate your result to gradient clipping.", "Relate your result"),
    (r"Derive $\partial L/\partial W$. Bonus: write each of them as an einsum.", "einsum"),
    (r"Derive $\partial L/\partial W$. What is the rank of $\partial L/\partial W$?", "rank"),
    (r"Derive $\partial L/\partial W$. What is the role of the factor $1/\sqrt{d}$ for the size of these gradients?", "role"),
    ("\n\n(a) Verify that it is continuous.\n\n(b) Derive $\\partial L/\\partial W$.\n\n(c) In test mode $W$ is replaced by "
     "its mean. Which terms disappear?", "In test mode"),
])
def test_a_side_question_is_set_aside_and_said_to_be_unanswered(order: str, told: str) -> None:
    module = read(LAYER + order)
    assert any(told in line and line.startswith("not answered, ") for line in module.readings)
    assert [w.wrt.tensor for w in module.wanted] == ["W"]


def test_what_is_set_aside_keeps_the_marks_of_the_items() -> None:
    module = read(LAYER + "\n\n1. Sketch it.\n2. Derive $\\partial L/\\partial W$.\n")
    assert {*module.parts} == {"2."}


@pytest.mark.parametrize("asked", [
    "Derivatives of $y$ w.r.t. $W$, given the loss.", r"1. $\partial L/\partial W$. 2. $\partial L/\partial b$.", "Gradients on $W$ and $b$.",
    r"Backward message $\partial L/\partial x$, parameter messages $\partial L/\partial W$ and $\partial L/\partial b$.",
])
def test_a_note_orders_what_it_names(asked: str) -> None:
    layer = r"Let $h = Wx + b$ and $y = \tanh(h)$. "
    module = read(layer + asked)
    assert "W" in [w.wrt.tensor for w in module.wanted] or "W" in module.given and "vjp" in module.asked
    with pytest.raises(DeriveError):
        read(layer + "The gradient $g$ vanishes.")


@pytest.mark.parametrize("order", [
    r"Derive $\partial L/\partial W$ and the spectrum.", r"Derive $\partial L/\partial W$. Derive the blorp gradient of it.",
    r"Relate the message to clipping, and derive the blorp gradient.",
])
def test_an_order_for_a_derivative_that_is_not_read_is_open(order: str) -> None:
    with pytest.raises(DeriveError):
        read(LAYER + order)


@pytest.mark.parametrize("order", [
    r"Tell me what is passed back, $\partial L/\partial x$, and then derive $\partial L/\partial W$.",
    r"Derive $\partial L/\partial W$, stating carefully the range of each sum.",
    r"In order to obtain a robust estimator, derive $\partial L/\partial W$.",
    r"Derive $\partial L/\partial W$ at points where no component of $Wx + b$ vanishes.",
    r"Assuming that no component of $Wx + b$ is exactly zero, derive $\partial L/\partial W$.",
])
def test_the_manner_of_asking_changes_nothing(order: str) -> None:
    assert [w.wrt.tensor for w in read(LAYER + order).wanted][-1] == "W"


def test_words_in_front_of_a_formula_do_what_it_says() -> None:
    module = read(r"Define the norm of $u \in \mathbb{R}^d$ with gain $g$ by $$r = \sqrt{\sum_j u_j^2},$$ the layer returns "
                  r"$$v_i = g_i \frac{u_i}{r}.$$ Derive $\partial L/\partial u_i$. It should only contain $u$ and $g$.")
    assert module.output == "v"


def test_an_ordinal_names_no_letter() -> None:
    assert read(r"Let $U \in \mathbb{R}^{n\times d}$ be the matrix whose $i$-th row is $u_i^\top$, and let $R = \sum_{i=1}^n "
                r"\log(1 + e^{-w^\top u_i})$. Compute $\nabla_w R$.").output == "R"


def test_matrices_that_an_index_numbers_are_no_numbers() -> None:
    with pytest.raises(DeriveError, match="a number or a matrix"):
        read(r"Let $y = \sum_{e=1}^{E} g_e\, A_e x$ with $x \in \mathbb{R}^n$. Given $\partial L/\partial y$, derive "
             r"$\partial L/\partial x$.")


@pytest.mark.parametrize(("words", "read_"), [
    ("Complex cells then take the maximum over non-overlapping pairs of neighbouring cells.", False),
    ("Such models dropped the mean subtraction.", True), ("Treat this as a layer with input $x$ and output $y$.", True),
])
def test_words_behind_a_formula_that_compute_more(words: str, read_: bool) -> None:
    question = rf"Let $y_i = \sum_{{k=1}}^{{3}} w_k x_{{i+k-1}}$. {words} Derive $\partial L/\partial w_k$."
    if read_:
        assert read(question).output == "y"
    else:
        with pytest.raises(DeriveError):
            read(question)


@pytest.mark.parametrize("question", [
    r"Let $y_i = \tanh(w x_i)$. Derive $\partial y_i/\partial x_i$ and $\frac{ y_i}{\partial w}$.",
    r"Let $y_i = \tanh(x_i)$. Note that the layer is applied twice. Derive $\partial L/\partial x_i$.",
    r"Let $y_i = \tanh(x_i)$. Replace the tanh by a ReLU. Derive $\partial L/\partial x_i$.",
    "Let $y = Wx$. Gradient on $W$ zero.",
    r"Let $y = \tanh(Wx)$. Derive $\partial L/\partial x$. Show the blorp gradient for the matrix.",
])
def test_words_and_formulas_that_ask_for_more_or_make_another_layer_are_open(question: str) -> None:
    with pytest.raises(DeriveError):
        read(question)


def test_an_order_of_another_kind_is_quoted_whole() -> None:
    readings = read(LAYER + r"Derive $\partial L/\partial W$. Draw the graph and compare.").readings
    assert any("Draw the graph and compare" in line for line in readings if line.startswith("not answered"))
