"""A page in headless Chromium: what a script finds on it, and what the browser complains of."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next((p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p)), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; on Debian: apt-get install chromium")
_RESULT = re.compile(r'<pre id="result">(.*?)</pre>', re.S)
_CONSOLE = re.compile(r"CONSOLE.*")


@dataclass(frozen=True)
class Visit:
    result: Any
    complaints: list[str]


def visit(page: str, script: str, data: Any = None, width: int = 900) -> Visit:
    """Open the page, run the body of a function of ``data``, and bring back what it returns.

    The page's own policy stays in force; the script alone is admitted to it.
    """
    shown = """
      const place = document.createElement("pre");
      place.id = "result";
      place.textContent = JSON.stringify(result);
      document.body.append(place);"""
    return _opened({"page.html": _admitted(page, script, data, shown)}, width)


def visits(pages: Sequence[tuple[str, int]], script: str, data: Sequence[Any] = ()) -> Visit:
    """The same of several pages, each in a frame of its width: one start of the browser, a list of results."""
    files = {f"{n}.html": _admitted(page, script, data[n] if data else None, f"parent.postMessage([{n}, result], '*');")
             for n, (page, _) in enumerate(pages)}
    frames = "".join(f'<iframe src="{n}.html" width="{width}" height="1000" style="border: 0"></iframe>'
                     for n, (_, width) in enumerate(pages))
    files["page.html"] = f"""<!doctype html><body><pre id="result"></pre><script>
      const results = [];
      addEventListener("message", ({{ data: [n, result] }}) => {{
        results[n] = result;
        if (Object.keys(results).length === {len(pages)})
          document.getElementById("result").textContent = JSON.stringify(results);
      }});
    </script>{frames}</body>"""
    return _opened(files, 1200)


def _admitted(page: str, script: str, data: Any, shown: str) -> str:
    """The page with a script that runs ``script`` once all is loaded, and hands ``result`` to ``shown``."""
    body = f"""
    addEventListener("load", async () => {{
      await document.fonts.ready;
      const data = {json.dumps(data)};
      let result;
      try {{ result = await (async () => {{ {script} }})(); }} catch (error) {{ result = {{ error: String(error) }}; }}
      {shown}
    }});"""
    digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    admitted = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    return admitted.replace("</body>", f"<script>{body}</script></body>")


def _opened(files: Mapping[str, str], width: int) -> Visit:
    """What ``page.html`` has in its place for the result once it is at rest."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(prefix="derive-page-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                   f"--window-size={width},1000", "--enable-blink-features=ComputedAccessibilityInfo",
                   "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom",
                   (Path(folder) / "page.html").as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = _RESULT.search(done.stdout)
    assert found is not None and found[1], done.stderr[-2000:]
    return Visit(json.loads(html.unescape(found[1])), _CONSOLE.findall(done.stderr))
