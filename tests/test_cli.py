"""The command line: summary lines, exit codes, and files that are whole or not there."""

from __future__ import annotations

import os
import stat
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import derive.cli
from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, RenderError, UnsupportedError, VerificationError
from derive.verify.report import Check, Report, Verdict

Run = Callable[..., Result]
ERRORS: dict[str, DeriveError] = {
    "refuted": VerificationError("a formula was refuted"),
    "wrong": CardError(Problem("`stride: 0` is not a positive integer", "q.md", 9)),
    "uncovered": UnsupportedError("not about a layer"),
    "tool": RenderError("no TeX"),
}


@dataclass(frozen=True)
class Solved:
    """Stands in for a solution: the command line is tested without deriving anything."""

    card: Card
    report: Report
    derived: str = "Jacobian and backward message"
    tie_rule: str | None = None


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def solve(card: Card, tie_rule: str | None = None) -> Solved:
        if card.id == "broken":
            raise ZeroDivisionError("a\nbug")
        if card.id in ERRORS:
            raise ERRORS[card.id]
        checks = tuple(Check(str(v), "", v, "") for v in (Verdict.PROVED, Verdict.PROVED, Verdict.TESTED))
        return Solved(card, Report(checks), tie_rule=tie_rule)

    def render(solution: Solved, format: str = "md", detail: str = "full") -> str | bytes:
        if format == "pdf":
            return b"%PDF"
        return solution.card.with_solution(f"{format} {detail} {solution.tie_rule}")

    fake_solve = types.ModuleType("derive.solve")
    fake_solve.solve = solve  # type: ignore[attr-defined]
    fake_render = types.ModuleType("derive.render")
    fake_render.render = render  # type: ignore[attr-defined]
    fake_render.FORMATS = ("md", "tex", "pdf")  # type: ignore[attr-defined]
    fake_render.DETAILS = ("full", "short")  # type: ignore[attr-defined]
    fake_render.available = lambda: ("md", "tex")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "derive.solve", fake_solve)
    monkeypatch.setitem(sys.modules, "derive.render", fake_render)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(derive.cli.main, ["solve", *arguments])


def write(path: str, card_id: str, solution: str = "") -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nid: {card_id}\n---\n# Question\nQ\n\n---\n# Solution\n{solution}")
    return file


def test_a_card_gives_its_files_and_one_line(run: Run) -> None:
    write("a.md", "q1")
    result = run("a.md")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "q1: Jacobian and backward message; 2 proved, 1 tested; output/q1.md, output/q1.tex; "
    )
    assert Card.read("output/q1.md").generated
    assert sorted(p.name for p in Path("output").iterdir()) == ["q1.md", "q1.tex"]
    assert result.stderr == ""


def test_options_reach_the_sheet(run: Run) -> None:
    write("a.md", "q1")
    assert run("a.md", "-o", "x/y", "--format", "tex, MD,tex", "--detail", "short", "--tie-rule", "last").exit_code == 0
    assert "tex short last" in Path("x/y/q1.tex").read_text()


def test_a_folder_one_wrong_card_does_not_stop_the_others(run: Run) -> None:
    for number, name in enumerate(["good", "wrong", "uncovered", "fine"]):
        write(f"bank/{number}.md", name)
    write("bank/deep/5.md", "deep")
    write("bank/.hidden/6.md", "hidden")
    Path("bank/README.md").write_text("# No card\n")
    result = run("bank")
    assert result.exit_code == 2
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["good", "fine", "deep"]
    assert "q.md:9: `stride: 0` is not a positive integer\n" in result.stderr
    assert "README.md: skipped, not a card" in result.stderr
    assert sorted(p.stem for p in Path("output").glob("*.md")) == ["deep", "fine", "good"]


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        (["uncovered"], 3),
        (["wrong"], 2),
        (["refuted"], 1),
        (["tool"], 4),
        (["broken"], 1),
        (["wrong", "uncovered"], 2),
        (["tool", "wrong"], 4),
        (["refuted", "tool"], 1),
        (["good", "uncovered"], 3),
    ],
)
def test_exit_codes_the_worst_of_all(run: Run, cards: list[str], code: int) -> None:
    result = run(*(str(write(f"{c}.md", c)) for c in cards))
    assert result.exit_code == code
    assert not Path("output").exists() or "good" in cards


