"""What Moodle's import makes of a file: its regular expressions for Cloze, its paths of elements, in Python."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from html import unescape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

# as in question/type/multianswer/questiontype.php
_FRACTION = r"=|%(-?[0-9]+(?:[.,][0-9]*)?)%"
_ANSWER = r".+?(?<!\\)(?<!&)(?<!&amp;)(?=[~#}]|$)"
_FEEDBACK = r".*?(?<!\\)(?=[~}]|$)"
_ALTERNATIVE = f"({_FRACTION})?({_ANSWER})(#({_FEEDBACK}))?"
_TYPE = r"(NUMERICAL|NM)|(MULTICHOICE|MC)|(SHORTANSWER|SA|MW)|(MULTIRESPONSE|MR)"
_CLOZE = re.compile(rf"\{{([0-9]*):({_TYPE}):((?:{_ALTERNATIVE})(?:~{_ALTERNATIVE})*)\}}", re.S)
_NUMBER = r"-?(([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]+)?)"
_NUMERICAL = re.compile(rf"^({_NUMBER})(:{_NUMBER})?$", re.S)


@dataclass(frozen=True)
class Answer:
    fraction: float
    number: float
    tolerance: float
    feedback: str


@dataclass(frozen=True)
class Question:
    kind: str
    name: str
    text: str
    category: str
    feedback: str
    idnumber: str
    tags: tuple[str, ...] = ()
    points: float = 1
    guide: str = ""
    answers: tuple[tuple[Answer, ...], ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)


def imported(text: str) -> list[Question]:
    root = ElementTree.fromstring(text)
    assert root.tag == "quiz" and all(child.tag == "question" for child in root)
    found, category = [], ""
    for element in root:
        if element.get("type") == "category":
            category = said(element, "category")
        else:
            found.append(question(element, category))
    return found


def said(element: Element, path: str) -> str:
    found = element.findtext(f"{path}/text")
    assert found is not None, path
    return found.strip()


def question(element: Element, category: str) -> Question:
    kind = element.get("type")
    assert kind in ("essay", "cloze") and category
    for place in ("questiontext", "generalfeedback"):
        assert element.find(place).get("format") == "html"  # type: ignore[union-attr]
    text, answers = said(element, "questiontext"), []
    if kind == "cloze":
        while (found := _CLOZE.search(text)) is not None:
            assert found[3] == "NUMERICAL" and int(found[1]) >= 1
            answers.append(alternatives(found[7]))
            text = text[: found.start()] + f"{{#{len(answers)}}}" + text[found.end():]
        assert answers
    else:
        for name, values in (("responseformat", {"editor", "editorfilepicker", "plain", "monospaced", "noinline"}),
                             ("responserequired", {"0", "1"}), ("attachmentsrequired", {"0", "1", "2", "3"}),
                             ("attachments", {"0", "1", "2", "3", "-1"})):
            assert element.findtext(name) in values, name
        assert int(element.findtext("responsefieldlines", "")) > 0
    files = {f.get("name", ""): base64.b64decode(f.text or "", validate=True) for f in element.iter("file")}
    assert all(f.get("encoding") == "base64" and f.get("path") == "/" for f in element.iter("file"))
    return Question(
        kind, said(element, "name"), text, category, said(element, "generalfeedback"), element.findtext("idnumber", ""),
        tuple(said(tag, ".") for tag in element.findall("tags/tag")), float(element.findtext("defaultgrade", "1")),
        said(element, "graderinfo") if kind == "essay" else "", tuple(answers), files)  # fmt: skip


def alternatives(text: str) -> tuple[Answer, ...]:
    found = []
    while (one := re.search("~?" + _ALTERNATIVE, text, re.S)) is not None and one[0]:
        number = _NUMERICAL.match(one[3])
        assert number is not None, one[3]
        feedback = unescape(one[5] or "").replace(r"\}", "}").replace(r"\#", "#")
        fraction = 1.0 if one[1] == "=" else float(one[2] or 0) / 100
        found.append(Answer(fraction, float(number[1]), float(number[6] or 0), feedback))
        text = text.split(one[0], 1)[1]
    return tuple(found)


def graded(answers: tuple[Answer, ...], typed: float) -> Answer | None:
    """The first answer in whose tolerance the number lies."""
    return next((a for a in answers if abs(typed - a.number) <= a.tolerance * (1 + 1e-12)), None)
