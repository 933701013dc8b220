"""What a sheet shows: the items of the question in their order, letters that are told, the sections of each detail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import derive
from derive.calculus.one_window import derivation
from derive.card import Card
from derive.exposition.subject import Subject
from derive.expr import Entry, Partial, Rel, Size, walk
from derive.notation.in_text import writes
from derive.question import module_of
from derive.render import DETAILS
from derive.sheet import SECTIONS, Bullets, Heading, Math, Prose, rank
from derive.statement import Statement
from derive.words import templates
from tests.bank import composed

CARDS = ["prelu_network", "affine_layer", "average_pooling", "overlapping", "batch_normalisation", "parts_abc",
         "parts_beyond_named", "ab_parts", "softmax_jacobian", "mini_batch", "minimum_cz", "mlp_words_cz",
         "logistic_regression", "huber", "attention_query", "recurrent_step", "dilated_causal", "conv2d_letters",
         "pulses_by_letter", "one_based"]  # fmt: skip


def lefts(solution: derive.Solution) -> list[str]:
    """∂y/∂x, δ_x and forward letters of the answer, in its order."""
    found = []
    for block in solution.sheet.answer:
        left = block.expr.terms[0] if isinstance(block, Math) and isinstance(block.expr, Rel) else None
        if isinstance(left, Partial) and isinstance(left.of, Entry) and isinstance(left.wrt, Entry):
            found.append(f"{left.of.tensor}/{left.wrt.tensor}")
        elif isinstance(left, Entry) and left.tensor.startswith("delta_"):
            found.append(left.tensor)
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("card", CARDS)
def test_the_answer_holds_the_items_of_the_question_in_their_order(card: str) -> None:
    solution = composed(card)
    subject, wanted = Subject(solution.messages), list[str]()
    for item in subject.items:
        of = [(t.before.of, t.before.wrt) for t in item.targets]
        wanted += [f"{a.tensor}/{b.tensor}" for a, b in of if isinstance(a, Entry) and isinstance(b, Entry)]
        wanted += [f"delta_{t.wrt}" for t in item.targets if item.messages and not subject.is_scalar]
    assert lefts(solution) == list(dict.fromkeys(wanted)) and wanted


def test_items_stand_in_the_order_and_the_parts_of_the_question() -> None:
    kinds = {card: [i.kind for i in Subject(composed(card).messages).items] for card in ("prelu_network", "elu_alpha")}
    assert kinds == {"prelu_network": ["forward", "input", "parameter"], "elu_alpha": ["forward", "input"]}
    assert [i.part for i in Subject(composed("parts_abc").messages).items] == ["(a)", "(b)"]
    words = " ".join(b.text for b in composed("ab_parts").sheet.answer if isinstance(b, Prose))
    assert 0 < words.index("**(a)**") < words.index("**(b)**")
    assert not any(i.part for i in Subject(composed("affine_layer").messages).items)


@pytest.mark.parametrize("card", CARDS)
def test_every_letter_of_the_answer_is_told(card: str) -> None:
    """On the card, by a definition, or in a sentence of the answer."""
    solution = composed(card)
    assert solution.card is not None
    subject = Subject(solution.messages, solution.card.question)
    formulas = [b for b in solution.sheet.answer if isinstance(b, Math)]
    told = {n.tensor for m in formulas if m.definition and isinstance(m.expr, Rel) for n in [m.expr.terms[0]] if isinstance(n, Entry)}
    words = " ".join(b.text for b in solution.sheet.answer if isinstance(b, Prose))
    for math in formulas:
        for node in walk(math.expr):
            if isinstance(node, (Entry, Size)):
                name = node.tensor if isinstance(node, Entry) else node.name
                symbol = subject.module.table.named(name.removeprefix("delta_"))
                latex = symbol.latex if symbol else name
                assert name in told or subject.on_card(name) or re.search(rf"{re.escape(latex)}(?![a-z])", words), name


def test_each_heading_has_a_detail() -> None:
    named = {m for f in (templates() / "en").glob("*.j2") for m in re.findall(r"macro heading_(\w+)", f.read_text("utf-8"))}
    assert named <= SECTIONS.keys() and {*SECTIONS.values()} <= {*DETAILS}
    assert rank("short") == rank("answer") == 0


@pytest.mark.parametrize("card", CARDS)
def test_a_detail_shows_more_than_the_one_before(card: str) -> None:
    sheet = composed(card).sheet
    answer, standard, full = (sheet.blocks(detail) for detail in DETAILS)
    assert len(answer) < len(standard) < len(full) == len({*map(id, full)})
    assert [b for b in full if b in standard] and [b.name for b in answer if isinstance(b, Heading)] == ["checked"]
    assert [b.text for b in standard if isinstance(b, Heading)][-2:] == ["Read from the card", "Checked"]


def test_titles_say_what() -> None:
    titles = {"prelu_network": "Linear layer, PReLU and squared error: forward, backward, parameter messages",
              "affine_layer": "Linear layer: backward, parameter messages", "huber": "Huber loss: derivative with respect to $y$",
              "attention_query": "Scaled dot-product attention: backward message",
              "rms_norm": "RMS normalisation: backward, parameter messages",
              "residual_block": "Linear layer, ReLU and $y_{k} = x_{k} + h_{k}$: backward, parameter messages",
              "softplus_cz": "Softplus: backward message",
              "l2_pooling": r"$y_{kl} = \sqrt{\sum_{(i, j) \in \Omega(k, l)} x_{ij}^{2}}$: backward message",
              "contrastive_pairs": r"$\ell = t D + (1 - t) \max(0, m - D)$: derivatives with respect to $u$ and $v$",
              "highway_labels": r"$y = t \odot h + (\mathbf{1} - t) \odot x$: backward, parameter messages",
              "elu_named": "$y$ as a function of $x$: backward message"}
    assert {card: composed(card).sheet.title for card in titles} == titles


def test_an_example_of_overlapping_windows_has_an_entry_of_several() -> None:
    text = derive.render(composed("overlapping"), "md")
    assert "and where several arrive they add up" in text


def test_the_bracket_that_is_explained_stands_in_the_answer() -> None:
    for card in CARDS:
        texts = [b.latex if isinstance(b, Math) else getattr(b, "text", "") for b in composed(card).sheet.answer]
        said = [found[1] for t in texts if (found := re.match(r"Here \$(.*)\$ is 1 where the condition", t))]
        assert all(any(s in t for t in texts[: texts.index(f"Here ${s}$ is 1 where the condition in it holds, and 0 "
                                                           "elsewhere.")]) for s in said)


def test_a_definition_stands_for_what_is_wider_than_half_a_line() -> None:
    text = derive.render(composed("lstm_cell"), "md")
    assert "in place of what it is defined as" in text and text.count(r"\tanh^{2}\left(\sum") <= 1


@pytest.mark.parametrize("padded", ["an input padded with zeros by one cell on every side", "an input padded with one "
                                    "ring of zeros", "zero padding 1"])
def test_zeros_that_take_no_part_in_a_maximum_are_told(padded: str) -> None:
    card = Card.parse(f"---\nid: q\n---\n# Question\nMax pooling with 3x3 windows, stride 2 and {padded}, $y_{{kl}} = "
                      "\\max_{(i, j) \\in \\Omega(k, l)} x_{ij}$. Derive the backward message.\n")
    assert "a clipped window whose entries are all below 0 would give 0" in derive.render(derive.solve(card), "md")
    assert "take no part" not in derive.render(composed("overlapping"), "md")


def test_the_python_interface_takes_a_detail() -> None:
    solution = derive.solve(Path("cards/max_pooling_backward.md"))
    sizes = [len(derive.render(solution, "md", detail=detail)) for detail in DETAILS]
    assert sizes == sorted(sizes) and sizes[0] < sizes[1] < sizes[2]
    assert derive.render(solution, "md", detail="short") == derive.render(solution, "md", detail="answer")


def test_an_epsilon_is_differentiated_on_request_only() -> None:
    solution = composed("batch_normalisation")
    assert "y/epsilon" not in lefts(solution) and "y/x" in lefts(solution)
    assert any(r"$\epsilon$ is held fixed" in b.text for b in solution.sheet.answer if isinstance(b, Prose))
    closing = " ".join(item for b in solution.sheet.closing for item in getattr(b, "items", (getattr(b, "text", ""),)))
    assert r"$\epsilon$: given" in closing and r"$\epsilon$: input" not in closing and r"input $\epsilon$" not in closing


def test_the_answer_speaks_of_what_stands_in_it() -> None:
    """δ only where there is one; no slopes by a label; an average's windows in closed form; one output is not many."""
    words = {card: " ".join(b.text for b in composed(card).sheet.blocks() if isinstance(b, Prose))
             for card in ("svm_hinge", "mini_batch", "average_pooling", "linear_squared")}
    told = {card: "each δ has the shape of the letter" in text for card, text in words.items()}
    assert told == {"svm_hinge": False, "mini_batch": True, "average_pooling": False, "linear_squared": False}
    assert "with respect to $s$" in words["svm_hinge"] and "with respect to $t$" not in words["svm_hinge"]
    assert "tile the input" in words["average_pooling"]
    assert "Derivatives:" in words["linear_squared"]


