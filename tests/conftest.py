"""What a fresh machine has: ``--without-oracles`` hides the packages that only the tests' comparisons use.

Everything is collected then, and what names an oracle is run, itself or through a helper.
"""

from __future__ import annotations

import gc
import itertools
import re
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

ORACLES = ("torch", "jax", "jaxlib", "onnx", "symengine", "tensorflow", "scipy")
_NAMED = re.compile(rf"\b(?:{'|'.join(ORACLES)})\b")
_HELPER = re.compile(r"^\s*(?:from|import) (tests(?:\.\w+)+)", re.MULTILINE)
_ROOT = Path(__file__).parents[1]


class _Hidden(MetaPathFinder):
    """Nothing of the oracles is found."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in ORACLES:
            raise ModuleNotFoundError(f"No module named {fullname!r}: hidden by --without-oracles", name=fullname)
        return None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-card", action="store_true", help="what is tried on some of the cards is tried on all")
    parser.addoption("--without-oracles", action="store_true", help="as on a machine that has none of: " + ", ".join(ORACLES))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "some(every): of the cards one of so many, unless --every-card is given")
    gc.set_threshold(1_000_000, 20, 20)  # what a process keeps is much, and hardly any of it is garbage
    if config.getoption("--without-oracles"):
        loaded = [name for name in ORACLES if name in sys.modules]
        assert not loaded, f"loaded before they could be hidden: {loaded}"
        sys.meta_path.insert(0, _Hidden())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--every-card"):
        some = [_is_of_some(item) for item in items]
        config.hook.pytest_deselected(items=[item for item, kept in zip(items, some, strict=True) if not kept])
        items[:] = itertools.compress(items, some)
    order: dict[str, int] = {}  # what is tried on one card is tried together: it is solved once
    items.sort(key=lambda item: order.setdefault(_card(item) or item.nodeid, len(order)))
    if not config.getoption("--without-oracles"):
        return
    named = [item for item in items if _names_an_oracle(item.path)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(named)])
    items[:] = named


def _is_of_some(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("some")
    return mark is None or zlib.crc32(str(_card(item)).encode()) % mark.args[0] == 0


def _card(item: pytest.Item) -> str | None:
    """The card, or layer, of a test that has one of many."""
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    found = next((params[key] for key in ("path", "card", "name", "layer") if key in params), None)
    found = found.stem if isinstance(found, Path) else getattr(found, "name", found)
    return found if isinstance(found, str) else None


@cache
def _names_an_oracle(file: Path) -> bool:
    """The file has the name of an oracle in it, or a helper that it imports has."""
    text = file.read_text("utf-8")
    helpers = {_ROOT / (name.replace(".", "/") + ".py") for name in _HELPER.findall(text)}
    return bool(_NAMED.search(text)) or any(map(_names_an_oracle, filter(Path.is_file, helpers - {file})))
