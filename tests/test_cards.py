"""The cards that the tests hold: each check of its sheet passes, and it can be had in every format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import derive
from derive.calculus.matrix_form import matrix_form
from derive.calculus.one_window import WHOLE, scope_tables
from derive.errors import RenderError
from derive.exposition.subject import Subject
from derive.expr import Rel
from derive.notation import read, write
from derive.render import files
from derive.render.pdf import compile_latex, engine
from tests.bank import CARDS, REFUSED, solved
from tests.render.katex import formulas, installed, refused, refused_by_github

_STROKE = re.compile(r"  \\(?:draw|path)\[.*;")
_PLACED = re.compile(r"\(line (\d+): (.*)\)$")
_QUOTED = re.compile(r"“([^”]*)”|^\$([^$]+)\$")
_MARKS = re.compile(r"[\s*_$&|]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Typesetter:
    """LaTeX sheets by name, set in one run of TeX; each begins on a page of its own."""

    def __init__(self) -> None:
        self.head = ""
        self.pages: dict[str, str] = {}
        self._strokes: set[str] = set()

    def add(self, name: str, document: str) -> None:
        self.head, _, body = document.partition("\\begin{document}")
        lines = body.rpartition("\\end{document}")[0].split("\n")
        self.pages[name] = "\n".join(filter(self._new, lines)) + "\\clearpage\n"

    def _new(self, line: str) -> bool:
        """All but a stroke of a picture that differs from one before it in its numbers alone: TeX takes long over them."""
        if not _STROKE.fullmatch(line):
            return True
        kind = _NUMBER.sub("0", line)
        known = kind in self._strokes
        self._strokes.add(kind)
        return not known

    def error(self) -> str | None:
        """The first sheet that TeX stops at, and why."""
        # whether a letter is stretched and where a reference points is of no matter here
        source, starts = "\\PassOptionsToPackage{draft}{microtype}\n" + self.head + "\\begin{document}\n", {}
        for name, body in self.pages.items():
            starts[name] = source.count("\n") + 1
            source += body
        try:
            compile_latex(source + "\\end{document}\n", seconds=900, runs=1)
        except RenderError as error:
            line = int(str(error).partition("sheet.tex:")[2].partition(":")[0] or 0)
            return f"{max((n for n in starts if starts[n] <= line), key=starts.__getitem__, default='?')}: {error}"
        return None


@pytest.fixture(scope="session")
def typesetter() -> Iterator[Typesetter]:
    """What the tests of this process add is set when they are through."""
    made = Typesetter()
    yield made
    if made.pages and engine() is not None:
        assert made.error() is None


@pytest.fixture(scope="session")
def mathematics() -> Iterator[set[tuple[bool, str]]]:
    """What the tests of this process add is read by KaTeX when they are through, where it is installed."""
    found: set[tuple[bool, str]] = set()
    yield found
    assert not installed() or refused(found) == []


@pytest.mark.some(4)
@pytest.mark.parametrize("path", [path for path in CARDS if path not in REFUSED], ids=lambda path: path.stem)
def test_every_check_of_its_sheet_passes_in_every_format(
        path: Path, typesetter: Typesetter, mathematics: set[tuple[bool, str]]) -> None:
    solution = solved(path.stem)
    report = solution.report
    assert [f"{c.name} {c.verdict.value}: {c.latex} {c.counterexample or c.evidence}" for c in report.failures] == []
    the_matrix_forms_read_back(solution)
    assert misquoted(path, solution) == []
    text = str(derive.render(solution, "md"))
    assert refused_by_github(text.partition("# Solution")[2]) == [] and derive.render(solution, "html")
    mathematics.update(formulas(text))
    assert all(files(solution, "md").values())
    typesetter.add(path.stem, str(derive.render(solution, "tex")))


def misquoted(path: Path, solution: derive.Solution) -> list[str]:
    """How the card was read: what does not stand in the line that is named, or begins in another."""
    lines, found = path.read_text("utf-8").split("\n"), []
    for reading in solution.messages.module.readings:
        said = _PLACED.search(reading)
        quoted = _QUOTED.findall(said[2]) if said is not None else []
        for part in (plain for q in quoted for plain in map(_plain, "".join(q).split("…")) if said and plain):
            first = int(said[1]) - 1
            if part not in _plain("".join(lines[first:first + 7])) or part[:4] not in _plain(lines[first]):
                found.append(reading)
    return found


def _plain(text: str) -> str:
    """Without blanks and the marks of Markdown and of aligned formulas."""
    return _MARKS.sub("", text)


def the_matrix_forms_read_back(solution: derive.Solution) -> None:
    """Also those that are too wide to be printed."""
    subject, table = Subject(solution.messages), scope_tables(solution.messages.module)[WHOLE]
    for target in subject.targets:
        form = matrix_form(target.before, target.value, subject.module)
        assert form is None or isinstance(read(write(form, table), table), Rel)


@pytest.mark.skipif(engine() is None, reason="no TeX with the packages of a sheet")
def test_an_error_of_tex_names_its_sheet() -> None:
    made = Typesetter()
    for name, body in {"one": "a", "two": r"$\left\{ b \right$", "three": "c"}.items():
        made.add(name, f"\\documentclass{{article}}\\begin{{document}}\n{body}\n\\end{{document}}")
    assert str(made.error()).startswith("two: ")
