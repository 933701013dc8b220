"""HTML for Anki and Moodle: text that stays text there, formulas in MathJax's delimiters."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from derive.decks.html import Writer, blocks, displayed, inline
from tests.render.example import SHEET
from tests.render.test_notes import HOSTILE

TAGS = {"p", "div", "h3", "h4", "ul", "ol", "li", "em", "strong", "s", "code", "pre", "table", "thead", "tbody", "tr", "td", "th", "blockquote",
        "br", "hr", "img", "small", "details", "summary"}  # fmt: skip
MORE = r"""
[sound:a.mp3] [latex]\input{/etc/passwd}[/latex] {1:SHORTANSWER:=x} {{c1::y}} [[page]] \\( x \\) and \(a\) $$
[$]x[/$]

`[sound:b.mp3] {2:NUMERICAL:=1}` $x_{[sound:c.mp3]}$ <img src=x onerror=alert(1)> "quoted" \begin{x}
"""


class Seen(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def test_what_a_question_writes_stays_text() -> None:
    made = Writer().document(HOSTILE + MORE)
    assert {tag for tag, _ in Seen(made).found} <= TAGS
    assert {name for _, names in Seen(made).found for name in names} <= {"class", "start"}
    for active in ("[sound", "[latex", "[[", "{1:", "{2:", "{{", "$$", "[$]"):
        assert active not in made, active
    text = unescape(re.sub(r"<[^>]*>", "", made))
    assert "<script>alert(1)</script>" in text and "[sound:a.mp3]" in text and "{1:SHORTANSWER:=x}" in text
    assert re.findall(r"\\\((.*?)\\\)", text)[-1] == "x_{[sound:c.mp3]}"


@pytest.mark.parametrize(("markdown", "html"), [
    ("$a < b$", r"\(a &lt; b\)"),
    ("a \\\\( b", "a \\\u2060( b"),
    ("$$x_{i}$$", r"<span>\[x_&#123;i&#125;\]</span>"),
    ("`a[0]`", "<code>a&#91;0&#93;</code>"),
    ("![[pool.png]] [[a|b]]", "<em>pool.png</em> b"),
    (r"\(\text{a $x$ b}\)", r"\(\text&#123;a &#125;&#123;x&#125;\text&#123; b&#125;\)"),
])
def test_inline(markdown: str, html: str) -> None:
    assert inline(markdown) == html


def test_a_sheet_displays_its_formulas() -> None:
    made = blocks(SHEET.blocks(), lambda scene: f"{scene.name}.svg")
    assert displayed(made) == [" ".join(m.latex.split()) for m in SHEET.formulas()]
    assert '<img src="window.svg" alt="A window of two cells, x00 and −1.">' in made
    assert {tag for tag, _ in Seen(made).found} <= TAGS
