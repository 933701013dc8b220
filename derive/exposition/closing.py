"""What closes a sheet: what was proved and what was tested."""

from __future__ import annotations

from dataclasses import replace

from derive.exposition.builder import Builder
from derive.notation.symbols import SymbolTable
from derive.sheet import Block
from derive.verify.report import Report, Verdict


def closing(report: Report, tables: dict[str, SymbolTable]) -> tuple[Block, ...]:
    """Verdicts with their evidence, the agreement of the routes, and how many definitions claim nothing."""
    b = Builder(tables)
    b.heading("heading_checked")
    proved = [c for c in report.checks if c.verdict is Verdict.PROVED and c.latex]
    tested = [c for c in report.checks if c.verdict is Verdict.TESTED and c.latex]
    routes = [replace(c, evidence=b.lettered(c.evidence)) for c in report.checks if not c.latex]
    b.bullets("checked", proved=proved, tested=tested, routes=routes, definitions=report.definitions)
    return tuple(b.blocks)
