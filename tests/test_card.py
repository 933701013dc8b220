"""Cards: read whole, written back byte for byte, refused with every problem named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.card import Card
from derive.errors import CardError
from derive.limits import MOST_BYTES

SAMPLE = Path(__file__).parent.parent / "cards" / "max_pooling_backward.md"
BODY = "One line.\n\n## A heading\n\n$$\na = b\n$$\n"
HEAD = "---\nid: q1\n---\n"


def test_the_sample_card() -> None:
    card = Card.read(SAMPLE)
    assert (card.id, card.points, card.path) == ("ssu_batch4_004", 5, str(SAMPLE))
    assert card.text.encode() == SAMPLE.read_bytes()
    assert card.front_matter["tags"] == ["cnn", "max-pooling", "backpropagation", "gradients"]
    assert card.key_line("difficulty") == 5
    assert card.question.startswith("(5p) Consider")
    assert card.question.rstrip().endswith("of the layer.")
    assert card.text.split("\n")[card.question_line - 1].startswith("(5p)")
    assert card.solution.startswith("We want") and not card.generated
    assert card.related == ("neural-networks", "cnn", "max-pooling", "backpropagation")


def test_writing_changes_the_solution_alone() -> None:
    card = Card.read(SAMPLE)
    text = card.with_solution(BODY)
    before, after = card.text.index("# Solution"), card.text.index("## Related Concepts")
    assert text.startswith(card.text[:before])
    assert text.endswith(card.text[after:])
    again = Card.parse(text)
    assert again.generated and again.solution.strip() == BODY.strip()
    assert text.split("\n")[(again.solution_line or 0) - 1] == ""
    assert again.with_solution(BODY) == text


def test_an_edited_solution_is_no_longer_generated() -> None:
    text = Card.read(SAMPLE).with_solution(BODY)
    assert not Card.parse(text.replace("One line.", "Two lines.")).generated
    assert Card.parse(text.replace("\n", "\r\n")).generated  # an editor's line ends are no edit


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (HEAD + "# Question\nA?", HEAD + "# Question\nA?\n\n---\n# Solution\n{}\n\nX\n"),
        (HEAD + "# Question\nA?\n\n---\n", HEAD + "# Question\nA?\n\n---\n# Solution\n{}\n\nX\n"),
        (HEAD + "# Question\nA?\n# Solution\nold", HEAD + "# Question\nA?\n\n---\n# Solution\n{}\n\nX\n"),
        (
            HEAD + "# Question\nA?\n\n## Related Concepts\n- [[b]]\n",
            HEAD + "# Question\nA?\n\n---\n# Solution\n{}\n\nX\n\n## Related Concepts\n- [[b]]\n",
        ),
        (
            HEAD + "# Question\nA?\n---\n# Solution\nold\n\n<!--SR:!2024-01-01,3,250-->\n^block",
            HEAD + "# Question\nA?\n---\n# Solution\n{}\n\nX\n\n<!--SR:!2024-01-01,3,250-->\n^block",
        ),
        (
            HEAD + "# Question\nA?\n---\n# Solution\nold\n# Notes\nmine\n",
            HEAD + "# Question\nA?\n---\n# Solution\n{}\n\nX\n\n# Notes\nmine\n",
        ),
    ],
)
def test_missing_sections_are_added_and_others_kept(text: str, written: str) -> None:
    result = Card.parse(text).with_solution("X")
    mark = next(line for line in result.split("\n") if "derive: generated" in line)
    assert result == written.format(mark)


def test_headings_of_a_deeper_solution_stay_inside_it() -> None:
    text = Card.parse(HEAD + "## Question\nA?\n---\n## Solution\n## Related Concepts\n").with_solution("X\n\n## Why\nY")
    assert "### Why" in text
    assert Card.parse(text).generated


@pytest.mark.parametrize(
    "heading", ["# question", "#  Question", "## Question", "# Question #", "Question\n===", "# QUESTION:"]
)
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_headings_marks_and_line_ends(heading: str, start: str, end: str) -> None:
    text = start + f"{HEAD}\n{heading}\nA?\n\n---\n# Solution\n".replace("\n", end)
    card = Card.parse(text)
    assert card.question.strip() == "A?"
    written = card.with_solution("B\nC")
    assert written.startswith(text.rstrip("\r\n"))
    assert written.count("\n") == written.count(end)


@pytest.mark.parametrize("wrapped", ["```\n# Solution\n```", "~~~~\n# Solution\n~~~\n~~~~", "<!--\n# Solution\n-->"])
def test_a_heading_in_code_or_a_comment_is_none(wrapped: str) -> None:
    card = Card.parse(f"{HEAD}# Question\n{wrapped}\nA?\n---\n# Solution\nB\n")
    assert card.question.endswith("A?\n")
    assert card.solution == "B\n"


@pytest.mark.parametrize("opening", ["```", "~~~", "<!--", "<!-- a --> <!--"])
def test_what_is_never_closed_does_not_swallow_the_card(opening: str) -> None:
    card = Card.parse(f"{HEAD}# Question\n{opening}\nA?\n---\n# Solution\nB\n")
    assert card.solution == "B\n"
    assert Card.parse(card.with_solution("C")).generated


@pytest.mark.parametrize(
    ("question", "points"),
    [
        ("(5p) Q", 5),
        ("**(3 pts)** Q", 3),
        ("(1 point) Q", 1),
        ("(2 b) Q", 2),
        ("(5 bodů) Q", 5),
        ("Q", None),
        ("(5p) Q (a) (2p) x (b) (3p) y", 5),
        ("Q\n(a) (2p) x\n(b) (3 pts) y", 5),
        ("Q [5 points] (a) [2 points] x (b) [3 points] y", 5),
        ("Q (p)", None),
    ],
)
def test_points(question: str, points: int | None) -> None:
    assert Card.parse(f"{HEAD}# Question\n{question}\n").points == points


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["q.md: the file is empty"]),
        ("\ufeff \n", ["q.md: the file is empty"]),
        ("hello", ["q.md:1: there is no front matter", "q.md: there is no Question"]),
        ("---\nid: q\n", ["q.md:1: the front matter is not closed"]),
        (
            "---\nid: q\n# Question\nA\n---\n# Solution\n",
            ["q.md:1: the front matter is not closed; add a line `---` before"],
        ),
        ("---\n- a\n---\n# Question\nA", ["q.md:2: the front matter is not a mapping"]),
        ("---\nb: [1\n---\n", ["q.md:3: the front matter is not YAML", "q.md: there is no Question"]),
        ("---\ntype: x\n---\n", ["q.md:1: the front matter has no `id`", "q.md: there is no Question"]),
        ("---\nid:\n---\n# Question\nA", ["q.md:2: the front matter has no `id`"]),
        ("---\nid: 1\n---\n# Question\n\n---\n# Solution\n", ["q.md:5: the Question is empty"]),
        ("---\nid: 1\nid: 2\n---\n# Question\nA", ["q.md:3: the key `id` is written twice"]),
        ("---\nid: 1\nd: 2024-13-45\n---\n# Question\nA", ["q.md:3: `d` has no valid value"]),
        ("---\nid: !!python/object:os.system 1\n---\n# Question\nA", ["q.md:2: YAML tags, anchors"]),
        ("---\na: &x [1]\nid: *x\n---\n# Question\nA", ["q.md:2: YAML tags, anchors"]),
        ("---\nid: " + "[" * 5000 + "\n---\n# Question\nA", ["q.md:2: lists in lists deeper than 20"]),
    ],
)
def test_every_problem_is_one_line(text: str, lines: list[str]) -> None:
    with pytest.raises(CardError) as caught:
        Card.parse(text, "q.md")
    found = str(caught.value).split("\n")
    assert len(found) == len(lines)
    assert all(a.startswith(b) for a, b in zip(found, lines, strict=True)), found


def test_unreadable_files(tmp_path: Path) -> None:
    cases = {"large.md": b"x" * (MOST_BYTES + 1), "latin.md": b"---\nid: \xe9\n---\n"}
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
    for name, part in (
        ("large.md", "1,000,001 bytes"),
        ("latin.md", ":2: byte 0xe9 is not UTF-8"),
        ("none.md", "No such file"),
        (".", "directory"),
    ):
        with pytest.raises(CardError, match=part):
            Card.read(tmp_path / name)


def test_an_id_is_kept_as_written() -> None:
    assert Card.parse("---\nid: 007\n---\n# Question\nA").id == "007"


# neither `#` nor `=`: a line of either can make a heading, which ends the section
text_lines = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="#="), max_size=30)


@given(st.lists(text_lines, max_size=5), st.lists(text_lines, max_size=5), text_lines, st.sampled_from(["\n", "\r\n"]))
def test_whatever_stands_around_the_solution_stays(question: list[str], after: list[str], old: str, end: str) -> None:
    text = end.join(
        [
            "---",
            "id: a # note",
            "odd key: 'x'",
            "---",
            "",
            "# Question",
            "Q",
            *question,
            "",
            "---",
            "# Solution",
            old,
            "## Related Concepts",
            *after,
        ]
    )
    card = Card.parse(text)
    assert card.text == text
    heading = next(h for h in card._headings if h.kind == "solution")
    written = card.with_solution("A\n\nB")
    assert written.startswith("".join(card._lines[: heading.stop]))
    assert written.endswith(end.join(["## Related Concepts", *after]))
    assert Card.parse(written).with_solution("A\n\nB") == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "# Question\nA?\n# Question\nB?\n", "6: a second Question; the first is in line 4: keep one in a card"),
        (HEAD + "# Question\nA?\n# Solution\nB\n# Solution\nC\n", "8: a second Solution; the first is in line 6"),
        ("---\nid: a\npoints: -4\n---\n# Question\nA?", "3: `points: -4` is less than 0"),
    ],
)
def test_a_card_says_a_thing_once_and_points_are_not_lost(text: str, message: str) -> None:
    with pytest.raises(CardError) as raised:
        Card.parse(text, "a.md")
    assert str(raised.value).startswith(f"a.md:{message}")


MARKS = {
    "(5p) Consider $f(x) = x$.": "Consider $f(x) = x$.",
    "Consider $f(x) = x$. (5p)": "Consider $f(x) = x$.",
    "Consider $f(x) = x$ **(5p)**.": "Consider $f(x) = x$.",
    "**Pooling.** [8 points]\n(a) [3 points] One.\n(b) [5 points] Two.":
        "**Pooling.**\n(a) [3 points] One.\n(b) [5 points] Two.",
    "(a) One. (3p)\n(b) Two. (5p)": "(a) One. (3p)\n(b) Two. (5p)",
    "Consider $f(3p)$.": "Consider $f(3p)$.",
}


@pytest.mark.parametrize(("text", "shown"), MARKS.items())
def test_the_whole_question_s_mark_is_left_out(text: str, shown: str) -> None:
    card = Card.parse(f"---\nid: a\n---\n# Question\n{text}\n\n# Solution\n")
    assert card.asked[0].strip() == shown


def test_two_cards_with_one_header_share_nothing_that_can_be_changed() -> None:
    first, second = (Card.parse("---\nid: a\ntags: [x]\n---\n# Question\nQ\n") for _ in range(2))
    first.front_matter["tags"].append("y")
    assert second.front_matter["tags"] == ["x"]
