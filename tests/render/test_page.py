"""The HTML page in a real browser: nothing fetched, nothing complained of, all laid out, and its numbers right."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import random
import re
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import derive
from derive.card import Card
from derive.errors import VerificationError
from derive.numbers import Numbers
from derive.numeric.evaluator import evaluate
from derive.receptive_field import receptive_field
from derive.render import html, render
from derive.render.guard import trial
from derive.render.hypertext import blocks, inline
from derive.sheet import Figure, Sheet
from derive.solve import Solution
from derive.words import templates
from tests.bank import SAMPLE, composed, solved, unchecked
from tests.render import example
from tests.render.browser import needs_chromium, visit, visits

CARDS = [SAMPLE.stem, "one_d", "min_pooling", "overlapping", "czech", "code", "attention_bank", "prelu_bank"]
OPEN = 'for (const step of document.querySelectorAll("details")) step.open = true;'
Size = tuple[int, ...]
GEOMETRIES = [((2, 2), (2, 2), (0, 0), (4, 4)), ((3, 3), (1, 1), (0, 0), (4, 5)), ((3, 3), (2, 2), (1, 1), (5, 5)),
              ((2, 2), (3, 3), (0, 0), (5, 5))]


@cache
def page(name: str) -> str:
    return str(render(solved(name) if name == CARDS[0] else composed(name), "html", "full"))


@needs_chromium
def test_the_harness_sees_errors_and_requests() -> None:
    broken = page(CARDS[0]).replace("</main>", '<img src="https://example.org/a.png" alt=""></main>')
    seen = visit(broken, "console.error('heard'); return 1")
    assert seen.result == 1
    assert any("heard" in line for line in seen.complaints)
    assert any("Content Security Policy" in line and "example.org" in line for line in seen.complaints)


@needs_chromium
def test_everything_is_laid_out_and_nothing_is_asked_for() -> None:
    shown = [(name, width) for name in CARDS for width in (1000, 375)]
    seen = visits([(page(name), width) for name, width in shown], OPEN + """
      const empty = (s) => [...document.querySelectorAll(s)].filter((e) => {
        const r = e.getBoundingClientRect(); return r.width < 2 || r.height < 2; }).length;
      const main = document.querySelector("main").getBoundingClientRect();
      const out = [...document.querySelectorAll("main > *, .body > :not(script), figure, .formula")].filter((e) => {
        const r = e.getBoundingClientRect(); return r.right > main.right + 1 || r.left < main.left - 1; });
      return { maths: document.querySelectorAll("math").length, figures: document.querySelectorAll("svg").length,
        scrolled: [...document.querySelectorAll(".formula > math")].filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).length,
        emptyMaths: empty(innerWidth < 500 ? "math:not(.broken > math:first-child)" : "math:not(.narrow)"), emptyFigures: empty("svg"), out: out.length, errors: empty("merror, .merror"),
        sideways: document.documentElement.scrollWidth - innerWidth,
        requests: performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith("data:")),
        font: document.fonts.check('16px "STIX Two Math"') && [...document.fonts].every((f) => f.status === "loaded"), width: innerWidth };
    """)
    assert seen.complaints == []
    for (name, width), found in zip(shown, seen.result, strict=True):
        assert found["width"] == width and found["maths"] > 30
        assert found["figures"] == len(composed(name).sheet.figures())
        assert (found["emptyMaths"], found["emptyFigures"], found["out"], found["errors"]) == (0, 0, 0, 0), name
        assert found["sideways"] <= 0, (name, width)
        assert found["scrolled"] == 0 or name not in CARDS[:2], (name, width)
        assert found["requests"] == []
        assert found["font"] is True


@needs_chromium
def test_steps_open_one_by_one_and_all_at_once() -> None:
    seen = visit(page(CARDS[0]), """
      const steps = [...document.querySelectorAll("details.step")];
      const button = document.getElementById("all");
      const answer = document.querySelector(".answer");
      const before = [answer.open, steps.filter((s) => s.open).length, document.querySelector("h2").textContent];
      answer.querySelector("summary").click();
      const one = answer.open;
      button.click();
      await new Promise((done) => setTimeout(done, 50));
      const all = [steps.every((s) => s.open), button.textContent];
      button.click();
      return { before, one, all, none: steps.some((s) => s.open), steps: steps.length };
    """)
    assert page(CARDS[0]).index('class="skip" href="#solution"') < page(CARDS[0]).index("<main>")
    assert seen.result["before"] == [True, 1, "Question"]
    assert (seen.result["one"], seen.result["all"], seen.result["none"]) == (False, [True, "Close all"], False)
    assert seen.result["steps"] > 8


@needs_chromium
def test_keyboard_and_screen_reader() -> None:
    seen = visit(page(CARDS[0]), OPEN + """
      const field = document.querySelector("[data-name=input] input");
      field.focus();
      const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      press("ArrowRight"); press("ArrowDown");
      const walked = document.activeElement.getAttribute("aria-label");
      document.activeElement.blur();
      const nameless = [...document.querySelectorAll("input, button, select, summary, svg, table.grid")]
        .filter((e) => !(e.computedName ?? e.textContent).trim());
      return { walked, nameless: nameless.length, roles: [...document.querySelectorAll("svg")].map((e) => e.computedRole),
        name: document.querySelector("svg").computedName, heads: [...document.querySelectorAll("h1,h2,h3")].map((h) => h.tagName),
        live: document.querySelector("[role=status]").textContent, lang: document.documentElement.lang };
    """)
    found = seen.result
    assert found["walked"] == "input, row 1, column 1"
    assert found["nameless"] == 0
    assert set(found["roles"]) <= {"img", "image"}
    assert found["name"] == "Receptive fields"
    assert found["heads"][:4] == ["H1", "H2", "H2", "H3"]
    assert (found["live"], found["lang"]) == ("No ties.", "en")


FILL = """
  const rows = (name, kind) => [...document.querySelectorAll(`[data-name=${name}] tbody tr`)].map((r) => [...r.querySelectorAll(kind)]);
  const put = (name, values) => rows(name, "input").forEach((row, i) => row.forEach((field, j) => {
    field.value = values[i][j]; field.dispatchEvent(new Event("input", { bubbles: true })); }));
  const got = (name) => rows(name, "output").map((row) => row.map((place) => [place.textContent, Number(place.dataset.value)]));
  const rule = document.querySelector("select");
  return data.map((one) => {
    rule.value = one.rule; rule.dispatchEvent(new Event("change", { bubbles: true }));
    put("input", one.source); put("upstream", one.upstream);
    return { output: got("output"), mask: got("mask"), gradient: got("gradient"), status: document.querySelector("[role=status]").textContent };
  });