def test_a_bug_is_one_line_without_debug(run: Run) -> None:
    write("a.md", "broken")
    result = run("a.md")
    assert result.stderr == "unexpected ZeroDivisionError: a bug (--debug shows where)\n"
    assert isinstance(run("a.md", "--debug").exception, ZeroDivisionError)


def test_cards_found_inside_the_output_folder_are_not_solved_again(run: Run) -> None:
    write("a.md", "q1")
    assert run(".").exit_code == 0
    assert run(".").exit_code == 0


def test_the_same_card_twice_is_one_card_and_two_cards_of_one_id_an_error(run: Run) -> None:
    write("a.md", "q1")
    write("b.md", "q2")
    write("c.md", "Q1")
    assert run("a.md", "./a.md").stdout.count("\n") == 1
    result = run("a.md", "b.md", "c.md")
    assert result.exit_code == 2
    assert result.stderr == "c.md:2: the id `Q1` is also that of a.md; give each card its own\n"


def test_in_place_keeps_what_is_written_by_hand(run: Run) -> None:
    file = write("a.md", "q1", "by hand\n")
    before = file.read_bytes()
    result = run("a.md", "--in-place")
    assert (result.exit_code, file.read_bytes()) == (2, before)
    assert result.stderr == "a.md:9: the solution was written by hand; --force overwrites it\n"
    assert run("a.md", "--in-place", "--force").exit_code == 0
    assert Card.read("a.md").generated
    assert run("a.md", "--in-place", "--detail", "short").exit_code == 0  # our own
    file.write_text(file.read_text().replace("short", "changed"))
    assert run("a.md", "--in-place").exit_code == 2
    assert not Path("output").exists()


def test_in_place_follows_a_link_and_keeps_the_mode(run: Run) -> None:
    file = write("bank/a.md", "q1")
    file.chmod(0o640)
    Path("link.md").symlink_to(file)
    assert run("link.md", "--in-place").exit_code == 0
    assert Path("link.md").is_symlink() and Card.read(file).generated
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_an_id_cannot_leave_the_output_folder(run: Run) -> None:
    write("a.md", "'../../etc/x y'")
    assert run("a.md").exit_code == 0
    assert [p.name for p in Path("output").glob("*.md")] == ["_.._etc_x_y.md"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "pfd"], "unknown format `pfd`; did you mean `pdf`?\n"),
        (["--format", "docx"], "unknown format `docx`; there are `md`, `tex`, `pdf`\n"),
        (["--format", ","], "no format in `,`; there are `md`, `tex`, `pdf`\n"),
        (["--tie-rule", "frist"], "unknown tie rule `frist`; did you mean `first`?\n"),
        (["--detail", "long"], "unknown detail `long`; there are `full`, `short`\n"),
        (["none.md"], "none.md: cannot be read: No such file or directory\n"),
        (["-o", "a.md"], "a.md/q1.md: cannot be written: File exists\n"),
        (["-o", "a.md/b"], "a.md/b/q1.md: cannot be written: Not a directory\n"),
    ],
)
def test_wrong_arguments(run: Run, arguments: list[str], message: str) -> None:
    write("a.md", "q1")
    result = run("a.md", *arguments)
    assert (result.exit_code, result.stderr) == (2, message)


def test_a_circle_of_links_and_a_pipe(run: Run) -> None:
    Path("loop.md").symlink_to("loop.md")
    os.mkfifo("pipe.md")
    result = run("loop.md", "pipe.md")
    assert result.exit_code == 2
    assert result.stderr == (
        "loop.md: cannot be read: Too many levels of symbolic links\npipe.md: cannot be read: it is a pipe\n"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_write_permission(run: Run) -> None:
    write("a.md", "q1")
    Path("shut").mkdir(mode=0o500)
    assert run("a.md", "-o", "shut").exit_code == 2


def test_nothing_is_written_if_one_file_cannot_be(run: Run) -> None:
    write("a.md", "q1")
    Path("output/q1.tex").mkdir(parents=True)
    result = run("a.md")
    assert result.exit_code == 2 and "output/q1.tex: cannot be written" in result.stderr
    assert [p.name for p in Path("output").iterdir()] == ["q1.tex"]


def test_help_has_an_example() -> None:
    for arguments in (["--help"], ["solve", "--help"]):
        result = CliRunner().invoke(derive.cli.main, arguments)
        assert result.exit_code == 0 and "derive solve cards/" in result.output


def test_version() -> None:
    result = CliRunner().invoke(derive.cli.main, ["--version"])
    assert result.exit_code == 0 and result.output.strip()