def test_wide_messages_go_by_the_gradients_of_the_tensors_between() -> None:
    """Each part has its name; what is derived as before in other letters is told by that alone."""
    solution = composed("lstm_by_name")
    between = [b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.name == "between"]
    assert r"\delta_{f,k} = \delta_{c',k} c_{k}" in " ".join(between)
    (message,) = [b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.name == "message_x"]
    assert r"W_f^\top (\delta_f \odot f \odot (\mathbf{1} - f))" in message
    details = [b for b in solution.sheet.details if isinstance(b, Heading | Prose)]
    assert not any(b.name == "joined" for b in details if isinstance(b, Heading))
    like = r"and $\partial i_{k} / \partial x_{j}$ follow by the steps of $\partial o_{k} / \partial x_{j}$"
    assert any(like in b.text for b in details if isinstance(b, Prose))
    assert any("They follow by the steps of those with respect to $x_{j}$, $g_{k}$, $W_{o," in b.text for b in details if isinstance(b, Prose))
    (parameters,) = [b for b in solution.sheet.closing if isinstance(b, Bullets)][:1]
    assert any(item.startswith("parameters $W_o$, $U_o$") for item in parameters.items)


def test_gradients_have_another_letter_beside_a_delta_of_the_card() -> None:
    huber = Statement(forward=(r"h_k = \begin{cases} \frac{1}{2} y_k^2 & |y_k| \le \delta \\"
                               r" \delta (|y_k| - \frac{1}{2} \delta) & |y_k| > \delta \end{cases}",),
                      constants=(r"\delta",), facts=(r"\delta > 0",), derive=("backward",))
    solution = derive.solve(huber)
    assert solution.report.ok
    (message,) = [b.latex for b in solution.sheet.answer if isinstance(b, Math) and b.name == "message_y"]
    assert message.startswith("g_{y,i} = g_{h,i}") and r"\le \delta" in message


