"""The documentation: every command and every line of Python in it is run, and what stands below a command is what it prints."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shlex
import shutil
import struct
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

import derive
from derive.cli import main
from derive.fixtures import derived  # noqa: F401  # for the example with pytest
from derive.render import available
from tests.bank import ROOT

PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
FENCE = re.compile(r"(?:(?P<said>[^\n]*)\n\s*\n)?^```(?P<language>\{?[\w-]+\}?)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w./-]+\.(?:md|yaml|toml|py))`[^`]*$")
HERE = {"limits": 0, "jobs": 1, "no_cache": True, "formats": "md"}  # in this process, and what is quickly made
ELSEWHERE = ("make",)
GALLERY = ROOT / "output" / "gallery"


@dataclass(frozen=True)
class Fence:
    """A block of code; ``said`` is the line above it, which may name its file."""

    language: str
    text: str
    said: str


def fences(page: Path) -> list[Fence]:
    return [Fence(m["language"], m["text"], m["said"] or "") for m in FENCE.finditer(page.read_text("utf-8"))]


def place(fence: Fence, page: Path) -> str:
    """The name of the file that a block is."""
    named = NAMED.search(fence.said)
    return named[1] if named else ""


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "cards", tmp_path / "cards")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    return tmp_path


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if fences(p)], ids=name_of)
def test_what_a_page_says_is_so(page: Path, bank: Path) -> None:
    names: dict[str, Any] = {}
    for fence in fences(page):
        if fence.language == "console":
            for command, output in commands(fence.text):
                ran(command, output)
        elif fence.language in ("markdown", "toml", "yaml") and (file := place(fence, page)):
            (bank / file).parent.mkdir(parents=True, exist_ok=True)
            (bank / file).write_text(fence.text, "utf-8")
        elif fence.language == "python":
            exec(compile(fence.text, str(page), "exec"), names)
        elif fence.language == "pycon":
            shown(fence.text, names, page)
        else:
            assert fence.language in ("text", "{help}", "{gallery}", "{notebook}", "{eval-rst}", "{include}", "{toctree}"), fence
    for name, test in names.items():
        if name.startswith("test_"):
            test(lambda layer: derive.solve(derive.layer(layer)))


def commands(text: str) -> list[tuple[str, str]]:
    """(command, what it prints) of a block."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def ran(command: str, output: str) -> None:
    """Run one; its comment says the exit code where it is not 0."""
    line, _, comment = command.partition("#")
    program, *arguments = shlex.split(line)
    if program in ELSEWHERE:
        assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), command
        return
    assert program == "derive", command
    result = CliRunner().invoke(main, arguments, default_map=dict.fromkeys(main.list_commands(None), HERE))  # type: ignore[arg-type]
    code = re.search(r"exit code (\w+)", comment)
    assert code is not None and code[1] == "any" or result.exit_code == int(code[1] if code else 0), (command, result.output, result.exception)
    if output.strip():
        pattern = re.sub(r"([\[\]*?])", r"[\1]", spaced(output)).replace("…", "*")
        assert fnmatchcase(spaced(result.output), pattern), f"{command}\n{result.output}"


def spaced(text: str) -> str:
    return " ".join(text.split())


def shown(text: str, names: dict[str, Any], page: Path) -> None:
    test = doctest.DocTestParser().get_doctest(text.replace("…", "..."), names, page.name, str(page), 0)
    failed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=failed.append, clear_globs=False)
    names.update(test.globs)
    assert not failed, "".join(failed)


# --- the first page ------------------------------------------------------------


def test_the_first_page_is_short_and_what_it_points_at_is_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 100
    assert len(re.findall(r"^\| \[!|\| \[!", text, re.MULTILINE)) == 9


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    prose = FENCE.sub("", page.read_text("utf-8"))
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)|\{download\}`[^`]*<([^>]+)>`", prose)
    assert [link for pair in links for link in pair if link and ":" not in link and not (page.parent / link).exists()] == []


def test_the_formulas_of_the_first_page_are_those_of_the_sheet() -> None:
    (card,) = (f.text for f in fences(ROOT / "README.md") if "id: neuron" in f.text)
    sheet = spaced(str(derive.render(derive.solve(derive.Card.parse(card)), "md")))
    (displayed,) = re.findall(r"^\$\$\n(.*?)\n\$\$$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for formula in displayed.split(r", \qquad"):
        assert spaced(formula) in sheet


# --- the notebook, the gallery ---------------------------------------------------


@cache
def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_notebook_shows_what_its_cells_give() -> None:
    notebook = script("notebook")
    assert notebook.text() == notebook.FILE.read_text("utf-8"), "`make gallery` writes it anew"
    assert sum(cell["cell_type"] == "code" for cell in json.loads(notebook.text())["cells"]) > 3


def test_the_gallery_has_its_pictures_and_the_first_page_shows_them() -> None:
    pictures, text = script("pictures"), (ROOT / "README.md").read_text("utf-8")
    for name in ("card_to_answer", *pictures.THUMBNAILS, *pictures.HANDOUTS):
        data = (GALLERY / "pictures" / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG") and struct.unpack(">2I", data[16:24])[0] >= 500
        assert f"pictures/{name}.png" in text or name == "handout"
    for card, _ in pictures.THUMBNAILS.values():
        assert f"gallery/{derive.Card.read(card).stem}.md" in text


@pytest.mark.parametrize("name", ["handout", "marking"])
def test_the_gallery_s_handouts_are_those_of_today(name: str) -> None:
    pictures = script("pictures")
    assert (GALLERY / f"{name}.tex").read_text("utf-8") == pictures.handout(pictures.HANDOUTS[name]), "`make gallery` writes them anew"


def test_a_picture_can_be_made(tmp_path: Path) -> None:
    if shutil.which("pdftoppm") is None or "pdf" not in available():
        pytest.skip("pictures need a TeX and pdftoppm")
    script("pictures").thumbnail(ROOT / "cards/activations/relu_layer.md", r"\section{Solution}", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


# --- the package -------------------------------------------------------------------


def test_a_citation_and_the_package_say_the_same() -> None:
    import tomllib

    import yaml

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert citation["authors"] == project["authors"] and citation["cff-version"] == "1.2.0"


def test_the_reference_names_every_key_and_the_contents_every_page() -> None:
    from derive import question, settings

    reference = ROOT / "docs" / "reference"
    for file, keys in (("cards.md", question.KEYS), ("settings.md", settings.KEYS)):
        text = (reference / file).read_text("utf-8")
        assert [key for key in keys if f"`{key}`" not in text] == [], file
    contents = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = [p.relative_to(ROOT / "docs").with_suffix("").as_posix() for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts]
    assert [page for page in pages if page != "index" and f"\n{page}\n" not in contents] == []


def test_the_workflow_runs_what_ci_runs() -> None:
    import yaml

    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    assert "bash .ci/run" in [step.get("run") for step in jobs["test"]["steps"]] and (ROOT / ".ci" / "run").is_file()
    assert "derive read CARD" in (ROOT / ".github" / "ISSUE_TEMPLATE" / "misread.md").read_text("utf-8")


@pytest.mark.parametrize(("line", "begun", "whole"), [([], "so", "solve"), (["evaluate"], "--r", "--random"), (["solve", "cards"], "--dr", "--dry-run")])
def test_a_shell_completes_what_is_begun(line: list[str], begun: str, whole: str) -> None:
    from click.shell_completion import ShellComplete

    assert whole in [found.value for found in ShellComplete(main, {}, "derive", "_DERIVE_COMPLETE").get_completions(line, begun)]
