"""What a format reads, and the last guard: the displayed formulas of a finished file are those that were checked."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Protocol

from derive.errors import Problem, VerificationError
from derive.sections import headings, lines_of
from derive.sheet import Math, Sheet

if TYPE_CHECKING:
    from derive.card import Card
    from derive.module import Module
    from derive.verify.report import Report

_IN_MARKDOWN = re.compile(r"^\$\$[ \t]*\r?\n(.*?)\n\$\$[ \t]*\r?$", re.M | re.S)
_IN_HTML = re.compile(r'<div class="formula[^>]*>\s*<math alttext="([^"]*)" display="block">')
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
    if text.startswith(("<!DOCTYPE html>", '<div class="derive-sheet">')):
        return [normal(unescape(f)) for f in _IN_HTML.findall(text)]
    return [normal(f) for f in _IN_MARKDOWN.findall(_solution(text))]


def guard(text: str, sheet: Sheet, detail: str = "full") -> None:
    """Raise :class:`VerificationError` unless ``text`` displays the sheet's formulas and no others."""
    checked = [(b.name, normal(b.latex)) for b in sheet.blocks(detail) if isinstance(b, Math)]
    found = displayed(text)
    problems = [
        Problem(f"{name}: the finished file shows `{shown}` where `{latex}` was checked")
        for (name, latex), shown in zip(checked, found, strict=False)
        if shown != latex
    ]
    if len(found) != len(checked):
        problems.append(Problem(f"the finished file displays {len(found)} formulas, and {len(checked)} were checked"))
    if problems:
        raise VerificationError(*problems)


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
