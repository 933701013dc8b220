"""The handout as a LaTeX document: which cards it takes, in which order, and how their questions are set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from pylatex import Document, Package
from pylatex.utils import NoEscape

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, VerificationError
from derive.handout.marking import marking, unfair
from derive.records import dataclass
from derive.render import latex, prose
from derive.render.dialect import question
from derive.render.guard import guard, refuse_failures
from derive.sheet import Block, Heading, Sheet, rank, sections
from derive.solve import Solution
from derive.verify.report import Report
from derive.words import told, wording

_KEYS: dict[str, Callable[[Card], Any]] = {
    "course": lambda card: card.course.casefold(),
    "difficulty": lambda card: (difficulty(card) is None, difficulty(card)),
    "points": lambda card: (card.points is None, card.points),
    "id": lambda card: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", card.id.casefold())],
    "given": lambda card: 0,
}
ORDERS = tuple(_KEYS)


@dataclass(frozen=True)
class Selection:
    """``tags`` must all be there, ``difficulty`` lies between two bounds, ``courses`` is any of some."""

    courses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    difficulty: tuple[int, int] | None = None
    order: str = "course"

    def of(self, cards: Iterable[Card]) -> list[Card]:
        """The cards that match, in order; those that are alike keep theirs."""
        return sorted(filter(self._matches, cards), key=_KEYS[self.order])

    def _matches(self, card: Card) -> bool:
        own = {tag.casefold() for tag in card.tags}
        level = difficulty(card)
        return (
            all(tag.casefold().lstrip("#") in own for tag in self.tags)
            and (not self.courses or card.course.casefold() in {c.casefold() for c in self.courses})
            and (self.difficulty is None or (level is not None and self.difficulty[0] <= level <= self.difficulty[1]))
        )


def difficulty(card: Card) -> int | None:
    given = card.front_matter.get("difficulty")
    return int(given) if isinstance(given, int | str) and re.fullmatch(r"\d{1,3}", str(given)) else None


def bounds(written: str) -> tuple[int, int]:
    """``2-3`` ↦ (2, 3), ``2`` ↦ (2, 2); raises :class:`CardError` for anything else."""
    found = re.fullmatch(r"\s*(\d{1,3})\s*(?:[-–]\s*(\d{1,3})\s*)?", written)
    if found is None or int(found[1]) > int(found[2] or found[1]):
        raise CardError(f"`{written}` is no range of difficulty; write `2` or `2-3`")
    return int(found[1]), int(found[2] or found[1])


MODES = ("space", "solutions", "key", "marking")
PACKAGES = tuple(name for name in latex.PACKAGES if name != "fancyhdr")  # the class sets heads and feet itself
_ROW = 9  # questions in a row of the table of points
_SHORT = 2000  # signs of a question that a page holds without a large blank before it
_QUESTION = re.compile(r"^\\question(?:\[(\d+)\])? ", re.M)
_STEP = re.compile(r"\\step\{(\d*)(\\half\{\})?\}")
_DEFAULT = 5  # points for which a card that states none leaves space


@dataclass(frozen=True)
class Head:
    """What stands above the questions; without a title, what the document is."""

    title: str = ""
    course: str = ""
    date: str = ""


@dataclass(frozen=True)
class Item:
    """A card, its solution where it could be solved, and the points that count."""

    card: Card
    solution: Solution | None = None
    language: str = "en"  # of the words around the question

    @property
    def points(self) -> int | None:
        return self.card.points


@dataclass(frozen=True)
class Paper:
    """The questions of one person, as :func:`asked` gives them; of several papers each has a number."""

    questions: tuple[Mapping[str, Any], ...]
    number: int | None = None
    name: str = ""
    id: str = ""


def document(items: Sequence[Item], head: Head, mode: str = "space", by_course: bool = True,
             detail: str = "standard") -> str:  # fmt: skip
    """One document for all items; ``mode`` says what follows a question (see :data:`MODES`).

    "space" leaves room to write, "solutions" gives the solution in that ``detail``, "key" the answer alone and no
    question, "marking" points for each step.  Raises :class:`DeriveError`, with the file and line,
    where a question cannot be typeset, and :class:`VerificationError` for a refuted sheet.
    """
    return papers([Paper(tuple(asked(item, mode, detail) for item in items))], head, mode, by_course)


def papers(each: Sequence[Paper], head: Head, mode: str = "space", by_course: bool = True) -> str:
    """One document for the papers of several; each begins on a page of its own, to write on: on a sheet of its own."""
    pages = latex.layouts("handout")
    spoken = {str(q["language"]) for paper in each for q in paper.questions}
    say: Any = wording(spoken.pop() if len(spoken) == 1 else "en", "handout")
    numbered = any(paper.number is not None for paper in each)
    data = {
        "head": replace(head, title=head.title or say.title(mode)), "mode": mode, "say": say,
        "words": say.rows().split(" | "), "numbered": numbered,
        "papers": [{"number": paper.number, "name": paper.name, "id": paper.id,
                    "questions": _with_courses(paper.questions, by_course),
                    "graded": _graded(paper.questions, say) if mode == "space" else ()} for paper in each],
        "macros": NoEscape(latex.layouts("pages").get_template("macros.tex").render()),
    }  # fmt: skip
    made = Document(
        documentclass="exam", document_options=["a4paper", "11pt", *([] if numbered else ["addpoints"])], fontenc=None,
        inputenc=None, lmodern=False, textcomp=False, microtype=False, indent=False, page_numbers=False,
        geometry_options={"hmargin": "25mm", "top": "20mm", "bottom": "20mm"},
    )  # fmt: skip
    for package in PACKAGES:
        made.packages.append(Package(package))
    made.preamble.append(NoEscape(pages.get_template("preamble.tex").render(data)))
    made.append(NoEscape(re.sub(r"\n{3,}", "\n\n", pages.get_template("handout.tex").render(data)).strip()))
    text = str(made.dumps()).rstrip("\n") + "\n"
    _guard_points(text, [q for paper in each for q in paper.questions])
    return text


def _guard_points(text: str, questions: Sequence[Mapping[str, Any]]) -> None:
    """Raise :class:`VerificationError` unless each question has its points in print, and the steps of each these."""
    _, *parts = _QUESTION.split(text.partition(r"\begin{document}")[2])
    for one, stated, part in zip(questions, parts[::2], parts[1::2], strict=True):
        steps = [Fraction(whole or 0) + (Fraction(1, 2) if half_ else 0) for whole, half_ in _STEP.findall(part)]
        points = one["points"]
        total = (one["marking"] or {}).get("total", points)
        if stated != (None if points is None else str(points)) or (steps and sum(steps) != total):
            raise VerificationError(Problem(f"{one['id']}: the printed points are not those that count"))


def _with_courses(questions: Iterable[Mapping[str, Any]], by_course: bool) -> list[Mapping[str, Any]]:
    """The course stands in front of the first question of each, where there are several."""
    found = list(questions)
    several = by_course and len({q["course"] for q in found}) > 1
    before = [None, *(q["course"] for q in found)]
    return [{**q, "course": q["course"] if several and q["course"] != last else ""}
            for q, last in zip(found, before, strict=False)]


def _graded(questions: Sequence[Mapping[str, Any]], say: Any) -> list[list[dict[str, Any]]]:
    """The table of points, in rows: a cell for each question, and the total; a dash where a card states no points.

    Nothing where no card states any.
    """
    points = [q["points"] for q in questions]
    if not any(points):
        return []
    cells: list[dict[str, Any]] = [{"name": n, "points": NoEscape("--") if p is None else p}
                                   for n, p in enumerate(points, 1)]  # fmt: skip
    cells.append({"name": say.rows().split(" | ")[-1], "points": sum(p or 0 for p in points)})
    return [cells[n:n + _ROW] for n in range(0, len(cells), _ROW)]


def asked(item: Item, mode: str, detail: str = "standard") -> dict[str, Any]:
    """What the page needs of an item: plain values and LaTeX, which a process can send and a cache can keep.

    Raises as :func:`document`.
    """
    points, detail = item.points, detail if mode == "solutions" else "answer"
    data: dict[str, Any] = {"language": item.language, "id": item.card.id, "course": item.card.course,
                            "points": points, "text": None, "answer": None, "marking": None, "space": None,
                            "title": None, "short": False, "displays": False}  # fmt: skip
    if item.solution is not None:
        refuse_failures(item.solution.report)
        data["title"] = prose.inline(item.solution.sheet.title)
    if mode in ("space", "solutions"):
        data["text"] = question(item.card, prose.blocks)
        data["displays"] = data["text"].startswith(r"\[")
        data["short"] = len(data["text"]) <= _SHORT
    if mode == "marking" and item.solution is not None:
        data["marking"] = _marking(item.solution, points)
    elif mode != "space":
        data["answer"] = _answer(item, detail)
    if mode == "space" or (mode == "solutions" and data["answer"] is None):
        data["space"] = points if points is not None else _DEFAULT
    return data


def own_solution(card: Card) -> NoEscape | None:
    """The solution that a card already has, as LaTeX; None where there is none or it cannot be typeset."""
    if not card.solution.strip():
        return None
    try:
        return prose.blocks(card.solution.replace("\r\n", "\n"), card.solution_line or 0)
    except DeriveError:
        return None


def _answer(item: Item, detail: str) -> NoEscape | None:
    if item.solution is None:
        return own_solution(item.card)
    sheet = replace(item.solution.sheet, closing=())
    return _checked(sheet if rank(detail) == rank("full") else _uncoded(sheet), detail)


def _uncoded(sheet: Sheet) -> Sheet:
    """A sheet without its program: on paper that takes a page, and only a whole sheet has it."""
    kept = (part for part in sections(sheet.details) if part[0] is None or part[0].name != "listing")
    return replace(sheet, details=tuple(b for heading, blocks in kept for b in (heading, *blocks) if b is not None))


def _checked(sheet: Sheet, detail: str = "full") -> NoEscape:
    """A sheet's blocks as LaTeX; what they display is compared with what was checked."""
    written = latex.body(_plain(sheet.blocks(detail)))
    guard(rf"\documentclass{{exam}}\begin{{document}}{written}", sheet, detail)
    return written


def _plain(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, with headings that fit inside a question."""
    return [replace(b, level=4) if isinstance(b, Heading) else b for b in blocks]


def _marking(solution: Solution, points: int | None) -> dict[str, Any]:
    found = marking(solution, points)
    refuse_failures(Report(tuple(unfair(found, solution, points))))
    earned = [{"points": half(share.points), "parts": [
        {"kind": item.kind, "valued": bool(item.numbers), "formulas": _checked(Sheet("", item.blocks, ()))}
        for item in share.items]} for share in found.shares]  # fmt: skip
    language = solution.sheet.language
    lost = [{"words": told(language, mistake.words), "cost": half(mistake.cost)} for mistake in found.mistakes]
    return {"shares": earned, "mistakes": lost, "stated": points is not None, "total": found.points}


def half(points: Fraction) -> NoEscape:
    """``2``, ``1½``."""
    whole = int(points)
    return NoEscape((str(whole) if whole or points == 0 else "") + (r"\half{}" if points != whole else ""))