def test_the_answer_says_what_of_the_question_it_does_not_answer() -> None:
    said = [block.text for block in composed("parts_abc").sheet.answer if isinstance(block, Prose)]
    assert said[-1].startswith("Not answered here, since it asks for no derivative") and "learn slowly" in said[-1]
    assert "line" not in said[-1]


def test_parameters_stand_in_the_order_of_the_question() -> None:
    gates = r"$i = \tanh(A x)$, $o = \tanh(B x)$ and $h = o \odot i$"
    card = Card.parse(f"---\nid: t\n---\n# Question\nA cell computes {gates} with trainable $B$ and $A$. Derive the parameter messages.\n")
    assert [t.wrt for t in Subject(derivation(module_of(card)), card.question).parameters] == ["A", "B"]


def test_a_jacobian_alone_is_derived_by_the_rule_of_the_maximum() -> None:
    text = derive.render(composed("explicit_padding"), "md").partition("## Derivation")[2].partition("## Ties")[0]
    assert "*Maximum.*" in text and "*Bracket.*" not in text


@pytest.mark.parametrize("name", ["lstm", "rnn", "gru"])
def test_a_step_hands_on_a_state_of_the_length_that_it_gets(name: str) -> None:
    text = derive.render(derive.solve(Statement(layers=(name,), derive=("backward",))), "md")
    ranges = [re.search(rf"\${letter}_\{{\w\}}\$(?:: | and )[^:]*?\$0 \\le \w < (\w)", text) for letter in ("h", "h'")]
    assert len({found[1] for found in ranges if found}) == 1 and all(ranges)


@pytest.mark.parametrize("name", ["attention_query", "gated_linear_unit", "batch_normalisation"])
def test_the_standard_derivation_ends_in_the_messages_of_the_answer(name: str) -> None:
    """What the answer says in one formula is reached, not left to be put together."""
    sheet = composed(name).sheet
    _, details, _ = sheet.parts("standard")
    reached = {(m.expr.terms[0], m.expr.terms[-1]) for m in details if isinstance(m, Math) and isinstance(m.expr, Rel)}
    wanted = {(m.expr.terms[0], m.expr.terms[-1]) for m in sheet.answer
              if isinstance(m, Math) and m.name.startswith("message_") and isinstance(m.expr, Rel)}
    assert wanted and wanted <= reached


