"""What became of the cards of a run: a table at its end, and a report as JSON, Markdown, HTML or JUnit's XML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from derive.bank import Job
from derive.commands.running import printable
from derive.errors import CardError, DeriveError, LimitError, OpenError, OutputError, UnsupportedError, did_you_mean
from derive.records import dataclass

SOLVED, OPEN, REFUSED, OUTSIDE, FAILED = "solved", "open", "refused", "out of scope", "failed"
STATES = (SOLVED, OPEN, REFUSED, OUTSIDE, FAILED)
FORMATS = (".json", ".md", ".html", ".xml")
_HINTS = {
    OPEN: "`derive read CARD` lists what is understood; what is open may be written in the front matter",
    OUTSIDE: "`-v` lists them",
}


@dataclass(frozen=True)
class Outcome:
    """What became of a card: its state, what is said of it, the files that were written, and the equations."""

    file: str
    id: str
    state: str
    said: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    proved: int = 0
    tested: int = 0
    seconds: float = 0.0


def state(error: DeriveError) -> str:
    """Which of the states an error is."""
    kinds = ((LimitError, FAILED), (OutputError, FAILED), (OpenError, OPEN), (CardError, REFUSED),
             (UnsupportedError, OUTSIDE))
    return next((found for kind, found in kinds if isinstance(error, kind)), FAILED)


class Ledger:
    """What became of the cards of a run: each is told at once, and all of them at its end."""

    def __init__(self, verbose: bool = False, debug: bool = False) -> None:
        self.verbose, self.debug = verbose, debug
        self.outcomes: list[Outcome] = []
        self.codes: list[int] = []

    def solved(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        for line in outcome.said:
            click.echo(line)

    def failed(self, error: DeriveError, file: str, id: str, job: Job | None = None) -> None:
        """An error ends as its lines on stderr and an exit code; in a folder, what is out of scope is counted alone."""
        if self.debug:
            raise error
        error = error.located(file or None)
        outcome = Outcome(file, id, state(error), tuple(str(error).split("\n")))
        self.outcomes.append(outcome)
        among = job is not None and job.inside and outcome.state == OUTSIDE
        if not among or self.verbose:
            click.echo(printable(str(error)), err=True)
        if not (among and job is not None and job.card.front_matter.get("type", "derivation") != "derivation"):
            self.codes.append(error.exit_code)


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """A line for each state that occurs, with how many cards are in it, and where the details are."""
    counts = Counter(outcome.state for outcome in outcomes)
    width = len(str(max(counts.values(), default=0)))
    return [f"{name:12}  {counts[name]:{width}}" + (f"  {_HINTS[name]}" if name in _HINTS else "")
            for name in STATES if counts[name]]


def form_of(file: Path) -> str:
    """The format that a report's name says; raises :class:`CardError` for another."""
    if file.suffix.lower() not in FORMATS:
        raise CardError(f"a report is {', '.join(f'`{form}`' for form in FORMATS)}, not `{file.suffix}`; "
                        f"{did_you_mean(file.suffix.lower(), FORMATS, 0.6, 'there are')}")
    return file.suffix.lower()


def written(outcomes: Sequence[Outcome], form: str) -> str:
    """The report in a format."""
    if form == ".json":
        counts = Counter(outcome.state for outcome in outcomes)
        return json.dumps({"counts": {name: counts[name] for name in STATES},
                           "cards": [asdict(outcome) for outcome in outcomes]}, ensure_ascii=False, indent=1) + "\n"
    if form == ".xml":
        return _junit(outcomes)
    text = _markdown(outcomes)
    if form == ".md":
        return text
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>derive: report</title>\n<style>'
            "body { font-family: sans-serif; margin: 2em } td, th { text-align: left; padding: 0 1em .2em 0; "
            f"vertical-align: top }}</style></head>\n<body>\n{body}</body></html>\n")


def _markdown(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(outcome.state for outcome in outcomes)
    rows = [f"| {name} | {counts[name]} |" for name in STATES]
    cards = [f"| {_cell(o.file)} | {o.state} | {_cell('; '.join(o.said))} |" for o in outcomes]
    return "\n".join(["# Report", "", "| state | cards |", "|:--|--:|", *rows, "", "| card | state | |",
                      "|:--|:--|:--|", *cards, ""])  # fmt: skip


def _cell(text: str) -> str:
    """A text in a cell of a table, where nothing of it is Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|$~&" else c for c in " ".join(text.split()))


def _junit(outcomes: Sequence[Outcome]) -> str:
    from xml.etree import ElementTree as tree

    counts = Counter(outcome.state for outcome in outcomes)
    wrong = counts[OPEN] + counts[REFUSED]
    suite = tree.Element("testsuite", name="derive", tests=str(len(outcomes)), failures=str(wrong),
                         errors=str(counts[FAILED]), skipped=str(counts[OUTSIDE]))  # fmt: skip
    kinds = {OPEN: "failure", REFUSED: "failure", OUTSIDE: "skipped", FAILED: "error"}
    for o in outcomes:
        case = tree.SubElement(suite, "testcase", classname=_xml(o.file), name=_xml(o.id), time=f"{o.seconds:.2f}")
        if o.state in kinds:
            found = tree.SubElement(case, kinds[o.state], message=_xml(o.said[0] if o.said else o.state), type=o.state)
            found.text = _xml("\n".join(o.said))
    tree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tree.tostring(suite, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return "".join(c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff" else "\ufffd"
                   for c in text)
