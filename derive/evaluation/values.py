"""A file of numbers: tensors by name, in YAML, JSON or NumPy's ``.npz``."""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.errors import CardError, Problem
from derive.front_matter import read_yaml

Array = NDArray[np.float64]
_NUMBER = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|\.inf|inf|infinity)|\.?nan", re.IGNORECASE)
MAX_YAML = 1_000_000
MAX_BYTES = 200_000_000


def read_values(path: Path) -> dict[str, Array]:
    """name ↦ array of float64, as the file's extension says it is written.

    Raises :class:`CardError` where it cannot be read, is too large, is no mapping
    of names to numbers, or an array is ragged.
    """
    name = str(path)
    readers = {".npz": _npz, ".json": _json, ".yaml": _yaml, ".yml": _yaml}
    if path.suffix.lower() not in readers:
        kinds = ", ".join(f"`{suffix}`" for suffix in readers)
        raise CardError(Problem(f"the values are in an unknown format `{path.suffix}`; there are {kinds}", name))
    limit = MAX_YAML if path.suffix.lower() in (".yaml", ".yml") else MAX_BYTES
    try:
        size = path.stat().st_size
        if size > limit:
            raise CardError(Problem(f"{size:,} bytes; a file of values has at most {limit:,} here", name))
        found = readers[path.suffix.lower()](path)
    except OSError as error:
        raise CardError(Problem(f"cannot be read: {error.strerror or error}", name)) from None
    except UnicodeDecodeError:
        raise CardError(Problem("is not UTF-8; save the file as UTF-8", name)) from None
    return {key: _array(key, _infinite(value), name) for key, value in found.items()}


def _infinite(value: Any) -> Any:
    """``"Infinity"`` and ``"-Infinity"``, which JSON cannot write as numbers, as numbers."""
    if isinstance(value, list):
        return [_infinite(item) for item in value]
    return float(value) if isinstance(value, str) and value in ("Infinity", "-Infinity") else value


def _yaml(path: Path) -> Mapping[str, Any]:
    found = read_yaml(path.read_text("utf-8"), 1, str(path), "the file of values", as_written=True).values
    return {name: _numbers(value) for name, value in found.items()}


def _numbers(value: Any) -> Any:
    """``1e3`` and ``010`` are 1000 and 10, as everywhere but in YAML, which reads a text and 8."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return value
    number = float(value.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return value if math.isinf(number) and "inf" not in value.lower() else number  # 1e999 is not infinite


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise CardError(Problem(f"the file of values is not JSON: {error.msg}", str(path), error.lineno)) from None
    except RecursionError:
        raise CardError(Problem("lists in lists are too deep", str(path))) from None
    if not isinstance(found, dict):
        raise CardError(Problem('the file of values is not a mapping; write `{"x": [[1, 2], [3, 4]]}`', str(path)))
    return found


def _npz(path: Path) -> Mapping[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise CardError(Problem(f"{size:,} bytes unpacked; values have at most {MAX_BYTES:,}", str(path)))
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise CardError(Problem(f"is no `.npz` of numbers: {' '.join(str(error).split())}", str(path))) from None


def _array(name: str, value: Any, file: str) -> Array:
    """The numbers as float64, rows of one length."""
    try:
        if isinstance(value, list):
            _rectangular(value)
        array = np.asarray(value)
        if array.dtype.kind not in "iufb":
            raise ValueError("holds something that is no number")
        return array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise CardError(Problem(f"`{name}` {error}; write numbers, in lists of one length", file)) from None


def _rectangular(rows: list[Any]) -> None:
    """Raise ValueError where rows differ in length."""
    level: list[Any] = rows
    while any(isinstance(item, list) for item in level):
        lengths = [len(item) if isinstance(item, list) else None for item in level]
        odd = next((n for n in lengths if n != lengths[0]), lengths[0])
        if odd != lengths[0]:
            a, b = ("a single number" if n is None else f"a list of {n}" for n in (lengths[0], odd))
            raise ValueError(f"is ragged: {a} stands beside {b}")
        level = [inner for item in level for inner in item]
