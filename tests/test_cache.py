"""What was made is found again by its content, and never anything else."""

from __future__ import annotations

import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import derive.cache
from derive.bank import Card
from derive.cache import Cache, hashed
from derive.commands import sheets as making
from derive.commands.sheets import Sheets, Task, Work, as_json, from_json, made, sheets
from derive.errors import CardError, DeriveError, LimitError, OpenError, Problem, RenderError
from derive.pool import Limits
from derive.statement import Open, Statement

SHEETS = Sheets("δ_x", 2, 1, {"md": {"": "# …", "a.svg": "<svg>"}, "pdf": {"": b"%PDF\xff"}}, 0.5)
WORK = Work(sheets, as_json, from_json)
TASK = Task("---\nid: a\n---\n# Question\nQ\n", "a.md", ("md",), "standard")


def test_it_holds_json_in_a_folder_of_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "derive" / "results.sqlite"
    Cache(file).put("k", {"a": ["ü", 1]})
    assert Cache(file).get("k") == {"a": ["ü", 1]} and Cache(file).has("k") and not Cache(file).has("l")
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_file_that_is_no_database_is_made_anew_and_none_is_done_without(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    file.write_text("no database, but a text that is longer than the header of one would be" * 9)
    cache = Cache(file)
    cache.put("k", 1)
    assert cache.get("k") == 1
    (tmp_path / "file").write_text("")
    without = Cache(tmp_path / "file" / "results.sqlite")
    without.put("k", 1)
    assert without.get("k") is None
    without.close()


@pytest.mark.parametrize("value", [
    SHEETS, CardError(Problem("wrong", "a.md", 3, "x\n^", "stride")), OpenError("which?")])
def test_results_survive_it(value: Sheets | DeriveError) -> None:
    again = WORK.found(WORK.kept(value))
    if isinstance(value, Sheets):
        assert isinstance(again, Sheets) and (again.files, again.proved, again.seconds) == (value.files, 2, 0)
    else:
        assert type(again) is type(value) and again.problems == value.problems


@pytest.mark.parametrize("error", [LimitError("too much"), RenderError("no TeX"), DeriveError("unexpected")])
def test_what_may_end_otherwise_is_not_kept(error: DeriveError) -> None:
    assert WORK.kept(error) is None


def test_the_key_has_all_that_a_sheet_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [Task(TASK.text, "a.md", ("md",), "standard", usual_tie_rule="last"),
              Task(TASK.text, "a.md", ("md",), "standard", language="cs"),
              Task(TASK.text, "a.md", ("md",), "standard", usual_language="cs"),
              Task(TASK.text + " ", "a.md", ("md",), "standard"), Task(TASK.text, "b.md", ("md",), "standard"),
              Task(TASK.text, "a.md", ("md", "tex"), "standard"), Task(TASK.text, "a.md", ("md",), "full"),
              Task(TASK.text, "a.md", ("md",), "standard", "last"), Task(TASK.text, "a.md", ("md",), "standard", None, True),
              Task(TASK.text, "a.md", ("md",), "standard", statement=Statement(forward=("y = x",)))]
    others += [replace(TASK, statement=said) for said in (
        Statement(forward=("y = 2 x",)), Statement(stride=("2",)), Statement(stride=("3",)), Statement(origin="a file"),
        Statement(tie_rule="last"), Statement(open=(Open("a", "b"),)))]
    before = {task.key for task in [TASK, *others]}
    assert len(before) == 17 and TASK.key in before
    monkeypatch.setattr(derive.cache, "_program", lambda: "another")
    assert TASK.key not in before


def test_the_programs_own_files_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(place: str, row: str, words: str) -> str:
        """What it is in a package that carries its words, or stands beside them."""
        package, templates = tmp_path / place / "derive", tmp_path / place / words
        for file, text in ((package / "rows.txt", row), (templates / "en.txt", "words")):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        monkeypatch.setattr(derive.cache, "__file__", str(package / "cache.py"))
        monkeypatch.setattr(derive.cache, "templates", lambda: templates)
        return derive.cache.program.__wrapped__()

    assert program("a", "one", "templates") == program("b", "one", "derive/templates") != program("c", "two", "templates")
    before = hashed()
    derive.cache._program.cache_clear()
    monkeypatch.setattr(derive.cache, "program", lambda: "another")
    assert hashed() != before
    derive.cache._program.cache_clear()


def test_the_second_time_it_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[str] = []

    def sheets(task: Task) -> Sheets:
        solved.append(Card.parse(task.text).id)
        return Sheets("δ_x", 1, 0, {"md": {"": task.text}}, 1.0)

    monkeypatch.setattr(making, "sheets", sheets)
    monkeypatch.setattr(derive.cache, "folder", lambda: tmp_path)
    tasks = [Task(TASK.text.replace("a\n", f"{name}\n", 1), "a.md", ("md",), "standard") for name in "abc"]
    first = [*made(tasks[::2], Limits(0), 1)]
    again = [*made(tasks, Limits(0), 1)]
    assert solved == ["a", "c", "b"] and [a.files for a in again[::2]] == [f.files for f in first]  # type: ignore[union-attr]
    assert [a.seconds for a in again] == [0, 1.0, 0]  # type: ignore[union-attr]
    assert [*made(tasks, Limits(0), 1, cached=False)] and len(solved) == 6
    closed: list[Cache] = []
    monkeypatch.setattr(Cache, "close", lambda cache: closed.append(cache))
    with closing(made(tasks, Limits(0), 1)) as results:
        next(results)  # and nobody asks for what comes behind the last
    assert len(closed) == 1
