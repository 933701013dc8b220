"""Markdown as LaTeX."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import pytest

from derive.errors import CardError, RenderError
from derive.render import dialect, prose

INLINE = [
    ("a *b* **c** ~~d~~", r"a \emph{b} \textbf{c} \struck{d}"),
    ("50 % & x_y #1 {z} ~ ^ \\\\", r"50 \% \& x\_y \#1 \{z\} \textasciitilde{} \^{} \textbackslash{}"),
    ("`a_b`", r"\texttt{a\_b}"),
    ("$x_1$ and $ y $", "$x_1$ and $y$"),
    (r"\(x_1\) and $\text{a}$", r"$x_1$ and $\text{a}$"),
    (r"a \[b\] c", "a \n\\[\n  \\fit{b}\n\\]\n c"),
    (r"\begin{equation}\label{e} a \end{equation}", "\n\\[\n  \\fit{a}\n\\]\n"),
    (r"\begin{align*} a &= b \end{align*}", "\n\\[\n  \\fit{\\begin{aligned} a &= b \\end{aligned}}\n\\]\n"),
    ("$$ a, $$ $$ b $$", "\n\\[\n  \\fit{a,}\n\\]\n\\[\n  \\fit{b}\n\\]\n"),
    ("it costs $5 and $10", r"it costs \$5 and \$10"),
    ("Příliš “žluťoučký” — 2×2 → 1", r"Příliš “žluťoučký” — 2$\times$2 $\rightarrow$ 1"),
    ("<b>x</b> <script>", r"\textless{}b\textgreater{}x\textless{}/b\textgreater{} \textless{}script\textgreater{}"),
    ("a <!--SR:!2024-01-01,3,250-->", "a "),
    ("[the docs](https://a.org/b_c)", r"the docs (\texttt{https://a.org/b\_c})"),
    ("<https://a.org>", r"\texttt{https://a.org}"),
    ("![[img_1.png]]", r"\figurenote{img\_1.png}"),
    ("![a plot](/etc/passwd)", r"\figurenote{a plot}"),
    ("[[max-pooling]] and [[cnn|networks]]", "max-pooling and networks"),
    ("see [cite: 86].", "see [cite: 86]."),
    (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
    ("a ✅ ﬁt", r"a \texttt{[U+2705]} fit"),
]
BLOCKS = [
    ("a\n\nb", "a\n\nb"),
    ("- a\n- b", "\\begin{itemize}\n  \\item a\n  \\item b\n\\end{itemize}"),
    ("- [x] a", "\\begin{itemize}\n  \\item {}[x] a\n\\end{itemize}"),
    ("3) a", "\\begin{enumerate}[start=3, label=\\arabic*)]\n  \\item a\n\\end{enumerate}"),
    ("> a", "\\begin{quote}\na\n\\end{quote}"),
    ("## Options\nA) x\nB) y", "\\subsubsection*{Options}\n\nA) x\\newline\nB) y"),
    ("**a)** x\n**b)** y\nz", "\\textbf{a)} x\\newline\n\\textbf{b)} y\nz"),
    ("so\n$$ a $$\nwhere", "so\n\\[\n  \\fit{a}\n\\]\nwhere"),
    ("so\n$$\na\n= b\n$$\n\nNext", "so\n\\[\n  \\fit{a\n= b}\n\\]\n\nNext"),
    ("so $$ a $$ where", "so \n\\[\n  \\fit{a}\n\\]\n where"),
    ("```\na_b  c\n```", "\\begin{listing}\n\\codeline{a\\_b~~c}\n\\end{listing}"),
    ("$$ a $$ $$ b $$", "\\[\n  \\fit{a}\n\\]\n\\[\n  \\fit{b}\n\\]"),
    ("text ^block-id", "text"),
    ("\\begin{listing} \\end{document}", r"\textbackslash{}begin\{listing\} \textbackslash{}end\{document\}"),
]


@pytest.mark.parametrize(("markdown", "latex"), INLINE)
def test_inline(markdown: str, latex: str) -> None:
    assert prose.inline(markdown) == latex


@pytest.mark.parametrize(("markdown", "latex"), BLOCKS)
def test_blocks(markdown: str, latex: str) -> None:
    assert prose.blocks(markdown) == latex


def test_a_code_block_cannot_be_left() -> None:
    assert r"\end{listing}\input" not in prose.blocks("```\n\\end{listing}\\input{a}\n```")


def test_tables_have_rules_and_alignment() -> None:
    latex = prose.blocks("| a | b |\n|---|--:|\n| [x] | $1$ |")
    assert r"\begin{tabular}{lr}" in latex
    assert r"{}[x] & $1$ \\" in latex


def test_lists_deeper_than_latex_nests_become_paragraphs() -> None:
    markdown = "\n".join("  " * n + f"- level {n}" for n in range(8))
    assert prose.blocks(markdown).count(r"\begin{itemize}") == 4


@pytest.mark.parametrize(
    ("markdown", "line"),
    [("a\n\nb $\\foo$", 12), ("a\nb\n$\\foo$", 12), ("a\n\n$$\nx\n\\foo\n$$", 14), ("- a\n- b\n  $\\foo$", 12)],
)
def test_a_refused_macro_names_its_line(markdown: str, line: int) -> None:
    with pytest.raises(CardError) as caught:
        prose.blocks(markdown, 10)
    assert caught.value.problems[0].line == line


def test_a_letter_that_the_fonts_lack_is_named() -> None:
    with pytest.raises(RenderError, match="`Ж` .*CYRILLIC CAPITAL LETTER ZHE"):
        prose.inline("Ж")


@dataclass
class Counting:
    """A pattern that counts the characters it may look at."""

    pattern: re.Pattern[str]
    seen: int = 0

    def match(self, text: str, at: int) -> re.Match[str] | None:
        found = self.pattern.match(text, at)
        self.seen += (found.end() if found else len(text)) - at
        return found


def work(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The calls made to typeset a text, and the characters in which comments are looked for."""
    hidden, calls = Counting(re.compile(r"<!--.*?-->", re.S)), 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    with monkeypatch.context() as patch:
        patch.setattr(dialect, "_HIDDEN", hidden)
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            prose.blocks(text)
        finally:
            sys.setprofile(before)
    return calls, hidden.seen


