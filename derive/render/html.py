"""The sheet as one page that needs nothing else: formulas in MathML, figures in SVG, no request."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from derive.errors import Problem, VerificationError
from derive.lines import narrowed
from derive.render import hypertext
from derive.render.dialect import question
from derive.render.guard import guard, normal, refuse_failures, trial
from derive.render.hypertext import mathml, narrow
from derive.render.pictures import plain, svg
from derive.sheet import Block, Bullets, Figure, Heading, Listing, Math, Prose, Table, Trial, sections
from derive.verify.pictures import tried
from derive.verify.report import Check, Report, Verdict
from derive.words import environment, templates, told, wording

if TYPE_CHECKING:
    from jinja2 import Environment

    from derive.render.guard import Solved

_WEAKER = (Verdict.PROVED, Verdict.TESTED, Verdict.NOT_READ, Verdict.REFUTED)  # one formula may be checked twice
_ALIGN = {"l": "left", "c": "center", "r": "right"}


def render(solution: Solved, detail: str = "standard") -> str:
    """A whole HTML page; the same solution gives the same text.

    Raises :class:`CardError` where a formula of the question cannot be shown, and :class:`VerificationError` where
    the finished page says something else than what was checked.
    """
    text = str(_pages().get_template("page.html").render(_content(solution, detail))).strip() + "\n"
    guard(text, solution.sheet, detail)
    if solution.sheet.trial:
        _guard_trial(text, solution)
    return text


def _guard_trial(text: str, solution: Solved) -> None:
    """Raise :class:`VerificationError` unless the windows and numbers in the finished page are the evaluator's."""
    found = trial(text)
    check = None if found is None else tried(solution.sheet, found, solution.module)
    if check is None or check.verdict is Verdict.REFUTED:
        raise VerificationError(Problem(f"the page's own numbers: {check.counterexample if check else 'they differ'}"))


def fragment(solution: Solved, detail: str = "standard") -> str:
    """The sheet in a page that is not ours: without the question, the trial and our font; its style reaches no further.

    Raises as :func:`render`, and :class:`VerificationError` where an equation failed.
    """
    refuse_failures(solution.report)
    content = _content(solution, detail)
    content["style"] = Markup(str(content["style"]).replace(":root {", "& {"))
    text = str(_pages().get_template("notebook.html").render(content)).strip() + "\n"
    guard(text, solution.sheet, detail)
    return text


@cache
def _pages() -> Environment:
    made = environment("pages", autoescape=True)
    made.filters |= {"inline": hypertext.inline, "math": lambda latex: Markup(mathml(latex))}
    return made


def _content(solution: Solved, detail: str) -> dict[str, Any]:
    card, sheet, language = solution.card, solution.sheet, solution.sheet.language
    writer = _Blocks(solution)
    answer, details, closing = sheet.parts(detail)
    script = _file("page.js") + (_file("windows.js") if sheet.trial else "")
    return {
        "language": language, "say": wording(language, "page"), "title": sheet.title, "name": plain(sheet.title),
        "course": str((card.front_matter.get("course") if card else None) or ""),
        "id": card.id if card else solution.module.key,
        "points": card.points if card else None,
        "question": question(card, hypertext.blocks),
        "answer": writer.all(answer),
        "steps": writer.steps([*details, *closing]),
        "trial": sheet.trial, "numbers": _numbers(sheet.trial) if sheet.trial else "",
        "counts": _counts(solution.report),
        "font": font(), "style": Markup(_file("page.css") + _file("figure.css")), "script": Markup(script),
        "digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _counts(report: Report) -> list[tuple[str, int]]:
    """How many equations ended with each verdict, the most frequent first."""
    found = [(str(verdict), len(report.equations(verdict))) for verdict in Verdict]
    return sorted(((v, n) for v, n in found if n), key=lambda item: -item[1])


@cache
def _file(name: str) -> str:
    return (templates() / "pages" / name).read_text("utf-8")


@cache
def font() -> str:
    """The font of the formulas, in base 64."""
    return base64.b64encode((templates() / "pages" / "font" / "stix-two-math.woff2").read_bytes()).decode()


def _numbers(trial: Trial) -> Markup:
    """What the page's script reads; ``<`` cannot end the element."""
    facts = {"op": trial.op, "rule": trial.tie_rule, "windows": trial.windows, "source": trial.source,
             "upstream": trial.upstream}
    return Markup(json.dumps(facts).replace("<", "\\u003c"))


class _Blocks:
    """Blocks for the template: what each holds, and the verdict of each equation."""

    def __init__(self, solution: Solved) -> None:
        report, self.language = solution.report, solution.sheet.language
        weakest_last = sorted((c for c in report.checks if c.latex), key=lambda c: _WEAKER.index(c.verdict))
        self.checks: dict[str, Check] = {normal(c.latex): c for c in weakest_last}
        self.figures = 0

    def steps(self, blocks: list[Block]) -> list[dict[str, Any]]:
        """The blocks by headings of the second level: the steps to open."""
        return [{"heading": h.text if h else "", "blocks": list(map(self.one, own))} for h, own in sections(blocks)]

    def all(self, blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
        return list(map(self.one, blocks))

    def one(self, block: Block) -> dict[str, Any]:
        match block:
            case Math():
                check = None if block.definition else self.checks.get(normal(block.latex))
                slim = narrowed(block.latex)
                return {"kind": "formula", "math": Markup(mathml(block.latex, True)),
                        "narrow": Markup(narrow(slim) if slim != block.latex else ""), "definition": block.definition,
                        "verdict": str(check.verdict) if check else "",
                        "evidence": told(self.language, check.evidence) if check else ""}
            case Heading():
                return {"kind": "heading", "text": block.text}
            case Bullets():
                return {"kind": "bullets", "entries": block.items}
            case Prose():
                return {"kind": "prose", "text": hypertext.blocks(block.text.strip())}
            case Figure():
                self.figures += 1
                drawn = svg(block.scene, standalone=False, identity=f"figure{self.figures}")
                return {"kind": "figure", "picture": Markup(drawn), "caption": block.caption,
                        "description": plain(block.scene.description)}
            case Listing():
                return {"kind": "listing", "text": hypertext.listing(block.code)}
            case Table():
                return {"kind": "table", "header": block.header, "rows": block.rows,
                        "align": [_ALIGN[letter] for letter in block.align]}
