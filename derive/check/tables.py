"""Reports as lines, JSON, a table of a class, and SARIF for editors and CI."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from derive.check.report import Report
from derive.verify.report import Verdict

_LEVELS: dict[str, str] = {Verdict.REFUTED: "error", Verdict.NOT_READ: "note"}
_RULES = {"refuted": "An equation fails at the input that is shown.", "not-read": "An equation was not judged.",
          "missing": "What the question asks for is not there."}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def lines(report: Report) -> Iterator[str]:
    """A line for each equation, for what is missing, and for the mark."""
    for judged in report.checks:
        yield f"{report.path}:{judged}"
    if not report.checks:
        yield f"{report.path}: no equation to check in the Solution"
    for latex in report.missing:
        yield f"{report.path}: missing: {latex}"
    if report.points is not None:
        yield f"{report.path}: {report.points} points"


def table(reports: Sequence[Report], written: str) -> str:
    """All reports in one of the formats for programs."""
    if written == "json":
        return json.dumps([r.data() for r in reports], ensure_ascii=False, indent=2) + "\n"
    if written == "sarif":
        return json.dumps(_sarif(reports), ensure_ascii=False, indent=2) + "\n"
    return _csv(reports)


def _csv(reports: Sequence[Report]) -> str:
    """A row a file: points, counts, what is asked, and the first mistake."""
    asked = list(dict.fromkeys(a.latex for r in reports for a in r.asked))
    verdicts = ("proved", "tested", "off ties", "refuted", "not read")
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["file", "low", "high", "total", *verdicts, *asked, "first mistake"])
    for r in reports:
        counts = [sum(c.verdict == v for c in r.checks) for v in verdicts]
        status = {a.latex: str(a.status) for a in r.asked}
        marks = ["", "", ""] if r.points is None else [float(r.points.low), float(r.points.high), r.points.total]
        first = next((c for c in r.checks if c.verdict == Verdict.REFUTED), None)
        rows.writerow([r.path, *marks, *counts, *(status.get(a, "") for a in asked), str(first) if first else ""])
    return out.getvalue()


def _sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """What is refuted as errors, what is not read as notes, what is missing as warnings."""
    results = [_result(r, _LEVELS[c.verdict], str(c.verdict), str(c).partition(": ")[2], c.line) for r in reports
               for c in r.checks if c.verdict in _LEVELS]
    results += [_result(r, "warning", "missing", f"missing: {latex}", 1) for r in reports for latex in r.missing]
    rules = [{"id": rule, "shortDescription": {"text": words}} for rule, words in _RULES.items()]
    return {"$schema": _SCHEMA, "version": "2.1.0",
            "runs": [{"tool": {"driver": {"name": "derive check", "rules": rules}}, "results": results}]}


def _result(report: Report, level: str, rule: str, words: str, line: int) -> dict[str, Any]:
    path = Path(report.path or "")
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
    return {"ruleId": rule.replace(" ", "-"), "level": level, "message": {"text": words},
            "locations": [{"physicalLocation": place}]}
