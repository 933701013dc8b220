"""Numbers for the letters of a layer: read from a file, and their shapes held against each other."""

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

from derive.axes import Slot, axes
from derive.card import refuse_streams
from derive.errors import CardError, Problem
from derive.expr import Num
from derive.module import Module
from derive.notation.symbols import latex_of
from derive.numeric.shapes import as_array, rank
from derive.render.unicode import inline
from derive.sections import read_yaml

Array = NDArray[np.float64]
_NUMBER = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|\.inf|inf|infinity)|\.?nan", re.IGNORECASE)
MAX_YAML = 200_000  # as it is read slowly; more numbers stand in JSON or `.npz`
MAX_BYTES = 200_000_000
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


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
        refuse_streams(path)
        size = path.stat().st_size
        if size > limit:
            raise CardError(Problem(f"{size:,} bytes; a file of values has at most {limit:,} here", name))
        found = readers[path.suffix.lower()](path)
    except OSError as error:
        raise CardError(Problem(f"cannot be read: {error.strerror or error}", name)) from None
    except UnicodeDecodeError:
        raise CardError(Problem("is not UTF-8; save the file as UTF-8", name)) from None
    try:
        return {key: _array(key, _infinite(value), name) for key, value in found.items()}
    except RecursionError:
        raise CardError(Problem("lists in lists are too deep", name)) from None


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
    text = path.read_text("utf-8-sig")
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise CardError(Problem(f"the file of values is not JSON: {error.msg}", str(path), error.lineno)) from None
    except ValueError as error:  # a number of thousands of digits, too
        raise CardError(Problem(f"the file of values cannot be read: {error}", str(path))) from None
    except RecursionError:
        raise CardError(Problem("lists in lists are too deep", str(path))) from None
    if not isinstance(found, dict):
        raise CardError(Problem('the file of values is not a mapping; write `{"x": [[1, 2], [3, 4]]}`', str(path)))
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key `{name}` is written twice; keep one")
        found[name] = value
    return found


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"`{text}` is too large for a number; write `Infinity` where that is meant")
    return number


