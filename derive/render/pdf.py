"""The sheet as PDF: TeX in a folder of its own, without a shell, within a time limit."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from derive.errors import RenderError
from derive.records import dataclass
from derive.words import templates

if TYPE_CHECKING:
    from derive.render.guard import Solved

ENGINES = ("pdflatex", "lualatex")
_JOB = "sheet"
_RUNS = 4
_SECONDS = 60
_OPTIONS = ("-interaction=nonstopmode", "-halt-on-error", "-file-line-error", "-no-shell-escape")
_AGAIN = re.compile(r"Rerun to get|Rerun LaTeX|There were undefined references|Label\(s\) may have changed")
_ERROR = re.compile(rf"^(?:\./)?{_JOB}\.tex:\d+: .*|^! .*", re.M)
# Primitives that run programs or embed files (``openin_any`` does not hold for \pdfobj's): their names, wherever they
# stand, and what would build such a name of parts, in lines that no template has.
_PROGRAMS = re.compile(
    r"\\?(?<![a-zA-Z@])(?:tex_)?(?:directlua|latelua|luaexec|luadirect|luafunction\w*|lua_\w+|pdfobj|pdfprimitive|"
    r"filedump|pdffiledump|pdfextension)(?![a-zA-Z@])|\^\^|\\begin(?=\s*\{filecontents)|\\begin(?!\s*\{[a-zA-Z]+\*?\})|"
    r"\\(?:if)?csname(?![a-zA-Z@])|\\(?:string|detokenize|meaning|catcode|lowercase|uppercase|scantokens|scantextokens|"
    r"UseName|csuse|letcs|ExplSyntaxOn|makeatletter|openout|primitive)(?![a-zA-Z@])")
_OVERFULL = re.compile(r"^Overfull \\[hv]box .*", re.M)


@dataclass(frozen=True)
class Compiled:
    """A PDF and the log of its last run."""

    pdf: bytes
    log: str

    @property
    def overfull(self) -> list[str]:
        """The log's lines on boxes that stick out."""
        return _OVERFULL.findall(self.log)


def render(solution: Solved, detail: str = "standard") -> bytes:
    """The sheet as PDF; raises :class:`RenderError` without a TeX, or with TeX's first error."""
    from derive.render.latex import render as latex

    return compile_latex(latex(solution, detail)).pdf


@cache
def _own() -> frozenset[str]:
    """The lines of our templates that are TeX."""
    return frozenset(line for file in templates().rglob("*.tex") for line in file.read_text("utf-8").split("\n"))


@cache
def engine() -> str | None:
    """The TeX engine of this machine that has the packages a sheet needs, or None."""
    from derive.render.latex import PACKAGES

    found = next((name for name in ENGINES if shutil.which(name)), None)
    if found is None or shutil.which("kpsewhich") is None:
        return found
    fonts = ("luaotfload",) if found == "lualatex" else ()  # without it LuaLaTeX has no Unicode fonts
    files = [f"{name}.sty" for name in (*PACKAGES, "lmodern", "microtype", "lastpage", "parskip", *fonts)]
    try:
        listed = subprocess.run(["kpsewhich", *files], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found if len(listed.split("\n")) > len(files) else None


def compile_latex(source: str, program: str | None = None, seconds: float = _SECONDS, runs: int = _RUNS) -> Compiled:
    """Run TeX on a document until its references stand, ``runs`` times at most.

    The document reads and writes inside its own temporary folder only: commands that run programs or embed files are
    refused, and so is what builds the names of commands, outside of the lines of our own templates.

    Raises :class:`RenderError` with TeX's first error, past the time limit, or without a TeX.
    """
    found = next(filter(None, map(_PROGRAMS.search, {*source.split("\n")} - _own())), None)
    if found is not None:
        raise RenderError(f"`{found[0]}` is refused: a document that is compiled runs no programs and embeds no files")
    program = program or engine()
    if program is None:
        raise RenderError(
            "no TeX with the packages of a sheet was found; on Debian: "
            "apt-get install --no-install-recommends texlive-latex-extra lmodern"
        )
    with tempfile.TemporaryDirectory(prefix="derive-") as name:
        folder = Path(name)
        (folder / f"{_JOB}.tex").write_text(source, "utf-8")
        for _ in range(runs):
            code = _run(program, folder, seconds)
            log = _read(folder / f"{_JOB}.log")
            pdf = folder / f"{_JOB}.pdf"
            if code != 0 or not pdf.is_file():
                raise RenderError(f"{program}: {_first_error(log)}")
            if not _AGAIN.search(log):
                break
        return Compiled(pdf.read_bytes(), log)


def _run(program: str, folder: Path, seconds: float) -> int:
    settings = {
        "openin_any": "p", "openout_any": "p", "shell_escape": "f", "TEXMFOUTPUT": ".",
        "max_print_line": "1000", "error_line": "254", "half_error_line": "238",
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "0"), "FORCE_SOURCE_DATE": "1",
    }  # fmt: skip
    try:
        process = subprocess.Popen(
            [program, *_OPTIONS, f"{_JOB}.tex"], cwd=folder, env=os.environ | settings, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise RenderError(f"cannot run `{program}`: {error.strerror}") from None
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise RenderError(f"{program} did not finish within {seconds:g} s and was stopped") from None
    finally:
        if process.poll() is None:  # TeX and whatever font maker it has started
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _read(log: Path) -> str:
    return log.read_text("utf-8", errors="replace") if log.is_file() else ""


def _first_error(log: str) -> str:
    found = _ERROR.search(log)
    if found is None:
        return "no PDF was made, and the log names no error"
    at = re.search(r"^l\.\d+ (.*)$", log[found.end() :], re.M)
    return " ".join((found[0] + (f" … {at[1]}" if at and at[1].strip() else "")).split())