"""


def cases(solution: Solution, count: int) -> list[dict[str, Any]]:
    """Random grids of the page's size; half of them full of ties."""
    trial = solution.sheet.trial
    assert trial is not None
    source = random.Random(count)
    made = []
    for n in range(count):
        top = 3 if n % 2 else 99
        made.append({"rule": ("first", "last", "split")[n % 3],
                     "source": [[source.randint(-top, top) for _ in row] for row in trial.source],
                     "upstream": [[source.randint(-9, 9) for _ in row] for row in trial.upstream]})
    return made


def agree(solution: Solution, one: dict[str, Any], shown: dict[str, Any]) -> None:
    flat = len(solution.module.receptive_field.axes) == 1  # type: ignore[union-attr]
    x, delta = (np.array(one[name][0] if flat else one[name], float) for name in ("source", "upstream"))
    name = solution.module.inputs[0]
    known = {i: Fraction(int(v)) for i, v in np.ndenumerate(x)}
    forward = evaluate(solution.module, {name: known}, {name: x.shape})[solution.module.output]
    ruled = Numbers(dataclasses.replace(solution.module, tie_rule=one["rule"]))
    wanted = {"output": np.array([float(forward[i]) for i in np.ndindex(delta.shape)]).reshape(delta.shape),
              "mask": ruled.backward(name, upstream=np.ones_like(delta), **{name: x}),
              "gradient": ruled.backward(name, upstream=delta, **{name: x})}
    for what, values in wanted.items():
        table = shown[what][0] if flat else shown[what]
        assert np.allclose([[v for _, v in row] for row in ([table] if flat else table)], np.atleast_2d(values), atol=1e-12)
        for text, value in itertools.chain.from_iterable([table] if flat else table):
            assert abs(float(text.replace("−", "-")) - value) < 1e-3


