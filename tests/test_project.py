"""Imports point one way, and the layers are not typed in."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "derive"
# The stages in the order of the data. A stage imports from those above it and from its own line, never from below.
STAGES = (
    ("records", "collection", "limits", "errors", "timeout", "expr", "affine", "functions", "reductions", "ring", "window_axis", "receptive_field", "sections", "tabular", "words"),
    ("notation",),
    ("module", "sheet", "card", "formulas", "lines"),
    ("statement", "variants"),
    ("layers",),
    ("axes", "magnitudes", "pointers"),
    ("specify",),
    ("question",),
    ("calculus", "symbolic", "numeric"),
    ("numbers",),
    ("verify",),
    ("figures", "listing"),
    ("exposition", "render"),
    ("solve", "reading"),
    ("testing", "fixtures", "check", "evaluation", "handout", "decks", "numeric_card", "new"),
    ("bank", "pool", "cache", "cluster", "warm", "settings"),
    ("dataset",),
    ("commands",),
    ("cli",),
)

# Files that still import one another, to be parted.


def unit(file: Path) -> str:
    """The stage or module that a file belongs to: the first name below ``derive``."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported(file: Path) -> frozenset[str]:
    """The modules of ours that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = list(file.relative_to(ROOT).parts[: -node.level]) if node.level else []
            origin = ".".join([*parts, *filter(None, [node.module])])
            names |= {f"{origin}.{alias.name}" for alias in node.names}
    return frozenset(n.removeprefix("derive.") for n in names if n.startswith("derive."))


def files(*places: str) -> list[Path]:
    return sorted(f for place in places for f in (PACKAGE / place).rglob("*") if f.suffix in (".py", ".txt"))


@cache
def graph() -> dict[str, frozenset[str]]:
    """The units that each unit imports."""
    edges: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        if unit(file) not in ("__init__", "__main__"):
            edges.setdefault(unit(file), set()).update(name.split(".")[0] for name in imported(file))
    return {name: frozenset(to & edges.keys()) - {name} for name, to in edges.items()}


@cache
def reached(start: str) -> frozenset[str]:
    """Every unit that a unit imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph().get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def modules() -> dict[str, frozenset[str]]:
    """The files, by their dotted names, that each file imports: anywhere in it, for its types alone too."""
    names = {".".join(f.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): f
             for f in PACKAGE.rglob("*.py")}
    return {name: frozenset(filter(None, (module_of(i, names.keys()) for i in imported(f)))) - {name}
            for name, f in names.items()}


def module_of(name: str, known: Collection[str]) -> str | None:
    """``notation.tree`` of ``notation.tree.Token``, ``notation`` of ``notation.read``."""
    parts = name.split(".")
    return next((m for n in range(len(parts), 0, -1) if (m := ".".join(parts[:n])) in known), None)


def circles() -> set[frozenset[str]]:
    """The files that import one another, through others or not."""
    found = set()
    below: dict[str, set[str]] = {}
    for start in modules():
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = modules()[waiting.pop()] - seen
            seen |= new
            waiting += new
        below[start] = seen
    for name, seen in below.items():
        if name in seen:
            found.add(frozenset(m for m in seen if name in below[m]))
    return found


def test_no_files_import_each_other() -> None:
    assert set(circles()) == set()


def test_every_unit_stands_in_a_stage() -> None:
    assert graph().keys() - {name for line in STAGES for name in line} == set()


def test_no_two_units_import_each_other() -> None:
    assert [name for name in graph() if name in reached(name)] == []


@pytest.mark.parametrize("stage", [name for line in STAGES for name in line])
def test_imports_never_point_back(stage: str) -> None:
    line = next(n for n, names in enumerate(STAGES) if stage in names)
    later = {name for names in STAGES[line + 1 :] for name in names}
    assert reached(stage) & later == set()


def test_the_second_opinion_knows_nothing_of_the_calculus() -> None:
    for file in [*files("symbolic"), PACKAGE / "numeric" / "evaluator.py"]:
        assert not [name for name in imported(file) if name.split(".")[0] == "calculus"], file


def test_the_second_opinion_reaches_no_calculus_through_others() -> None:
    assert "calculus" not in reached("symbolic")


def test_max_pooling_is_not_typed_in() -> None:
    for file in files("calculus", "symbolic", "verify", "notation"):
        assert "max_pool" not in file.read_text("utf-8"), file


def test_only_the_command_line_prints() -> None:
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        tree = ast.parse(text if re.search(r"\b(?:print|exit)\b", text) else "")
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        printed = [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id in ("print", "exit")]
        assert not printed or unit(file) in ("cli", "commands", "__main__"), f"{file}:{printed}"


def test_mathematics_never_lives_in_a_template() -> None:
    """A template may name a letter in a sentence; what is displayed comes from the sheet."""
    for file in (ROOT / "templates").rglob("*"):
        if file.is_file() and file.name not in ("preamble.tex", "macros.tex") and file.parent.name != "font":
            assert not re.search(r"\$\$|\\\[|\\begin\{(equation|align|cases)", file.read_text("utf-8")), file


def test_what_the_benchmark_imports_is_there() -> None:
    tree = ast.parse((ROOT / "tests/benchmarks/bench.py").read_text(encoding="utf-8"))
    found = [(node.module or "", name.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
             and (node.module or "").startswith(("derive", "tests")) for name in node.names]
    missing = [f"{module}.{name}" for module, name in found if not hasattr(importlib.import_module(module), name)]
    assert found and not missing
