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
    assert CHROMIUM is not None
    body = f"""
    addEventListener("load", async () => {{
      await document.fonts.ready;
      const data = {json.dumps(data)};
      let result;
      try {{ result = await (async () => {{ {script} }})(); }} catch (error) {{ result = {{ error: String(error) }}; }}
      const place = document.createElement("pre");
      place.id = "result";
      place.textContent = JSON.stringify(result);
      document.body.append(place);
    }});"""
    digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    admitted = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    admitted = admitted.replace("</body>", f"<script>{body}</script></body>")
    with tempfile.TemporaryDirectory(prefix="derive-page-") as folder:
        file = Path(folder) / "page.html"
        file.write_text(admitted, "utf-8")
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                   f"--window-size={width},1000", "--enable-blink-features=ComputedAccessibilityInfo",
                   "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", file.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = _RESULT.search(done.stdout)
    assert found is not None, done.stderr[-2000:]
    return Visit(json.loads(html.unescape(found[1])), _CONSOLE.findall(done.stderr))
