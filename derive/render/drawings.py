"""What a finished drawing of a scene shows, read back from SVG and TikZ: marks, ends of arrows, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any
from xml.etree import ElementTree

from derive.errors import Problem, VerificationError
from derive.sheet import Cell, Label, Line, Scene
from derive.words import templates

Read = list[tuple[str, ...]]
_ARROWS = ("forward", "backward", "axis")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_STROKE = re.compile(r"\\(?:path|draw)\[(\w+) (\w+)\] ([^;]*);")
_WORDS = re.compile(r"\\words(?:\[\w+\])?\{(?:\w+ \w+)\}\{([^}]*)\}\{([^}]*)\}\{(.*)\}")


def guard_drawing(drawn: str, scene: Scene, unit: float) -> None:
    """Raise :class:`VerificationError` unless a drawing has the marks, arrows and numbers of its scene.

    A length in SVG is so many pixels, in TikZ one ``unit``.
    """
    found, wanted = of_svg(drawn, unit) if unit > 1 else of_tikz(drawn), of_scene(scene)
    other = next((pair for pair in zip(found, wanted, strict=False) if pair[0] != pair[1]), None)
    if other is not None or len(found) != len(wanted):
        shown, checked = (" ".join(each) for each in other or ((str(len(found)),), (str(len(wanted)),)))
        raise VerificationError(Problem(f"the picture `{scene.name}` shows {shown} where {checked} was checked"))


def of_scene(scene: Scene) -> Read:
    """Role and place of each item, and the number of each text."""
    found: Read = []
    for item in scene.items:
        match item:
            case Cell():
                found.append(("cell", item.role, _places((item.x, item.y, item.width, item.height))))
                middle = item.x + item.width / 2
                found += [("text", _digits(text), _places([middle])) for text in (item.text, item.note) if text]
            case Line():
                ends = (*item.points[0], *item.points[-1])
                found.append(("line", item.role, _places(ends), str(item.role in _ARROWS)))
            case Label():
                found.append(("text", _digits(item.text), _places([item.x])))
    return sorted(found)


def of_svg(text: str, unit: float) -> Read:
    """The same, from the elements of the finished drawing."""
    found: Read = []
    for element in ElementTree.fromstring(text).iter():
        kind, *roles = (element.get("class") or "").split() or [""]
        if kind == "box":
            found.append(("cell", roles[0], _places((element.get(n) for n in ("x", "y", "width", "height")), unit)))
        elif kind == "line":
            at, head = _NUMBER.findall(element.get("d", "")), element.get("marker-end", "")
            pointed = str(head.endswith(f"-{roles[0]})") or head or False)
            found.append(("line", roles[0], _places(at[:2] + at[-2:], unit), pointed))
        elif element.tag.endswith("}text"):
            found.append(("text", _digits("".join(element.itertext())), _places([element.get("x")], unit)))
    return sorted(found)


def of_tikz(text: str) -> Read:
    """The same, from the strokes and words of the finished source."""
    found: Read = []
    for role, kind, path in _STROKE.findall(text):
        at = [float(n) for n in _NUMBER.findall(path)]
        if kind == "cell":
            found += [("cell", role, _places((x, y, u - x, v - y))) for x, y, u, v in zip(*[iter(at)] * 4, strict=True)]
        elif kind == "line":
            found.append(("line", role, _places(at[:2] + at[-2:]), str("->" in _styles().get(role, ""))))
    return sorted([*found, *(("text", _digits(words), _places([x])) for x, _, words in _WORDS.findall(text))])


@cache
def _styles() -> dict[str, str]:
    """The styles of lines in TikZ, by role."""
    styles = (templates() / "pages" / "figure-styles.tex").read_text("utf-8")
    return dict(re.findall(r"(\w+) line/\.style=\{(.*)\},", styles))


def _digits(text: str) -> str:
    """What of a text no letters of TeX hide: its digits and signs."""
    return "".join(re.findall(r"[\d+-]", text.replace("−", "-")))


def _places(values: Iterable[Any], unit: float = 1) -> str:
    """To a tenth, of which none lies near the bound of two; drawings are rounded to a hundredth."""
    return " ".join(f"{float(v) / unit + 0.0137:.1f}" for v in values)