def _npz(path: Path) -> Mapping[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_false_sizes(archive)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except OSError:
        raise
    except Exception as error:  # whatever a file that is none does to its readers
        raise CardError(Problem(f"is no `.npz` of numbers: {' '.join(str(error).split())}", str(path))) from None


def _refuse_false_sizes(archive: zipfile.ZipFile) -> None:
    """Raise ValueError where arrays are too large, or hold other than their headers say: that would be allocated."""
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    if size > MAX_BYTES:
        raise ValueError(f"{size:,} bytes unpacked; values have at most {MAX_BYTES:,}")
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("two arrays of one name")
    for entry in entries:
        with archive.open(entry) as file:
            if not entry.filename.endswith(".npy"):
                continue
            version = np.lib.format.read_magic(file)
            if version not in _HEADERS:
                raise ValueError(f"`{entry.filename}` has version {version[0]}.{version[1]}, which no numbers need")
            shape, _, dtype = _HEADERS[version](file)
            if math.prod(shape) * dtype.itemsize != entry.file_size - file.tell() and not dtype.hasobject:
                raise ValueError(f"`{entry.filename}` says that its shape is {shape}, and holds other than that")


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


def letter(module: Module, name: str) -> str:
    """A tensor's letter in LaTeX: ``\\hat{y}`` for ``y_hat``."""
    symbol = module.table.named(name)
    return symbol.latex if symbol is not None else latex_of(name)


def shown(module: Module, name: str) -> str:
    """A tensor's letter as it is written: ``ŷ`` for ``y_hat``."""
    symbol = module.table.named(name)
    return inline(symbol.latex) if symbol is not None else name


def named(module: Module, values: Mapping[str, object]) -> tuple[dict[str, object], object]:
    """(arrays by the layer's own names, upstream gradient or None).

    A letter may be given as the card writes it (``γ`` or ``\\gamma``) or by its name (``gamma``).
    """
    own: dict[str, str] = {}
    for name in module.passed:
        symbol = module.table.named(name)
        own |= {name: name, shown(module, name): name, symbol.latex if symbol else name: name}
    delta = f"delta_{module.output}"
    ours = {"upstream", delta, f"δ_{shown(module, module.output)}"}
    unknown = [key for key in values if key not in own and key not in ours]
    problems = [f"unknown tensor `{key}`; the layer takes {_list(module)} and `upstream`" for key in unknown]
    found = {own[key]: value for key, value in values.items() if key in own}
    missing = [name for name in module.passed if name not in found]
    problems += [f"`{name}` is missing; the layer takes {_list(module)}" for name in missing]
    upstreams = [value for key, value in values.items() if key in ours]
    if len(upstreams) > 1:
        problems.append(f"the upstream gradient is given twice; keep `upstream` or `{delta}`")
    if problems:
        raise CardError(*problems)
    return found, upstreams[0] if upstreams else None


def _list(module: Module) -> str:
    return ", ".join(f"`{name}`" for name in module.passed)


def checked(module: Module, arrays: Mapping[str, object]) -> dict[str, Array]:
    """The arrays as float64; raises :class:`CardError` where a shape is not the expected one, all of them at once."""
    found = axes(module)
    known: dict[Slot, tuple[str, int]] = {}
    problems: list[str] = []
    made = {name: _floats(name, arrays[name]) for name in module.given}
    for name, array in made.items():
        own = rank(module, name)
        expected = [_extent(module, name, d, known) for d in range(own)]
        fits = array.ndim == own and all(e is None or e == n for e, n in zip(expected, array.shape, strict=True))
        if not fits:
            problems.append(f"`{name}` has shape {_shape(array.shape)}, but {_expected(module, name, expected, known)}")
        elif 0 in array.shape:
            problems.append(f"`{name}` has shape {_shape(array.shape)}: it is empty")
        else:
            for d, n in enumerate(array.shape):
                known.setdefault(found.of(name, d), (name, n))
    if problems:
        raise CardError(*problems)
    numbers = {name: np.asarray(arrays[name], np.float64) for name, _ in module.steps}
    return {name: as_array(module, name, array) for name, array in made.items()} | numbers


def _extent(module: Module, name: str, axis: int, known: Mapping[Slot, tuple[str, int]]) -> int | None:
    """The extent that the formula or another array gives to an axis."""
    found = axes(module)
    size = found.size(name, axis)
    if isinstance(size, Num):
        return int(size.value)
    return known[found.of(name, axis)][1] if found.of(name, axis) in known else None


def _expected(module: Module, name: str, expected: list[int | None], known: Mapping[Slot, tuple[str, int]]) -> str:
    """What the shape should be, and which tensor says so."""
    found = axes(module)
    symbol = module.table.named(name)
    sizes = symbol.sizes if symbol is not None and len(symbol.sizes) == len(expected) else ("…",) * len(expected)
    shape = _shape(tuple(n if n is not None else str(size) for n, size in zip(expected, sizes, strict=True)))
    others = dict.fromkeys(known[slot][0] for d in range(len(expected)) if (slot := found.of(name, d)) in known)
    because = " to fit " + " and ".join(f"`{other}`" for other in others) if others else ""
    return f"{shape} is expected{because}"


def _shape(shape: tuple[int | str, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def upstream_of(module: Module, given: object, output: Array) -> Array:
    """The upstream gradient in the output's shape; ones unless given."""
    if given is None:
        return np.ones_like(output)
    delta = _floats("upstream", given)
    if delta.shape != output.shape:
        expected = f"{_shape(output.shape)} is expected, that of the output `{module.output}`"
        raise CardError(f"`upstream` has shape {_shape(delta.shape)}, but {expected}")
    return as_array(module, f"delta_{module.output}", delta)


def _floats(name: str, value: object) -> Array:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise CardError(f"`{name}` is not an array of numbers") from None
