"""KaTeX, the strictest reader of TeX among those of Markdown, where node has it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache

import pytest

from tests.bank import ROOT

_READ = """
const katex = require(require.resolve("katex", { paths: [process.argv[1]] })), fs = require("fs");
const refused = JSON.parse(fs.readFileSync(0, "utf8")).flatMap(([display, latex]) => {
  try { katex.renderToString(latex, { displayMode: display, strict: "error", throwOnError: true }); return []; }
  catch (error) { return [[latex, String(error)]]; }
});
console.log(JSON.stringify(refused));
"""

# GitHub says “The following macros are not allowed” of these
_REFUSED_BY_GITHUB = """operatorname DeclareMathOperator newcommand renewcommand providecommand newenvironment def gdef edef
    xdef let futurelet mbox hbox fbox phantom hphantom vphantom smash raise lower href url class cssId style data require
    unicode bbox tag label ref eqref""".split()
_INLINE = re.compile(r"(?<![\\$])\$(?!\$)([^$\n]+)\$(?!\$)")
_DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def formulas(markdown: str) -> set[tuple[bool, str]]:
    """Those of a text as (displayed, LaTeX)."""
    text = _CODE.sub("", markdown)
    return {(True, f) for f in _DISPLAYED.findall(text)} | {(False, f) for f in _INLINE.findall(_DISPLAYED.sub("", text))}


def refused_by_github(markdown: str) -> list[str]:
    """Macros that GitHub does not take, and formulas in a line with ``\\\\``, of which Markdown makes one backslash."""
    found = formulas(markdown)
    macros = {m for _, latex in found for m in re.findall(r"\\([a-zA-Z]+)", latex)} & {*_REFUSED_BY_GITHUB}
    return sorted(macros) + [latex for displayed, latex in found if not displayed and "\\\\" in latex]


def refused(formulas: Iterable[tuple[bool, str]]) -> list[tuple[str, str]]:
    """Of (displayed, LaTeX) those that KaTeX does not render, with why; the test is skipped where it is missing."""
    if not installed():
        pytest.skip("no KaTeX: npm install --no-save katex")
    done = subprocess.run(["node", "-e", _READ, str(ROOT)], input=json.dumps([*formulas]), capture_output=True, text=True,
                          timeout=120, check=True)
    return [(latex, why) for latex, why in json.loads(done.stdout)]


@cache
def installed() -> bool:
    found = 'require.resolve("katex", { paths: [process.argv[1]] })'
    return shutil.which("node") is not None and not subprocess.run(
        ["node", "-e", found, str(ROOT)], capture_output=True, check=False).returncode