@cache
def layer(kernel: Size, stride: Size, padding: Size, shape: Size) -> Solution:
    """Its sheet, unchecked: the grid is asked, nothing else."""
    plain = derive.layer("max_pool", kernel_size=2).with_field(receptive_field(kernel, stride, padding))
    return unchecked(dataclasses.replace(plain, input_size=shape))


@needs_chromium
def test_a_hundred_grids_follow_the_layer() -> None:
    solutions = [composed("one_d"), composed("min_pooling"), *(layer(*geometry) for geometry in GEOMETRIES)]
    asked, tied = [cases(solution, 18) for solution in solutions], 0
    seen = visits([(str(render(solution, "html")), 900) for solution in solutions], FILL, asked)
    assert seen.complaints == []
    for solution, grids, found in zip(solutions, asked, seen.result, strict=True):
        for one, shown in zip(grids, found, strict=True):
            agree(solution, one, shown)
            tied += shown["status"].startswith("Tied")
    assert tied > 40


@needs_chromium
def test_numbers_are_read_as_people_write_them() -> None:
    one = cases(solved(CARDS[0]), 1)[0]
    one["source"][0][0], one["source"][3][3] = "2000,5", "\u22120.25"
    one["source"][2][2], one["source"][2][3], one["source"][3][2] = "-7", "\u22129", " -8 "
    (shown,) = visit(page(CARDS[0]), FILL, [one]).result
    assert (shown["output"][0][0][0], shown["output"][1][1][0]) == ("2000.5", "\u22120.25")


@needs_chromium
def test_the_window_of_an_output_is_outlined_and_a_printed_page_is_open() -> None:
    seen = visit(page(CARDS[0]), OPEN + """
      const cells = (name) => [...document.querySelectorAll(`[data-name=${name}] tbody tr`)].map((r) => [...r.querySelectorAll("td")]);
      const input = cells("input"), output = cells("output");
      output[1][0].dispatchEvent(new Event("pointerenter"));
      const outlined = input.flatMap((row, i) => row.flatMap((td, j) => td.hasAttribute("data-window") ? [[i, j]] : []));
      output[1][0].dispatchEvent(new Event("pointerleave"));
      const left = document.querySelectorAll("[data-window]").length;
      const steps = [...document.querySelectorAll("details.step")];
      for (const step of steps.slice(1)) step.open = false;
      dispatchEvent(new Event("beforeprint"));
      const printed = steps.every((s) => s.open);
      dispatchEvent(new Event("afterprint"));
      return { outlined, left, printed, after: steps.filter((s) => s.open).length };
    """)
    assert seen.result["outlined"] == [[2, 0], [2, 1], [3, 0], [3, 1]]
    assert (seen.result["left"], seen.result["printed"], seen.result["after"]) == (0, True, 1)


@needs_chromium
def test_what_is_no_number_is_marked_and_leaves_the_rest() -> None:
    one = cases(solved(CARDS[0]), 1)[0]
    one["source"][0][0] = "x"
    one["source"][3][3] = "2,5"
    (shown,) = visit(page(CARDS[0]), FILL, [one]).result
    assert shown["output"][0][0][0] == "–"
    assert shown["output"][1][1][0] != "–"
    assert shown["status"] == "1 entry is not a number."


