"""The templates are found in a checkout, an editable install and a wheel."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import jinja2
import pytest

from derive.errors import RenderError
from derive.words import environment, templates

ROOT = Path(__file__).parents[1]
SHOW = "from derive.words import templates; print(templates())"
needs_hatchling = pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="no hatchling")


def found_from(*folders: Path) -> Path:
    """The templates that a fresh interpreter finds with ``folders`` first on its path."""
    code = f"import sys; sys.path[:0] = {list(map(str, folders))!r}; {SHOW}"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    return Path(done.stdout.strip())


def wheel(version: str, folder: Path) -> Path:
    """The wheel that hatchling builds, unpacked."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", f"wheel:{version}", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    zipfile.ZipFile(built).extractall(folder / "site")
    return folder / "site"


def test_in_a_checkout() -> None:
    assert templates() == ROOT / "templates"
    assert found_from(ROOT) == ROOT / "templates"


@needs_hatchling
def test_in_an_editable_install(tmp_path: Path) -> None:
    site = wheel("editable", tmp_path)
    (link,) = site.glob("*.pth")
    assert found_from(site, Path(link.read_text().strip())) == ROOT / "templates"


@needs_hatchling
def test_in_a_wheel(tmp_path: Path) -> None:
    site = wheel("standard", tmp_path)
    assert found_from(site) == (site / "derive" / "templates").resolve()
    for kind in ("templates/**/*.*", "derive/**/*.txt", "derive/**/*.lark"):
        for file in ROOT.glob(kind):
            inside = file.relative_to(ROOT)
            assert (site / "derive" / inside if inside.parts[0] == "templates" else site / inside).is_file()


def test_an_undefined_word_is_an_error() -> None:
    template = environment("pages").from_string("{{ nothing }}")
    with pytest.raises(jinja2.UndefinedError):
        template.render()


def test_an_unknown_folder_is_an_error() -> None:
    with pytest.raises(RenderError, match="templates/xx"):
        environment("xx")


def test_an_environment_is_made_once() -> None:
    assert environment("pages") is environment("pages")
