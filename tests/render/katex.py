"""KaTeX, the strictest reader of TeX among those of Markdown, where node has it."""

from __future__ import annotations

import json
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


def refused(formulas: Iterable[tuple[bool, str]]) -> list[tuple[str, str]]:
    """Of (displayed, LaTeX) those that KaTeX does not render, with why; the test is skipped where it is missing."""
    if not _installed():
        pytest.skip("no KaTeX: npm install --no-save katex")
    done = subprocess.run(["node", "-e", _READ, str(ROOT)], input=json.dumps([*formulas]), capture_output=True, text=True,
                          timeout=120, check=True)
    return [(latex, why) for latex, why in json.loads(done.stdout)]


@cache
def _installed() -> bool:
    found = 'require.resolve("katex", { paths: [process.argv[1]] })'
    return shutil.which("node") is not None and not subprocess.run(
        ["node", "-e", found, str(ROOT)], capture_output=True, check=False).returncode
