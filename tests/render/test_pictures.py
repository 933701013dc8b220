"""The two drawings of a scene: both complete, within their frame, and telling what they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from derive.errors import VerificationError
from derive.render.drawings import guard_drawing
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


@pytest.mark.parametrize(("draw", "unit", "old", "new"), [
    (svg, UNIT, 'marker-end="url(#figure-forward)"', ""), (svg, UNIT, "box chosen", "box shared"),
    (svg, UNIT, "line forward", "line backward"), (svg, UNIT, 'line forward" d="M', 'line forward" d="M9'), (svg, UNIT, ">10<", ">11<"),
    (tikz, 1, "chosen cell", "cell cell"), (tikz, 1, "forward line] (", "forward line] (9"), (tikz, 1, "10$}", "11$}"),
    (tikz, 1, "backward line", "forward line"), (tikz, 1, "rectangle (", "rectangle (3"),
])
def test_a_changed_arrow_number_or_mark_of_a_finished_drawing_is_caught(
        draw: Callable[[Scene], str], unit: float, old: str, new: str) -> None:
    """Whose numbers, marks and ends of arrows each sheet compares with the evaluator."""
    scene = next(s for name, s in scenes().items() if name.startswith("routing") and old in str(draw(s)))
    with pytest.raises(VerificationError, match="the picture"):
        guard_drawing(str(draw(scene)).replace(old, new, 1), scene, unit)


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
