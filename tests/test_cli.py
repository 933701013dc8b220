"""The command line: summary lines, exit codes, and files that are whole or not there."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import derive.cli
from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, RenderError, UnsupportedError, VerificationError
from derive.statement import Statement
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
    def solve(card: Card, statement: Statement | None = None, tie_rule: str | None = None, usual_tie_rule: str | None = None, code: bool | None = None,
              language: str | None = None, usual_language: str | None = None) -> Solved:
        if card.id == "broken":
            raise ZeroDivisionError("a\nbug")
        if card.id in ERRORS:
            raise ERRORS[card.id]
        checks = tuple(Check(str(v), "f = x", v, "") for v in (Verdict.PROVED, Verdict.PROVED, Verdict.TESTED))
        tie_rule = tie_rule or usual_tie_rule
        return Solved(card, Report(checks), tie_rule=f"{tie_rule} with code" if code else tie_rule)

    def render(solution: Solved, format: str = "md", detail: str = "full") -> str | bytes:
        if format == "pdf":
            return b"%PDF"
        if solution.card.id == "sheet":
            raise VerificationError("local: refuted: `f = g` at x = 1")
        return solution.card.with_solution(f"{format} {detail} {solution.tie_rule}")

    fake_solve = types.ModuleType("derive.solve")
    fake_solve.solve = solve  # type: ignore[attr-defined]
    fake_render = types.ModuleType("derive.render")
    fake_render.render = render  # type: ignore[attr-defined]
    fake_render.files = lambda solution, format, detail: {f"{solution.card.stem}-f.svg": "<svg>"} if format == "md" else {}  # type: ignore[attr-defined]
    fake_render.FORMATS = ("md", "tex", "pdf", "obsidian", "spaced-repetition")  # type: ignore[attr-defined]
    fake_render.SUFFIXES = {f: "obsidian.md" if len(f) > 4 else f for f in fake_render.FORMATS}  # type: ignore[attr-defined]
    fake_render.FORMATS += ("bundle",)  # type: ignore[attr-defined]
    fake_render.SUFFIXES["bundle"] = "bundle"  # type: ignore[attr-defined]
    fake_render.COLLECTED = ("bundle",)  # type: ignore[attr-defined]
    fake_render.part = lambda solution, format, detail: f"{solution.card.id} {solution.card.question.strip()} {detail}"  # type: ignore[attr-defined]
    fake_render.collection = lambda format, parts: f"{format}: " + ", ".join(f"{text} {written}{group}" for text, written, group in parts)  # type: ignore[attr-defined]
    fake_render.Part = lambda *given: given  # type: ignore[attr-defined]
    fake_render.ready = lambda format: None  # type: ignore[attr-defined]
    fake_render.DETAILS = ("full", "short")  # type: ignore[attr-defined]
    fake_render.available = lambda: ("md", "tex")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "derive.solve", fake_solve)
    monkeypatch.setitem(sys.modules, "derive.render", fake_render)
    monkeypatch.chdir(tmp_path)
    here = ("--timeout", "0", "-j", "1", "--no-cache")  # in this process, where the stand-ins are
    return lambda *arguments: CliRunner().invoke(derive.cli.main, ["solve", *here, *arguments])


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
    assert sorted(p.name for p in Path("output").iterdir()) == ["q1-f.svg", "q1.md", "q1.tex"]
    assert result.stderr == ""


def test_options_reach_the_sheet(run: Run) -> None:
    write("a.md", "q1")
    assert run("a.md", "-o", "x/y", "--format", "tex, MD,tex", "--detail", "short", "--tie-rule", "last").exit_code == 0
    assert "tex short last" in Path("x/y/q1.tex").read_text()
    assert run("a.md", "--code", "--tie-rule", "first").exit_code == 0
    assert "tex standard first with code" in Path("output/q1.tex").read_text()


def test_notes_are_no_cards_and_have_one_of_two_forms(run: Run) -> None:
    write("a.md", "q1")
    assert run(".", "-o", ".", "--format", "obsidian").exit_code == run(".", "--format", "tex").exit_code == 0
    assert run(".", "--format", "obsidian", "--spaced-repetition", "-o", ".").exit_code == 0
    assert "spaced-repetition standard" in Path("q1.obsidian.md").read_text()
    for given, why in ((["--spaced-repetition"], "add it"), (["--format", "obsidian,spaced-repetition"], "choose one")):
        result = run("a.md", *given)
        assert result.exit_code == 2 and why in result.stderr


def test_a_deck_holds_the_cards_of_a_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "7")
    for name in ("q1", "q2", "refuted"):
        write(f"bank/{name}.md", name)
    result = run("bank", "--format", "bundle,tex", "-o", "out")
    assert result.exit_code == 1 and "out/bank.bundle: 2 cards\n" in result.stdout and "tested; out/q1.tex; " in result.stdout
    assert Path("out/bank.bundle").read_text() == "bundle: q1 Q standard 7, q2 Q standard 7"
    assert "out/bank.bundle: 2 cards (no change)\n" in run("bank", "--format", "bundle", "-o", "out", "--dry-run").stdout
    assert run("bank/q1.md", "bank/q2.md", "--format", "bundle").stdout.endswith("output/cards.bundle: 2 cards\n")
    assert "2 proved, 1 tested; 0." in run("bank/q2.md", "--format", "bundle").stdout and Path("output/q2.bundle").is_file()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    os.utime("bank/q1.md", (9, 9))
    assert run("bank/q1.md", "--format", "bundle").exit_code == 0 and Path("output/q1.bundle").read_text() == "bundle: q1 Q standard 9"
    Path("bank/q3.md").write_text("---\nid: q3\nvary_n: [1, 2, 3]\n---\n# Question\n{{n}}\n")
    found = run("bank/q1.md", "bank/q3.md", "--format", "bundle,tex", "--variant", "2-3")
    assert "output/cards.bundle: 3 cards\n" in found.stdout and Path("output/q3_2.tex").is_file() and Path("output/q3_3.tex").is_file()
    assert [part.split()[0] for part in Path("output/cards.bundle").read_text()[8:].split(", ")] == ["q1", "q3_2", "q3_3"]
    assert Path("output/cards.bundle").read_text().endswith("q3") and run("bank/q3.md", "--variant", "3-2").exit_code == 2
    assert run("bank/refuted.md", "--format", "bundle").exit_code == 1 and not Path("output/refuted.bundle").exists()


def test_settings_stand_for_options_that_are_not_given(run: Run) -> None:
    write("bank/a.md", "q1")
    Path("derive.toml").write_text('format = "tex"\noutput = "sheets"\ndetail = "short"\ntie_rule = "last"\n')
    assert run("bank/a.md").exit_code == 2  # `short` is no name of a detail that is documented
    Path("derive.toml").write_text('format = ["tex"]\noutput = "sheets"\ndetail = "full"\ntie_rule = "last"\n')
    assert run("bank").exit_code == 0
    assert "tex full last" in Path("sheets/q1.tex").read_text()
    assert run("bank", "--format", "md", "-o", "own", "--detail", "short", "--tie-rule", "first").exit_code == 0
    assert "md short first" in Path("own/q1.md").read_text()
    Path("bank/derive.toml").write_text('formt = "tex"\n')
    result = run("bank")
    assert (result.exit_code, result.stderr) == (2, f"{Path('bank/derive.toml').resolve()}:1: unknown setting `formt`; did you mean `format`?\n")


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
    assert "README.md" not in result.stderr and "README.md: skipped, not a card" in run("bank", "-v").stderr
    assert re.search(r"^solved +3\nopen +1 .*\nout of scope +1 .*\n\Z", result.stderr, re.MULTILINE)
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


def test_in_a_folder_what_is_no_derivation_is_counted_not_listed(run: Run) -> None:
    write("bank/a.md", "good")
    write("bank/b.md", "uncovered")
    result = run("bank")
    assert (result.exit_code, result.stdout.count("\n")) == (3, 1)
    assert "not about a layer" not in result.stderr and "out of scope  1" in result.stderr
    assert "bank/b.md: not about a layer\n" in run("bank", "-v").stderr
    write("bank/b.md", "uncovered\ntype: definition")
    assert run("bank").exit_code == 0 and run("bank/b.md").exit_code == 3


@pytest.mark.parametrize("form", ["json", "md", "html", "xml"])
def test_a_report_says_what_became_of_each_card(run: Run, form: str) -> None:
    for name in ("good", "wrong", "uncovered", "refuted"):
        write(f"bank/{name}.md", name)
    assert run("bank", "--report", f"report.{form}").exit_code == 1
    text = Path(f"report.{form}").read_text("utf-8")
    assert all(word in text for word in ("good", "wrong", "out of scope", "a formula was refuted"))
    if form == "json":
        found = json.loads(text)
        assert found["counts"] == {"solved": 1, "open": 1, "refused": 0, "out of scope": 1, "failed": 1}
        assert [card["state"] for card in found["cards"]] == ["solved", "failed", "out of scope", "open"]
    if form == "xml":
        suite = ElementTree.fromstring(text)
        assert [suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]


def test_a_report_in_another_format_is_refused_before_the_work(run: Run) -> None:
    write("a.md", "q1")
    assert run("a.md", "--report", "a.txt").exit_code == 2 and not Path("output").exists()


def test_a_dry_run_writes_nothing_and_says_what_it_would(run: Run) -> None:
    before = write("a.md", "q1").read_bytes()
    assert "; a.md (would change), q1-f.svg (new); " in run("a.md", "--in-place", "--dry-run").stdout
    assert "; output/q1.md (new), output/q1-f.svg (new), output/q1.tex (new); " in run("a.md", "--dry-run").stdout
    assert Path("a.md").read_bytes() == before and not Path("output").exists()
    assert run("a.md").exit_code == 0 and "output/q1.md (no change)" in run("a.md", "--dry-run").stdout


def test_an_interrupt_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    write("a.md", "q1")
    monkeypatch.setattr(sys.modules["derive.solve"], "solve", interrupted)
    result = run("a.md")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "\n") and not Path("output").exists()


def test_an_equation_that_fails_is_said_with_its_card(run: Run) -> None:
    result = run(str(write("a.md", "sheet")))
    assert result.exit_code == 1 and not Path("output").exists()
    assert result.stderr == "a.md:5: local: refuted: `f = g` at x = 1\n"


def test_a_bug_is_one_line_without_debug(run: Run) -> None:
    write("a.md", "broken")
    result = run("a.md")
    assert result.stderr == "a.md: unexpected ZeroDivisionError: a bug (--debug shows where)\n"
    assert isinstance(run("a.md", "--debug").exception, ZeroDivisionError)


def test_cards_found_inside_the_output_folder_are_not_solved_again(run: Run) -> None:
    write("a.md", "q1")
    assert run(".").exit_code == 0
    assert run(".").exit_code == 0


def test_a_finished_sheet_in_the_folder_of_its_card_is_no_second_card(run: Run) -> None:
    card = Card.parse("---\nid: q1\n---\n\n# Question\nQ\n\n---\n# Solution\n")
    write("a.md", "q1")
    Path("sheets").mkdir()
    Path("sheets", "q1.md").write_text(card.with_solution("done"), "utf-8")
    result = run(".")
    assert result.exit_code == 0 and result.stderr == ""


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


def test_the_output_folder_keeps_what_is_written_by_hand(run: Run) -> None:
    before = write("a.md", "a", "mine").read_bytes()
    result = run("a.md", "-o", ".")
    assert result.exit_code == 2 and "a.md:9: the solution was written by hand; --force overwrites it" in result.stderr
    assert Path("a.md").read_bytes() == before and not Path("a.tex").exists()
    Path("notes").mkdir()
    Path("notes/a.md").write_text("shopping")
    result = run("a.md", "-o", "notes")
    assert result.exit_code == 2 and "is no sheet of this program; --force overwrites it" in result.stderr
    assert Path("notes/a.md").read_text() == "shopping"
    assert run("a.md", "-o", "notes", "--force").exit_code == 0
    assert run("a.md", "-o", "notes").exit_code == 0  # our own


def test_a_card_saved_while_it_is_solved_keeps_what_was_saved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.md", "a")
    solve = sys.modules["derive.solve"].solve

    def saved_meanwhile(card: Card, **options: object) -> object:
        Path("a.md").write_text(card.text + "a thought\n")
        return solve(card, **options)

    monkeypatch.setattr(sys.modules["derive.solve"], "solve", saved_meanwhile)
    result = run("a.md", "--in-place")
    assert result.exit_code == 2 and "a.md: the card was changed while it was solved; solve it again" in result.stderr
    assert Path("a.md").read_text().endswith("a thought\n")


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
        (["--format", "docx"], "unknown format `docx`; there are `md`, `tex`, `pdf`, `obsidian`, `spaced-repetition`, `bundle`\n"),
        (["--format", ","], "no format in `,`; there are `md`, `tex`, `pdf`, `obsidian`, `spaced-repetition`, `bundle`\n"),
        (["--tie-rule", "frist"], "unknown tie rule `frist`; did you mean `first`?\n"),
        (["--detail", "long"], "unknown detail `long`; there are `answer`, `standard`, `full`\n"),
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


def test_a_card_whose_sheet_cannot_be_written_has_failed(run: Run) -> None:
    """It counted among the refused, as if the card were wrong."""
    write("cards/a.md", "q1")
    write("cards/b.md", "q2")
    Path("output/q1.tex").mkdir(parents=True)
    result = run("cards")
    assert result.exit_code == 2 and [*map(str.split, result.stderr.splitlines()[-2:])] == [["solved", "1"], ["failed", "1"]]


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 4), (errno.EDQUOT, 4), (errno.EACCES, 2)])
def test_a_full_disk_is_no_fault_of_the_input(run: Run, monkeypatch: pytest.MonkeyPatch, number: int, code: int) -> None:
    def full(*_: object, **__: object) -> tuple[int, str]:
        raise OSError(number, os.strerror(number))

    write("a.md", "q1")
    monkeypatch.setattr("derive.bank.tempfile.mkstemp", full)
    result = run("a.md")
    assert result.exit_code == code and f"cannot be written: {os.strerror(number)}" in result.stderr


def test_help_has_an_example() -> None:
    for arguments in (["--help"], ["solve", "--help"]):
        result = CliRunner().invoke(derive.cli.main, arguments)
        assert result.exit_code == 0 and "derive solve cards/" in result.output


def test_version() -> None:
    result = CliRunner().invoke(derive.cli.main, ["--version"])
    assert result.exit_code == 0 and result.output.strip()


def test_every_command_has_help_with_an_example() -> None:
    for name in derive.cli.main.list_commands(None):  # type: ignore[arg-type]
        result = CliRunner().invoke(derive.cli.main, [name, "--help"])
        assert result.exit_code == 0 and f"derive {name}" in result.output.split("Example")[1], name


def test_an_unknown_command_is_an_error() -> None:
    assert CliRunner().invoke(derive.cli.main, ["sovle"]).exit_code == 2


# --- the other commands, with real cards -----------------------------------------


CARD = str(Path(__file__).parents[1] / "cards" / "max_pooling_backward.md")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(derive.cli.main, list(arguments))


def test_show() -> None:
    result = invoke("show", CARD, "--detail", "short")
    assert result.exit_code == 0 and result.stderr == ""
    assert "∂f_kl/∂x_ij = ⎨" in result.stdout and "Checked" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "none.md"], 2, "none.md: cannot be read: No such file or directory\n"),
        (["show", CARD, "--detail", "long"], 2, "unknown detail `long`; there are `answer`, `standard`, `full`\n"),
        (["show", CARD, "--tie-rule", "frist"], 2, "unknown tie rule `frist`; did you mean `first`?\n"),
        (["evaluate", CARD], 2, "give the numbers with --values FILE, or draw them with --random SEED: one of the two\n"),
        (["evaluate", CARD, "--values", "none.yaml"], 2, "none.yaml: cannot be read: No such file or directory\n"),
        (["evaluate", CARD, "--random", "1", "--format", "htm"], 2, "unknown format `htm`; did you mean `html`?\n"),
        (["evaluate", "none.md", "--random", "1"], 2, "none.md: cannot be read: No such file or directory\n"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], code: int, message: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stderr) == (code, message)


def test_evaluate(tmp_path: Path) -> None:
    values = tmp_path / "x.yaml"
    values.write_text("x: [[1, 5], [3, 2]]\n")
    result = invoke("evaluate", CARD, "--values", str(values), "--format", "json")
    assert result.exit_code == 0 and '"forward": {"f": [[5.0]]}' in result.stdout
    assert "Backward message" in invoke("evaluate", CARD, "--values", str(values)).stdout
    assert invoke("evaluate", CARD, "--random", "4").stdout == invoke("evaluate", CARD, "--random", "4").stdout
    values.write_text("x: [1, 5]\n")
    result = invoke("evaluate", CARD, "--values", str(values))
    assert (result.exit_code, result.stderr) == (2, f"{values}: `x` has shape (2,), but (H, W) is expected\n")


def test_a_message_cannot_command_the_terminal() -> None:
    result = invoke("show", "a\x1b[2J.md")
    assert result.stderr == "a\ufffd[2J.md: cannot be read: No such file or directory\n"


def test_watch_solves_again_what_is_saved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("bank/a.md", "q1")
    write("bank/b.md", "q2")
    turns = iter(["q3", "wrong", None, "q4"])

    def sleep(_: float) -> None:
        card = next(turns, "end")
        if card == "end":
            raise KeyboardInterrupt
        if card is not None:
            write("bank/a.md", card + "\nx: " + "y" * len(list(Path("output").iterdir())))

    monkeypatch.setattr("time.sleep", sleep)
    result = run("bank", "--watch", "--format", "md")
    assert result.exit_code == 0
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["q1", "q2", "q3", "q4"]
    assert result.stderr.startswith("q.md:9: `stride: 0` is not a positive integer\n")
    assert file.exists()


def test_watch_does_not_take_its_own_writing_for_a_change(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.md", "q1")
    turns = iter([None, None, None])

    def sleep(_: float) -> None:
        if next(turns, "end") == "end":
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    assert run("a.md", "--watch", "--in-place").stdout.count("\n") == 1


def test_handout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("bank/q.md", "by_hand\ncourse: A\ntags: [cnn]\ndifficulty: 2", "It is **half** of it.\n")
    write("bank/r.md", "bare\ncourse: A\ntags: [rnn]\ndifficulty: 4")
    result = invoke("handout", "bank", CARD, "-o", "exam.tex")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "exam.tex: 3 questions, 5 points (2 state none)\n", "")
    assert "textbf{half}" not in Path("exam.tex").read_text("utf-8")
    result = invoke("handout", "bank", CARD, "--solutions", "-o", "solutions.tex")
    assert result.exit_code == 0
    warnings = result.stderr.splitlines()
    assert len(warnings) == 2 and warnings[0].startswith("bank/q.md") and warnings[1].startswith("bank/r.md")
    assert warnings[0].endswith("; not solved, the card keeps its own solution")
    assert warnings[1].endswith("; not solved, the card has no solution of its own")
    assert r"\textbf{half}" in Path("solutions.tex").read_text("utf-8")
    assert invoke("handout", "bank", "--tag", "cnn", "-o", "a.tex").stdout == "a.tex: 1 question, 0 points (1 states none)\n"
    assert invoke("handout", "bank", "--difficulty", "3-5", "-o", "a.tex").stdout == "a.tex: 1 question, 0 points (1 states none)\n"


def test_handout_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("q.md", "q1")
    write("bad.md", "q2").write_text("---\nid: q2\n---\n# Question\n$\\write$\n")
    for arguments, message in (
        (["q.md", "-o", "a.doc"], "a handout is `.tex` or `.pdf`, not `.doc`; name it so with -o\n"),
        (["q.md", "--tag", "x", "-o", "a.tex"], "no card is left; ask for other tags, courses or difficulties\n"),
        (["q.md", "--order", "cours", "-o", "a.tex"], "unknown order `cours`; did you mean `course`?\n"),
        (["q.md", "--difficulty", "x", "-o", "a.tex"], "`x` is no range of difficulty; write `2` or `2-3`\n"),
    ):
        result = invoke("handout", *arguments)
        assert (result.exit_code, result.stderr) == (2, message) and not Path("a.tex").exists()
    result = invoke("handout", "q.md", "bad.md", "-o", "a.tex")
    assert result.exit_code == 2 and result.stderr.startswith("bad.md:5: `\\write`")
    assert result.stdout == "a.tex: 1 question, 0 points (1 states none); 1 card is left out\n"


def test_the_command_the_page_and_the_sheet_count_alike(tmp_path: Path) -> None:
    """The routes that agree are no equations."""
    card = Path("cards/max_pooling_backward.md").resolve()
    line = CliRunner().invoke(derive.cli.main, ["solve", str(card), "--format", "md,html", "-o", str(tmp_path)]).stdout
    proved, tested = map(int, re.search(r"; (\d+) proved, (\d+) tested; ", line).groups())  # type: ignore[union-attr]
    sheet = (tmp_path / "ssu_batch4_004.md").read_text("utf-8")
    assert f"Proved: {proved} equations of the full sheet" in sheet and f"Tested: {tested} equations of it" in sheet
    page = (tmp_path / "ssu_batch4_004.html").read_text("utf-8")
    assert f"Equations checked as printed: {proved} proved, {tested} tested." in page
    assert ",," not in sheet
