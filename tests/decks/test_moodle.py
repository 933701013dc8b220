"""Moodle's questions: read as Moodle's import reads them, their numbers computed once more by PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest

from derive.card import Card
from derive.decks.cloze import Blank, blank, blanks, decimals
from derive.decks.html import displayed
from derive.decks.moodle import collected, part
from derive.errors import VerificationError
from derive.render import Part, render
from derive.sheet import Math
from derive.solve import Solution, solve
from derive.variants import drawn
from tests.bank import CARDS, REFUSED, solved
from tests.decks.moodle_import import Question, graded, imported
from tests.decks.test_html import TAGS, Seen
from tests.render.test_notes import hostile

NUMBERS = ("max_pooling_numbers", "one_neuron_step", "two_layers_numbers")
OVERLAP = r"""---
id: overlap
course: Deep/Learning
---

# Question
(4p) A max pooling layer with windows of size $2 \times 2$ and stride 1 receives
$$ X = \begin{pmatrix} 1 & 3 & 2 \\ 4 & 9 & 1 \\ 0 & 5 & 7 \end{pmatrix}. $$
Compute its output $Y$ and $\partial L / \partial X$ for the upstream gradient
$$ \frac{\partial L}{\partial Y} = \begin{pmatrix} 1 & 2 \\ 3 & 5 \end{pmatrix}. $$
"""


def read(solution: Solution, detail: str = "standard") -> Question:
    (found,) = imported(str(render(solution, "moodle", detail)))
    return found


@cache
def asked(name: str) -> Question:
    return read(solve(Card.parse(OVERLAP)) if name == "overlap" else solved(name))


# --- numbers -----------------------------------------------------------------------


def max_pooling(torch: Any) -> list[Any]:
    x = torch.tensor([[1.0, 3, 2, 0], [4, 2, 1, 5], [0, 1, 7, 3], [9, 2, 4, 6]], requires_grad=True)
    y = torch.nn.functional.max_pool2d(x[None], 2)[0]
    y.backward(torch.tensor([[1.0, 2], [3, 4]]))
    return [y, x.grad]


def overlap(torch: Any) -> list[Any]:
    x = torch.tensor([[1.0, 3, 2], [4, 9, 1], [0, 5, 7]], requires_grad=True)
    y = torch.nn.functional.max_pool2d(x[None], 2, stride=1)[0]
    y.backward(torch.tensor([[1.0, 2], [3, 5]]))
    return [y, x.grad]


def neuron(torch: Any) -> list[Any]:
    x, w, b, t = torch.tensor([2.0, -1]), torch.tensor([0.5, 1], requires_grad=True), torch.tensor(0.25, requires_grad=True), 1.0
    s = w @ x + b
    p = torch.sigmoid(s)
    loss = -t * torch.log(p) - (1 - t) * torch.log(1 - p)
    loss.backward()
    return [p, loss, w.grad, b.grad]  # s is not asked for


def two_layers(torch: Any) -> list[Any]:
    given = {name: torch.zeros(tuple(max(axis) + 1 for axis in zip(*(at for at, _ in entries), strict=True))) for name, entries
             in solved("two_layers_numbers").messages.module.values}  # fmt: skip
    for name, entries in solved("two_layers_numbers").messages.module.values:
        for at, number in entries:
            given[name][at] = float(number)
    w, b, v, x = (given[name].requires_grad_() for name in ("W", "b", "v", "x"))
    z = w @ x + b
    y = v @ torch.relu(z)
    y.backward()
    return [y, w.grad, v.grad, x.grad]  # nor are z and h


@pytest.mark.parametrize(("name", "oracle"), [("max_pooling_numbers", max_pooling), ("overlap", overlap), ("one_neuron_step", neuron),
                                              ("two_layers_numbers", two_layers)])
def test_what_counts_as_right_is_what_pytorch_computes(name: str, oracle: Callable[[Any], list[Any]]) -> None:
    torch = pytest.importorskip("torch")
    wanted = [float(v) for tensor in oracle(torch) for v in tensor.detach().flatten()]
    answers = asked(name).answers
    assert len(answers) == len(wanted)
    for alternatives, value in zip(answers, wanted, strict=True):
        found = graded(alternatives, value)
        assert found is not None and found.fraction == 1 and found.number == pytest.approx(value, abs=1e-5)
        assert [a.fraction for a in alternatives] == [1] + [0] * (len(alternatives) - 1)
        for other in alternatives[1:]:  # what a mistake gives is never right, and is told
            hit = graded(alternatives, other.number)
            assert hit is not None and hit.fraction == 0 and hit.feedback.startswith("Likely mistake: ")


@pytest.mark.parametrize(("name", "place", "typed", "words"), [
    ("overlap", 4 + 4, 5, "the sum over them is lost"),  # 1 + 2 + 3 + 5 come back to the 9
    ("overlap", 4 + 0, 1, "the gradient goes to every entry of the window"),
    ("overlap", 4 + 4, -11, "the sign is wrong"),
    ("overlap", 4 + 4, 4, "the upstream gradient is left out"),
    ("max_pooling_numbers", 4 + 4, 4, "the entry's value stands where its slope 1 belongs"),
    ("one_neuron_step", 2, -1.751294, "a factor 2 too many"),
    ("one_neuron_step", 2, -3.5576, r"the chain is cut short: a factor \(\partial p / \partial s\) is missing"),
    ("one_neuron_step", 4, 0.437823, "the sign is wrong"),
    ("two_layers_numbers", 7, 5, r"a transpose is lost, or one too many: \(W\)"),
])
def test_a_known_wrong_number_is_told_its_mistake(name: str, place: int, typed: float, words: str) -> None:
    found = graded(asked(name).answers[place], typed)
    assert found is not None and found.fraction == 0 and words in unescape(unescape(found.feedback))


def test_a_tolerance_tells_right_from_wrong() -> None:
    def likely(words: list[str]) -> str:
        return " or ".join(words)

    assert blank(4, [("a", 4), ("b", 8), ("c", 8), ("d", 4.0001)], likely) == Blank(4.0, 0.004, ((8.0, "b or c"),))
    assert blank(1, [("a", 1.0009)], likely).tolerance == pytest.approx(0.0003)
    assert blank(-0.0, [("a", float("inf"))], likely) == Blank(0.0, 0.001)
    assert decimals([Blank(1.0, 0.001)]) == 0 and decimals([Blank(0.5, 0.001)]) == 3 and decimals([Blank(0.5, 0.00006)]) == 4
    shown = str(Blank(0.5, 0.001, ((1e-07, "a } # ~ / \" \\ {1:SA:=x} <b> $x_{i}$"),)))
    assert blanks(f"a {shown} b")[0].right == 0.5 and not re.search(r'[~{}#"\\/]', shown[shown.index("1e-07:") + 12:-1].replace("&#", ""))


# --- structure ---------------------------------------------------------------------


def test_a_derivation_is_an_essay_with_the_guide_to_its_marking() -> None:
    found = asked("strided_convolution")
    assert (found.kind, found.points, found.idnumber, found.tags) == ("essay", 8, "strided_convolution", ("cnn", "convolution"))
    assert found.category == "$course$/top/Convolutional Networks" and found.name.startswith("strided_convolution: ")
    assert sum(float(p.replace("½", ".5")) for p in re.findall(r"<strong>(\S+) points?:", found.guide)) == 8
    assert "a sum is lost" in found.guide and displayed(found.guide)
    assert displayed(found.feedback) == [" ".join(m.latex.split()) for m in solved("strided_convolution").sheet.blocks("standard")
                                         if isinstance(m, Math)]  # fmt: skip


def test_numbers_stand_in_the_shape_of_their_tensor() -> None:
    found = asked("max_pooling_numbers")
    assert found.kind == "cloze" and len(found.answers) == 4 + 16
    assert [row.count("{#") for row in re.findall(r"<tr>.*?</tr>", found.text)] == [2, 2, 4, 4, 4, 4]
    assert "decimals or more" not in found.text and "with 3 decimals or more" in asked("one_neuron_step").text


def test_pictures_are_inside() -> None:
    found = asked("max_pooling_numbers")
    assert set(re.findall(r'src="@@PLUGINFILE@@/([^"]+)"', found.feedback)) == {*found.files} and len(found.files) == 2
    assert all(picture.startswith(b"<svg") for picture in found.files.values())


def test_courses_are_categories() -> None:
    parts = [Part(part(solved(name))) for name in ("max_pooling_numbers", "strided_convolution", "one_neuron_step")]
    parts.append(Part(part(solve(Card.parse(OVERLAP)))))
    text = collected(parts)
    assert text == collected(parts) and text.count('type="category"') == 3
    assert [(q.idnumber, q.category.removeprefix("$course$/top/")) for q in imported(text)] == [
        ("max_pooling_numbers", "Deep Learning"), ("one_neuron_step", "Deep Learning"),
        ("strided_convolution", "Convolutional Networks"), ("overlap", "Deep//Learning")]  # fmt: skip
    assert imported(str(render(replace(solved("relu_layer"), card=None), "moodle")))[0].category == "$course$/top/derive"


def test_variants_are_a_category_to_draw_from() -> None:
    card = Card.parse(OVERLAP.replace("1 & 2 \\\\ 3 & 5", "1 & {{a}} \\\\ 3 & 5").replace("id: overlap", "id: a/b\nvary_a: distinct integers 2..9"))
    made = [Part(part(solve(drawn(card, 3, n).named)), group=card.id) for n in (1, 2)]
    one, two = imported(collected(made))
    assert one.category == two.category == "$course$/top/Deep//Learning/a//b" and (one.idnumber, two.idnumber) == ("a/b_1", "a/b_2")
    assert one.answers != two.answers and len(one.answers) == len(two.answers) == 4 + 9


@pytest.mark.parametrize("name", ["max_pooling_numbers", "strided_convolution"])
def test_what_a_question_writes_stays_text(name: str) -> None:
    card = hostile().card
    assert card is not None
    text = card.text.replace("see\n", "]]> &amp; {1:SHORTANSWER:=x} {#1} \x0b [[page]]\n", 1).replace("id: batch_004", "id: '<b>]]>'")
    found = read(replace(solved(name), card=Card.parse(text.replace("Statistical", "<u>a/b"))))
    seen = Seen(found.text + found.feedback + found.guide)
    assert {tag for tag, _ in seen.found} <= TAGS
    assert {a for _, names in seen.found for a in names} <= {"class", "start", "style", "src", "alt"}
    assert len(found.answers) == (20 if name == "max_pooling_numbers" else 0) and found.category.endswith("/<u>a//b Machine Learning")
    shown = unescape(re.sub(r"<[^>]*>", "", found.text))
    assert "<script>alert(1)</script>" in shown and "{1:SHORTANSWER:=x}" in shown and "[[" not in found.text and "\ufffd" in shown
    assert found.name.startswith("<b>]]>: ") and all("/" not in file for file in found.files)


# --- the guard -----------------------------------------------------------------------


def test_a_changed_formula_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from derive.decks import moodle

    right = moodle.blocks
    monkeypatch.setattr(moodle, "blocks", lambda *given: right(*given).replace(r"&#91;l = k&#93;", r"&#91;k = l&#93;"))
    with pytest.raises(VerificationError, match="the finished file shows"):
        part(solved("strided_convolution"))


def test_another_number_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from derive.decks import cloze

    monkeypatch.setattr(cloze, "number", lambda value: f"{value + 1:.10g}")
    with pytest.raises(VerificationError, match="asks for other numbers than were checked"):
        part(solved("max_pooling_numbers"))


def test_a_lost_question_is_caught() -> None:
    text = part(solved("relu_layer"))
    with pytest.raises((VerificationError, ElementTree.ParseError)):
        collected([Part(text.replace("</question>", "</question><question/>"))])


@pytest.mark.some(60)
@pytest.mark.parametrize("name", [path.stem for path in CARDS if path not in REFUSED])
def test_every_card_has_its_question(name: str) -> None:
    assert read(solved(name)).idnumber == solved(name).card.id  # type: ignore[union-attr]


def test_a_step_the_wrong_way_is_named() -> None:
    wrong = [w for b in blanks(str(render(solved("gradient_step"), "moodle", "standard"))) for w in b.wrong if abs(b.right - 0.7) < 1e-9]
    assert [w for w in wrong if abs(w[0] - 0.3) < 1e-9 and "sign" in w[1]]
