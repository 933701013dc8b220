"""The notebook of the documentation, run without a kernel: ``python docs/notebook.py`` writes what its cells show."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("notebook.ipynb")
_SHOWN = {"text/html": "_repr_html_", "text/markdown": "_repr_markdown_", "text/latex": "_repr_latex_"}


def run(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """What each cell shows: the value of its last expression, in every form that it has."""
    names: dict[str, Any] = {}
    found = []
    for cell in cells:
        if cell["cell_type"] != "code":
            found.append([])
            continue
        body = ast.parse("".join(cell["source"]))
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, FILE.name, "exec"), names)  # the notebook's own code
        value = None if last is None else eval(compile(ast.Expression(last.value), FILE.name, "eval"), names)
        found.append([] if value is None else [output(value)])
    return found


def output(value: Any) -> dict[str, Any]:
    """As Jupyter writes it."""
    data = {"text/plain": repr(value)} | {
        kind: shown for kind, method in _SHOWN.items() if (shown := getattr(value, method, lambda: None)()) is not None}
    return {"output_type": "execute_result", "execution_count": None, "metadata": {},
            "data": {kind: text.splitlines(keepends=True) for kind, text in data.items()}}


def text() -> str:
    """The notebook with what its cells show now."""
    notebook = json.loads(FILE.read_text("utf-8"))
    for cell, outputs in zip(notebook["cells"], run(notebook["cells"]), strict=True):
        if cell["cell_type"] == "code":
            cell["outputs"] = outputs
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
