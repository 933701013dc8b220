"""Files of rows: JSON lines, and Parquet; row by row, so that the memory does not grow with their number."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from derive.errors import CardError, known, unwritten

_TOGETHER = 256  # rows of a group of a Parquet file
Row = dict[str, Any]


def _json_lines(rows: Iterable[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _parquet(rows: Iterable[Row], path: Path) -> None:
    import pyarrow as arrow
    import pyarrow.parquet

    text, texts = arrow.string(), arrow.list_(arrow.string())
    line = arrow.struct({"part": text, "rules": texts, "latex": text, "verdict": text, "follows": arrow.int32()})
    tensor = arrow.struct({"name": text, "part": text, "shape": arrow.list_(arrow.int32()),
                           "values": arrow.list_(arrow.float64())})
    wrong = arrow.struct({"mistake": text, "likely": text, "line": arrow.int32(), "counterexample": text,
                          "solution": arrow.list_(line)})
    schema = arrow.schema({
        "id": text, "key": text, "layer": text, "functions": texts,
        "questions": arrow.list_(arrow.struct({"wording": text, "text": text})), "statement": text,
        "solution": arrow.list_(line), "answer": arrow.list_(arrow.struct({"latex": text, "verdict": text})),
        "numbers": arrow.struct({"exact": arrow.bool_(), "tensors": arrow.list_(tensor)}),
        "wrong": arrow.list_(wrong)})  # fmt: skip
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as file:
        rest = iter(rows)
        while some := [*islice(rest, _TOGETHER)]:
            file.write_table(arrow.Table.from_pylist(some, schema=schema))


_WRITERS: dict[str, Callable[[Iterable[Row], Path], None]] = {".jsonl": _json_lines, ".parquet": _parquet}


def ready(path: Path) -> None:
    """Raise :class:`CardError` for a file that is none of these, and where a package that it needs is missing."""
    known("format", path.suffix.lower(), tuple(_WRITERS))
    if path.suffix.lower() == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise CardError("`.parquet` needs the extra `data`: `pip install 'derive-sheets[data]'`") from None


def write(rows: Iterable[Row], path: Path) -> None:
    """The file, whole or not at all; raises :class:`CardError` where it cannot be written."""
    beside = path.with_name(f"{path.name}.new")
    try:
        _WRITERS[path.suffix.lower()](rows, beside)
        os.replace(beside, path)
    except OSError as error:
        raise unwritten(error, path) from None
    finally:
        with suppress(OSError):
            beside.unlink()
