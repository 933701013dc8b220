"""What a card declares of its open choices: each mistake is one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.question import module_of
from derive.variants import declared, has_choices
from derive.variants.numbers import Numbers, numbers


def card(header: str, question: str) -> Card:
    return Card.parse(f"---\nid: q\n{header}---\n# Question\n{question}\n", "q.md")


WRONG = [
    ("vary_k: []\n", "{{k}}", "q.md:3: `vary_k`: the list is empty: write at least one choice"),
    ("vary_k: [2, 3]\n", "Derive.", "q.md:3: `vary_k` is declared, and `{{k}}` stands nowhere: use it, or delete the key"),
    ("vary_kernel: [2]\n", "{{kernel}} and {{kernal}}",
     "q.md:6: `{{kernal}}` is not declared (did you mean `kernel`?): add `vary_kernal: […]` to the front matter"),
    ("", "a window of {{k}} cells", "q.md:5: `{{k}}` is not declared: add `vary_k: […]` to the front matter"),
    ("", "$X = {{values.X}}$", "q.md:5: `{{values.X}}` is not declared: add `vary_values.X: […]` to the front matter"),
    ("vary_k: [2]\nkernel_size: '{{n}}'\n", "{{k}}",
     "q.md:4: `{{n}}` is not declared (there are `k`): add `vary_n: […]` to the front matter"),
    ("vary_k: 3\n", "{{k}}", "q.md:3: `vary_k`: choices are a list, as in `[2, 3]`, or numbers as in `distinct integers 0..9, 4 x 4`"),
    ("vary_k: [[2, 3]]\n", "{{k}}", "q.md:3: `vary_k`: a choice is a text or a number; write a text in single quotes"),
    ("vary_k: ['{{n}}']\nvary_n: [2]\n", "{{k}} {{n}}", "q.md:3: `vary_k`: a choice holds no other choice: write it out"),
    ("vary_2: [2]\n", "{{k}}", "q.md:3: `vary_2`: a choice has a name of letters, digits and `_`, as in `vary_kernel_size`\n"
     "q.md:6: `{{k}}` is not declared (there are `2`): add `vary_k: […]` to the front matter"),
    ("vary_x: primes 1..9\n", "{{x}}", "q.md:3: `vary_x`: `primes` is no kind of numbers; there are `integers`, `decimals`, "
     "`one-hot`, `labels`, `signs`, as in `distinct integers 0..9, 4 x 4`"),
    ("vary_x: some of them\n", "{{x}}", "q.md:3: `vary_x`: is neither a list of choices nor numbers as in `distinct integers 0..9, 4 x 4`"),
    ("vary_x: integers, 3\n", "{{x}}", "q.md:3: `vary_x`: `integers` need a range, as in `integers -3..3`"),
    ("vary_x: labels 0..1\n", "{{x}}", "q.md:3: `vary_x`: `labels` has no range"),
    ("vary_x: integers 0..2.5\n", "{{x}}", "q.md:3: `vary_x`: the range of `integers` has whole ends; `decimals` may have others"),
    ("vary_x: integers 3..1\n", "{{x}}", "q.md:3: `vary_x`: from 3 to 1 there are no numbers to draw, or too many"),
    ("vary_x: integers 0..999999999\n", "{{x}}", "q.md:3: `vary_x`: from 0 to 999999999 there are no numbers to draw, or too many"),
    ("vary_x: nonzero integers 0..0\n", "{{x}}", "q.md:3: `vary_x`: no number is left to draw"),
    ("vary_x: integers 0..2 by 0.5\n", "{{x}}", "q.md:3: `vary_x`: `by` is for decimals, as in `decimals -1..1 by 0.25`"),
    ("vary_x: one-hot\n", "{{x}}", "q.md:3: `vary_x`: `one-hot` needs a shape, as in `one-hot, 3`"),
    ("vary_x: distinct integers 0..9, 4 x 4\n", "{{x}}", "q.md:3: `vary_x`: 16 numbers, all different, and there are but 10"),
    ("vary_x: integers 0..9, 0\n", "{{x}}", "q.md:3: `vary_x`: 0 is no shape of 1 to 100,000 numbers"),
    ("vary_x: integers 0..9, 999 x 999\n", "{{x}}", "q.md:3: `vary_x`: 999 × 999 is no shape of 1 to 100,000 numbers"),
    ("vary_x: integers 0..9, {{n}}\n", "{{x}}", "q.md:3: `vary_x`: its shape needs `vary_n: [2, 3]`, a list of sizes"),
    ("vary_x: integers 0..9, {{n}}\nvary_n: [two]\n", "{{x}}", "q.md:3: `vary_x`: its shape needs `vary_n: [2, 3]`, a list of sizes"),
    ("vary_x: distinct integers 0..2, {{n}}\nvary_n: [3, 4]\n", "{{x}}", "q.md:3: `vary_x`: 4 numbers, all different, and there are but 3"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "question", "said"), WRONG)
def test_each_mistake_is_one_line(header: str, question: str, said: str) -> None:
    with pytest.raises(CardError) as found:
        declared(card(header, question))
    assert str(found.value) == said
    with pytest.raises(CardError):
        module_of(card(header, question))


def test_a_choice_without_quotes_is_no_yaml_and_is_told_so() -> None:
    with pytest.raises(CardError, match=r"q\.md:4: .*; write a choice in single quotes, `'\{\{…\}\}'`"):
        card("vary_k: [2]\nkernel_size: {{k}}\n", "{{k}}")


def test_all_mistakes_at_once() -> None:
    with pytest.raises(CardError) as found:
        declared(card("vary_k: []\nvary_n: [1]\n", "{{m}}"))
    assert [p.line for p in found.value.problems] == [3, 4, 7]


@pytest.mark.parametrize("question", [r"$\mathbf{{w}}$", r"$x_{{i}}$", r"$\frac{a}{{b}}$", "`{{x}}` in code", r"${{x}^2}$"])
def test_braces_of_a_card_that_declares_nothing_are_its_own(question: str) -> None:
    assert not has_choices(card("", question)) and not declared(card("", question)).choices


def test_what_is_left_open_says_what_to_do() -> None:
    with pytest.raises(CardError, match=r"q\.md:3: `k`, `n` are left open: `derive solve --variant 1`"):
        module_of(card("vary_k: [2]\nvary_n: [2]\n", "A window of {{k}} or {{n}} cells."))


KINDS = [
    ("integers -1..1", "-1 0 1", (), False), ("nonzero integers -1 to 1, 2", "-1 1", (2,), False),
    ("decimals 0..0.5 by 0.25, 2 x 3", "0 1/4 1/2", (2, 3), False), ("decimals -0.1..0.1", "-1/10 0 1/10", (), False),
    ("distinct nonzero integers −2..2, 2×2", "-2 -1 1 2", (2, 2), True), ("labels", "0 1", (), False),
    ("signs, {{ n }}", "-1 1", ("n",), False), ("one-hot, {{m}} x 3", "0 1", ("m", 3), False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values", "shape", "distinct"), KINDS)
def test_kinds_of_numbers(text: str, values: str, shape: tuple[int | str, ...], distinct: bool) -> None:
    assert numbers(text) == Numbers(tuple(map(Fraction, values.split())), shape, distinct, "one-hot" in text)