# --- without a browser ---------------------------------------------------------


def test_a_page_is_itself_alone() -> None:
    made = page(CARDS[0])
    assert "default-src 'none'; base-uri 'none'; form-action 'none'; " in made
    for outside in ("src=\"http", "href=\"http", "@import", "url(http", "<link rel=\"stylesheet\""):
        assert outside not in made


def test_each_table_has_headers() -> None:
    """The coordinates of a grid among them, of one axis only those of the columns."""
    for name, rows in ((CARDS[0], 1), ("one_d", 0), ("code", 1)):
        for table in re.findall(r"(?s)<table.*?</table>", page(name)):
            assert 'scope="col"' in table
            assert bool(re.search('scope="row"', table)) == bool(rows and 'class="grid"' in table)


@pytest.mark.parametrize("scheme", range(3), ids=["light", "dark", "print"])
def test_letters_stand_out_from_their_ground(scheme: int) -> None:
    """4.5 to 1 at least: words on the page and in shade, a message in the box of a parameter or a constant."""
    css = (templates() / "pages" / "page.css").read_text("utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", re.findall(r":root \{(.*?)\}", css, re.DOTALL)[scheme]))

    def luminance(name: str) -> float:
        digits = colours[name][1:]
        digits = digits if len(digits) == 6 else "".join(d * 2 for d in digits)
        parts = [int(digits[n:n + 2], 16) / 255 for n in (0, 2, 4)]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for ink, grounds in (("ink", "paper shade first-tint second-tint chosen gap"), ("faint", "paper shade"),
                         ("first", "paper shade"), ("second", "paper shade first-tint")):
        for ground in grounds.split():
            one, other = sorted((luminance(ink), luminance(ground)))
            assert (other + 0.05) / (one + 0.05) >= 4.5, (ink, ground)


def test_each_equation_has_its_verdict() -> None:
    solution = solved(CARDS[0])
    made = page(CARDS[0])
    formulas = len(solution.sheet.formulas())
    assert made.count('<div class="formula') == formulas
    assert made.count('class="verdict') == formulas
    assert made.count('class="verdict proved"') + made.count('class="verdict tested"') + len(
        [f for f in solution.sheet.formulas() if f.definition]) == formulas