@pytest.mark.parametrize("text", ["a <!-- x\n", "a\n", "<!-- a --> b\n", "<!--"])
def test_long_texts_take_work_in_proportion(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longer text is tenfold the shorter; square growth would be a hundredfold."""
    prose.blocks(text)
    calls, seen = work(text * 200, monkeypatch)
    more_calls, more_seen = work(text * 2_000, monkeypatch)
    assert more_calls < 15 * calls
    assert more_seen <= 15 * seen
    assert more_seen <= 2_000 * len(text)


def test_a_long_table_of_numbers_stands_in_two_halves_where_a_line_holds_both() -> None:
    rows = [["quantity", "value"], *([f"$x_{n}$", f"(0.{n}, 1.{n})"] for n in range(11))]
    folded, align = prose.abreast(rows, "ll")
    assert (folded[0], align) == (["quantity", "value", "", "quantity", "value"], "lllll")
    assert [row for half in (0, 3) for row in [r[half:half + 2] for r in folded[1:]]][:11] == rows[1:]
    wide = [["quantity", "value"], *([f"$x_{n}$", "0.25, " * 9] for n in range(11))]
    for whole in (rows[:5], wide):
        assert prose.abreast(whole, "ll") == (whole, "ll")


@pytest.mark.parametrize("text", [r"$\ell$: 0.0550", "$p$ = 1", "$a$ or $b$ or 2"])
def test_a_formula_at_the_beginning_is_one_though_the_text_ends_with_a_digit(text: str) -> None:
    assert prose.blocks(text) == text and prose.inline(text) == text


def test_a_price_is_no_formula() -> None:
    assert prose.blocks("costs 5$ or 6$ each") == r"costs 5\$ or 6\$ each"
