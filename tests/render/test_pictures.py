"""The two drawings of a scene: both complete, within their frame, and telling what they show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from xml.etree import ElementTree

import pytest

from derive.render.pdf import compile_latex, engine
from derive.render.pictures import UNIT, plain, svg, tikz
from derive.sheet import Cell, Label, Line, Outline, Scene
from derive.words import templates
from tests.figures.scenes import NAMES, points, scenes

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", NAMES)
def test_all_lies_within_the_frame(name: str) -> None:
    scene = scenes()[name]
    for x, y in points(scene):
        assert -0.01 <= x <= scene.width + 0.01 and -0.01 <= y <= scene.height + 0.01, (x, y)


@pytest.mark.parametrize("name", NAMES)
def test_svg_is_well_formed_and_has_a_text_alternative(name: str) -> None:
    scene = scenes()[name]
    root = ElementTree.fromstring(svg(scene))
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None and title.text == scene.title
    assert description is not None and description.text == plain(scene.description)
    assert "$" not in (description.text or "") and "\\" not in (description.text or "")
    named = {e.get("id") for e in root.iter()}
    assert set(re.findall(r"url\(#([\w-]+)\)", svg(scene))) <= named
    assert float(root.get("width", "0")) == pytest.approx(scene.width * UNIT, abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_both_drawings_hold_every_item(name: str) -> None:
    scene = scenes()[name]
    drawn, typeset = ElementTree.fromstring(svg(scene, standalone=False)), tikz(scene)
    texts = sum(isinstance(i, Label) or (isinstance(i, Cell) and bool(i.text)) + bool(getattr(i, "note", "")) for i in scene.items)
    assert len(list(drawn.iter(f"{SVG}text"))) == texts == typeset.count("\\words")
    cells = [i for i in scene.items if isinstance(i, Cell)]
    hatched = sum(c.role in ("both", "shared") for c in cells)
    assert typeset.count("rectangle") == len(cells) + hatched + sum(isinstance(i, Outline) for i in scene.items)
    lines = sum(isinstance(i, Line) for i in scene.items)
    assert sum("line" in (e.get("class") or "").split() for e in drawn.iter(f"{SVG}path")) == lines == typeset.count(" line]")


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_STROKE = re.compile(r"\\(?:path|draw)\[(\w+) (\w+)\] (.*?);")
_WORDS = re.compile(r"\\words(?:\[\w+\])?\{(?:\w+ \w+)\}\{(.*?)\}\{(.*?)\}\{(.*)\}")
ARROWS = ("forward", "backward", "axis")
Read = list[tuple[str, ...]]


def digits(text: str) -> str:
    """What of a text no letters of TeX hide: its digits and signs."""
    return "".join(re.findall(r"[\d+-]", text.replace("−", "-")))


def numbers(values: Iterable[Any], unit: float = 1) -> str:
    """To a tenth, of which none lies near the bound of two; drawings are rounded to a hundredth."""
    return " ".join(f"{float(v) / unit + 0.0137:.1f}" for v in values)


def of_scene(scene: Scene) -> Read:
    """Role and place of each item, and the number of each text."""
    found: Read = []
    for item in scene.items:
        match item:
            case Cell():
                found.append(("cell", item.role, numbers((item.x, item.y, item.width, item.height))))
                middle = item.x + item.width / 2
                if item.text:
                    found.append(("text", digits(item.text), numbers([middle])))
                if item.note:
                    found.append(("text", digits(item.note), numbers([middle])))
            case Line():
                ends = (*item.points[0], *item.points[-1])
                found.append(("line", item.role, numbers(ends), str(item.role in ARROWS)))
            case Label():
                found.append(("text", digits(item.text), numbers([item.x])))
    return sorted(found)


def of_svg(text: str) -> Read:
    """The same, from the elements of the finished drawing."""
    found: Read = []
    for element in ElementTree.fromstring(text).iter():
        kind, *roles = (element.get("class") or "").split() or [""]
        if kind == "box":
            found.append(("cell", roles[0], numbers((element.get(n) for n in ("x", "y", "width", "height")), UNIT)))
        elif kind == "line":
            at = _NUMBER.findall(element.get("d", ""))
            head = element.get("marker-end", "")
            pointed = head == f"url(#figure-{roles[0]})"
            found.append(("line", roles[0], numbers(at[:2] + at[-2:], UNIT), str(pointed or bool(head) and head)))
        elif element.tag == f"{SVG}text":
            found.append(("text", digits("".join(element.itertext())), numbers([element.get("x")], UNIT)))
    return sorted(found)


def of_tikz(text: str) -> Read:
    """The same, from the strokes and words of the finished source."""
    found: Read = []
    for role, kind, path in _STROKE.findall(text):
        at = [float(n) for n in _NUMBER.findall(path)]
        if kind == "cell":
            found += [("cell", role, numbers((x, y, u - x, v - y))) for x, y, u, v in zip(*[iter(at)] * 4, strict=True)]
        elif kind == "line":
            styles = (templates() / "pages" / "figure-styles.tex").read_text("utf-8")
            style = re.search(rf"{role} line/\.style=\{{(.*)\}},", styles)
            assert style is not None
            found.append(("line", role, numbers(at[:2] + at[-2:]), str("->" in style[1])))
    return sorted([*found, *(("text", digits(words), numbers([x])) for x, _, words in _WORDS.findall(text))])


@pytest.mark.parametrize("name", NAMES)
def test_the_finished_drawings_read_back_as_the_scene(name: str) -> None:
    """Whose numbers, marks and ends of arrows each sheet compares with the evaluator."""
    scene = scenes()[name]
    assert of_svg(svg(scene)) == of_scene(scene)
    assert of_tikz(tikz(scene)) == of_scene(scene)


@pytest.mark.parametrize(("draw", "read", "old", "new"), [
    (svg, of_svg, 'marker-end="url(#figure-forward)"', ""), (svg, of_svg, "box chosen", "box shared"),
    (svg, of_svg, "line forward", "line backward"), (svg, of_svg, 'line forward" d="M', 'line forward" d="M9'), (svg, of_svg, ">10<", ">11<"),
    (tikz, of_tikz, "chosen cell", "cell cell"), (tikz, of_tikz, "forward line] (", "forward line] (9"),
    (tikz, of_tikz, "backward line", "forward line"), (tikz, of_tikz, "rectangle (", "rectangle (3"), (tikz, of_tikz, "10$}", "11$}"),
])
def test_a_changed_arrow_number_or_mark_of_a_finished_drawing_shows(
        draw: Callable[[Scene], str], read: Callable[[str], Read], old: str, new: str) -> None:
    scene = next(s for name, s in scenes().items() if name.startswith("routing") and old in str(draw(s)))
    assert read(str(draw(scene))) == of_scene(scene)
    assert read(str(draw(scene)).replace(old, new, 1)) != of_scene(scene)


def test_every_role_has_a_look_in_both() -> None:
    css = (templates() / "pages" / "figure.css").read_text("utf-8")
    styles = (templates() / "pages" / "figure-styles.tex").read_text("utf-8")
    kinds = {"Cell": "cell", "Outline": "outline", "Line": "line", "Dot": "dot", "Label": "text"}
    for scene in scenes().values():
        for item in scene.items:
            role, kind = item.role, kinds[type(item).__name__]
            assert f"{role} {kind}" + ("}{" if kind == "text" else "/.style") in styles
            assert not getattr(item, "note", "") and not (kind == "cell" and item.text) or f"{role} number}}{{" in styles
            assert kind in ("cell", "dot") or f".{role}" in css


def test_a_power_is_heard_as_one() -> None:
    assert plain(r"from $\sigma^2$ and $x_{1}$") == "from σ² and x1"


def test_scripts_and_accents_of_a_label() -> None:
    assert '<tspan class="it">δ</tspan><tspan class="it script" dy="0.343em">x</tspan>' in svg(scenes()["graph: batch_norm"])


@pytest.mark.skipif(engine() is None, reason="no TeX with the packages of a sheet")
def test_tex_sets_every_figure_without_complaint() -> None:
    styles = (templates() / "pages" / "figure-styles.tex").read_text("utf-8")
    pictures = "\n\n".join(rf"\noindent {tikz(scene)}" for scene in scenes().values())
    made = compile_latex(
        r"\documentclass{article}\usepackage[a4paper,margin=15mm]{geometry}\usepackage{amsmath,amssymb,tikz}"
        rf"{styles}\begin{{document}}{pictures}\end{{document}}")
    assert made.overfull == []
    assert "Missing character" not in made.log