def test_brackets_that_compare_numbers_are_carried_out() -> None:
    """∂E/∂w_1 of entries of w has no [1 = 0] in it."""
    text = r"Consider $E(w) = \frac{1}{2} \sum_{n=1}^N (w_0 + w_1 x_n - t_n)^2$. Find $\partial E/\partial w_1$."
    solution = derive.solve(Card.parse(f"---\nid: line\n---\n\n# Question\n{text}\n"))
    latex = [block.latex for block in solution.sheet.formulas()]
    assert r"\frac{\partial E}{\partial w_{1}} = \sum_{n=1}^{N} (w_{0} + w_{1} x_{n} - t_{n}) x_{n}" in latex
    assert not any(r"\mathbb{I}" in one for one in latex)


@pytest.mark.parametrize(("text", "latex", "there"), [
    (r"$\mathrm{softmax}(z)$", "a", False), (r"$\operatorname{ReLU}(Wx)$", "e", False), (r"$a x$", "a", True),
    (r"$net_k$", r"\text{net}", True), (r"$D_{\mathrm{KL}}$", r"D_{\text{KL}}", True), (r"$\text{LSE}$", r"\mathrm{LSE}", True),
])
def test_a_letter_of_a_word_is_no_letter_of_the_question(text: str, latex: str, there: bool) -> None:
    assert writes(text, latex) is there


def test_a_derivation_tells_the_letters_that_it_brings_and_no_slope_off_its_way() -> None:
    """Of ∂L/∂W^{(2)}: a = W^{(2)} h + b^{(2)} is told, the slope of the ReLU before it is not."""
    solution = composed("network_softmax")
    blocks = solution.sheet.blocks("standard")
    place = next(n for n, b in enumerate(blocks) if isinstance(b, Heading) and b.name == "derivation")
    told = blocks[place + 2]
    assert isinstance(told, Math) and told.latex == "a = W^{(2)} h + b^{(2)}" and told.definition
    assert not any(isinstance(b, Math) and b.name == "slope" for b in blocks)


QUESTIONS = [  # what the sheet says, and what it does not
    ("A max pooling layer with 2×2 windows and stride 2 maps $x$, padded with one ring of zeros, to $y$. Derive the forward and backward messages.",
     "$H$\u00a0×\u00a0$W$ inputs give $M$\u00a0×\u00a0$N$ outputs", "the derivative of the output"),
    (r"Layer normalisation maps $h \in \mathbb{R}^d$ to $y_i = g_i \frac{h_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b_i$ with "
     r"$\mu = \frac{1}{d}\sum_i h_i$ and $\sigma^2 = \frac1d\sum_i (h_i-\mu)^2$. Derive the derivatives of the loss $L$ with "
     r"respect to $h$, $g$ and $b$.",
     r"- \frac{1}{\sqrt{\sigma^2 + \varepsilon}} \frac{1}{d} (g^\top \delta_y) \mathbf{1}", "the derivative of the output"),
    (r"The Swish activation is $y = x\,\sigma(\beta x)$ with a trainable $\beta$. Derive $\partial y/\partial x$.", "", "SiLU"),
    (r"A unit computes $h_t = \tanh(W h_{t-1} + U x_t + b)$. Derive $\partial h_t/\partial h_{t-1}$ and the gradients of $L$ with "
     r"respect to $W$ and $b$, given $\partial L/\partial h_t$.", r"| $\partial h_{t,1} / \partial h_{t-1}$ |", r"\cdot (-1)"),
]


@pytest.mark.parametrize(("question", "said", "unsaid"), QUESTIONS)
def test_what_a_sheet_says(question: str, said: str, unsaid: str) -> None:
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))
    text = derive.render(solution, "md")
    assert said in text and unsaid not in text.partition("# Solution")[2] and "SiLU" not in solution.sheet.title


def test_a_title_has_no_formula_of_another_letter_than_is_asked_for() -> None:
    question = r"With $z = w x$ and $y = z^3 + z$ derive $\partial z/\partial w$."
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))
    assert solution.sheet.title == "Derivative of $z$ with respect to $w$"
