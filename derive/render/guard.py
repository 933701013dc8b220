"""What a format reads, and the last guard: the displayed formulas of a finished file are those that were checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from html import unescape
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from derive.errors import Problem, VerificationError
from derive.render.read_back import HTML, guard_tables, guard_words, sentences
from derive.sections import headings, lines_of
from derive.sheet import Block, Math, Sheet, Table, Trial

if TYPE_CHECKING:
    from derive.card import Card
    from derive.module import Module
    from derive.verify.report import Report

_IN_MARKDOWN = re.compile(r"^\$\$[ \t]*\r?\n(.*?)\n\$\$[ \t]*\r?$", re.M | re.S)
_IN_HTML = re.compile(r'<div class="formula[^>]*>\s*<math alttext="([^"]*)" display="block">')
_IN_DOLLARS = re.compile(r"(?<![\\$])\$(?!\$)([^$\n]+)\$(?!\$)")
_DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.S)
_GRID = re.compile(r'<table class="grid" data-name="(\w+)"[^>]*><caption>.*?<math alttext="([^"]*)".*?</table>', re.S)
_FIELD = re.compile(r'value="([^"]*)"')
_CAPTIONED = ("input", "output", "upstream", "gradient")
_IN_TEX = re.compile(r"\\begin\{formula\}(?:\[lines\])?(.*?)\\end\{formula\}", re.S)


class Solved(Protocol):
    """What a format reads: a solution with its card (or none), sheet and report."""

    @property
    def card(self) -> Card | None: ...
    @property
    def module(self) -> Module: ...
    @property
    def sheet(self) -> Sheet: ...
    @property
    def report(self) -> Report: ...


def refuse_failures(report: Report) -> None:
    """Raise :class:`VerificationError` if an equation of a sheet was refuted or not read."""
    if not report.ok:
        raise VerificationError(
            *(Problem(_failure(c.name, c.latex, c.verdict, c.counterexample or c.evidence)) for c in report.failures)
        )


def _failure(name: str, latex: str, verdict: str, why: str) -> str:
    formula = f" `{' '.join(latex.split())}`" if latex else ""
    return f"{name}: {verdict}:{formula} {' '.join(why.split())}".rstrip()


def displayed(text: str) -> list[str]:
    """The displayed formulas of the solution in a finished Markdown, LaTeX or HTML file, in order."""
    if "\\documentclass" in text:
        body = text.partition("\\begin{document}")[2]
        return [normal(f) for f in _IN_TEX.findall(body)]
    if text.startswith(HTML):
        return [normal(unescape(f)) for f in _IN_HTML.findall(text)]
    return [normal(f) for f in _IN_MARKDOWN.findall(_solution(text))]


def in_callout(text: str) -> list[str]:
    """The same of a note: those of the callout that is the solution."""
    lines = text[max(0, text.rfind("\n> [!success]")):].lstrip("\n").split("\n")
    quoted = takewhile(lambda line: line.startswith(">"), lines)
    return [normal(f) for f in _IN_MARKDOWN.findall("\n".join(line[2:] for line in quoted))]


def in_divisions(text: str) -> list[str]:
    """The same of a Quarto document: those of the divisions from the answer's on."""
    return [normal(f) for f in _IN_MARKDOWN.findall(text[text.find("\n::: {.callout-tip"):])]


def in_cells(text: str) -> list[str]:
    """The same of a notebook: those of its cells of text, without the first, which is the question."""
    _, *cells = ("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown")
    return [normal(f) for cell in cells for f in _IN_MARKDOWN.findall(cell)]


def guard(text: str, sheet: Sheet, detail: str = "full", shown: Callable[[str], list[str]] = displayed) -> None:
    """Raise :class:`VerificationError` unless ``text`` displays the sheet's formulas and no others.

    ``shown`` finds them in the finished file.
    """
    checked = [(b.name, normal(b.latex)) for b in sheet.blocks(detail) if isinstance(b, Math)]
    found = shown(text)
    problems = [
        Problem(f"{name}: the finished file shows `{other}` where `{latex}` was checked")
        for (name, latex), other in zip(checked, found, strict=False)
        if other != latex
    ]
    if len(found) != len(checked):
        problems.append(Problem(f"the finished file displays {len(found)} formulas, and {len(checked)} were checked"))
    if problems:
        raise VerificationError(*problems)
    if shown is displayed:
        plain = "\\documentclass" not in text and not text.startswith(HTML)
        whole = _solution(text) if plain else text
        guard_tables(whole, sheet.blocks(detail))
        guard_words(whole, sheet.blocks(detail))


def guard_sentences(found: Iterable[str], sheet: Sheet, detail: str = "full") -> None:
    """Raise :class:`VerificationError` unless the checked formulas inside the sheet's sentences are all ``found``."""
    there = {_unbarred(f) for f in found}
    texts = "\n".join(text for block in sheet.blocks(detail) for text in _sentences(block))
    problems = [Problem(f"{m.name}: the finished file's sentences have no `{m.latex}`, which was checked")
                for m in sheet.inline if f"${m.latex}$" in texts and _unbarred(m.latex) not in there]
    if problems:
        raise VerificationError(*problems)


def in_dollars(markdown: str) -> list[str]:
    """The formulas inside the sentences of a text in Markdown."""
    return _IN_DOLLARS.findall(markdown)


def _sentences(block: Block) -> tuple[str, ...]:
    if isinstance(block, Table):
        return tuple(cell for row in (block.header, *block.rows) for cell in row)
    return sentences(block)


def _unbarred(latex: str) -> str:
    """A formula whose bars a table may have by their names."""
    return normal(latex.replace(r"\vert ", "|").replace(r"\Vert ", r"\|"))


def trial(page: str) -> Trial | None:
    """What the reader of a finished page may change, as its script, its fields and its captions have it.

    None where there is nothing, or these do not agree.
    """
    data, grids = _DATA.search(page), {m[1]: m for m in _GRID.finditer(page)}
    if data is None or not {*_CAPTIONED} <= {*grids}:
        return None
    try:
        facts = json.loads(data[1])
        fields = [[[int(n.replace("−", "-")) for n in _FIELD.findall(row)] for row in grids[name][0].split("<tr>")[2:]]
                  for name in ("input", "upstream")]
    except ValueError:
        return None
    if fields != [facts["source"], facts["upstream"]] or f"<option selected>{facts['rule']}<" not in page:
        return None
    x, f, delta, message = (unescape(grids[name][2]) for name in _CAPTIONED)
    source, upstream = (tuple(map(tuple, facts[name])) for name in ("source", "upstream"))
    windows = tuple(tuple(map(tuple, axis)) for axis in facts["windows"])
    return Trial(facts["op"], facts["rule"], windows, source, upstream, (x, f, delta, message))


def _solution(markdown: str) -> str:
    """The text below the last solution heading, without the related concepts; all of it if there is none."""
    lines = lines_of(markdown)
    found = list(headings(lines))
    start = max((h.stop for h in found if h.kind == "solution"), default=0)
    stop = min((h.start for h in found if h.kind == "related" and h.start >= start), default=len(lines))
    return "".join(lines[start:stop])


def normal(latex: str) -> str:
    """A formula by which it is compared: its white space does not count."""
    return " ".join(latex.split())