@pytest.mark.parametrize("written", [
    "<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "[go](javascript:alert(1))", "![x](https://example.org/a.png)",
    "<https://example.org>", '`</code><script>alert(1)</script>`', r"$\text{<b>x</b>}$", "```\n</pre><script>1</script>\n```",
    "[a](data:text/html,<script>1</script>)", "&lt;script&gt;",
])
def test_a_hostile_question_is_text(written: str) -> None:
    card = Card.parse(example.CARD.replace("where $(i, j)$", f"{written}\n\nwhere $(i, j)$"))
    made = str(render(example.Solution(card=card), "html"))
    question = made[made.index('id="question"'):made.index('id="solution"')]
    for tag in ("<script", "<img", "<b>", "<a ", "onerror=\"", "src=", "href="):
        assert tag not in re.sub(r"&lt;[^<]*", "", question)
    assert made.count("<script") == 1


@pytest.mark.parametrize(("words", "whole"), [
    ("the input $x$, and", "$x$,"), ("where ($i$) is", "($i$)"), ("$M$\u00a0×\u00a0$N$ outputs", "$M$\u00a0×\u00a0$N$"),
    ("$M$ outputs", ""),
])  # fmt: skip
def test_no_line_breaks_between_a_formula_and_its_stop(words: str, whole: str) -> None:
    found = re.findall(r'<span class="whole">(.*?)</span>', str(inline(words)))
    assert [re.sub(r'<math alttext="(.*?)">.*?</math>', r"$\1$", part) for part in found] == ([whole] if whole else [])


@pytest.mark.parametrize(("formula", "message"), [
    (r"$\unknown x$", r"`\\unknown` is not a macro"),
    (r"$\root 3 \of x$", "cannot be shown on a page"),
    (r"$\frac{1}$", r"`\\frac\{1\}` cannot be shown on a page"),
    (r"$a_b_c$", "cannot be shown on a page"),
    (r"$\left( x$", r"is missing at the end of the formula"),
])
def test_a_broken_formula_is_an_error_of_the_card(formula: str, message: str) -> None:
    card = Card.parse(example.CARD.replace("2. What does", f"2. What {formula} does"), "cards/q.md")
    line = next(n for n, text in enumerate(card.text.split("\n"), 1) if formula in text)
    with pytest.raises(derive.CardError, match=rf"^cards/q.md:{line}: .*{message}"):
        render(example.Solution(card=card), "html")


def test_no_heading_of_a_question_is_more_than_one_level_below_that_before_it() -> None:
    made = str(blocks("## Data\n\nx\n\n##### Small\n\ny\n\n# Next"))
    assert re.findall(r"<h(\d)>", made) == ["3", "4", "3"]


def test_every_kind_of_block_and_the_figures_of_a_page_are_apart() -> None:
    figures = tuple(Figure(f.scene, f.caption) for f in solved(CARDS[0]).sheet.figures())
    sheet = Sheet("t", example.ANSWER, (*example.DETAILS, *figures, *figures), example.CHECKED)
    made = str(render(example.Solution(sheet=sheet), "html"))
    assert [made.count(f'id="figure{n}-title"') for n in range(1, 5)] == [1, 1, 1, 1]
    for piece in ("<table>", "<ul>", "<h4>", "<figcaption>", "<pre><code>", "<ol>"):
        assert piece in made


SABOTAGES = [("(a, b) => a > b", "(a, b) => a >= b"), ("(a, b) => a > b", "(a, b) => a < b"),
             ("found[found.length - 1], 1", "found[0], 1"), ("1 / found.length", "1"),
             ("+= share * upstream", "= share * upstream")]  # fmt: skip


@needs_chromium
def test_a_changed_comparison_or_rule_of_the_grid_shows() -> None:
    solution = layer(*GEOMETRIES[1])  # whose windows overlap
    page = str(render(solution, "html", "full"))
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script is not None
    asked, changed = cases(solution, 18), []
    for old, new in SABOTAGES:
        assert old in script[1]
        other = script[1].replace(old, new, 1)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script[1], other)]
        changed.append((page.replace(script[1], other).replace(*digests), 900))
    seen = visits(changed, FILL, [asked] * len(changed))
    for found in seen.result:
        with pytest.raises(AssertionError):
            for one, shown in zip(asked, found, strict=True):
                agree(solution, one, shown)


@pytest.mark.parametrize(("old", "new"), [
    ('"op": "max"', '"op": "min"'), ('"rule": "first"', '"rule": "last"'), ("[[[0, 1], [2, 3]]", "[[[0, 1], [1, 3]]"),
    ('value="13"', 'value="12"'), ('"source": [[4,', '"source": [[5,'), ('"upstream": [[', '"upstream": [[1'),
    ('data-name="upstream" aria-label="upstream"><caption><math alttext="', r"\g<0>x"),
])  # fmt: skip
def test_the_numbers_of_a_finished_page_are_read_back(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solution = solved(CARDS[0])
    page = str(render(solution, "html"))
    assert trial(page) == solution.sheet.trial
    assert old in page
    made = html._pages().get_template("page.html")

    class Altered:
        def render(self, content: dict[str, Any]) -> str:
            return str(made.render(content)).replace(old, new.replace(r"\g<0>", old), 1)

    monkeypatch.setattr(html, "_pages", lambda: type("Pages", (), {"get_template": lambda *_: Altered()})())
    with pytest.raises(VerificationError, match="page's own numbers"):
        render(solution, "html")
