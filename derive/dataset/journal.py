"""A run on its way: a file of lines, one for each layer that was drawn, with its row or with why there is none.

What is in it is a run's beginning, whatever stopped it: the next one goes on behind the last whole line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from derive.cache import program
from derive.errors import CardError, Problem, unwritten


class Journal:
    """The lines of a run of this seed, by this program; ``seen`` holds the keys of their layers."""

    def __init__(self, path: Path, seed: int, most: int) -> None:
        self.path, self.seen, self.rows, self.last = path, set[str](), 0, -1
        self._head = {"seed": seed, "program": program()}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("r+b" if path.exists() else "w+b")
        except OSError as error:
            raise unwritten(error, path) from None
        self._go_on(most)

    def _go_on(self, most: int) -> None:
        """Take up what there is: as many rows as are wanted, and no half line."""
        end = 0
        for line in self._lines():
            if end == 0 and line != self._head:
                self._file.close()
                raise CardError(Problem("is of another seed, or was begun by another version of this program or of "
                                        "what it needs; delete it to begin anew", str(self.path)))
            if end and self.rows < most:
                self._noted(line)
            elif end:
                break
            end = self._file.tell()
        self._file.seek(end)
        self._file.truncate()
        if end == 0:
            self._put(self._head)

    def _lines(self) -> Iterator[Any]:
        self._file.seek(0)
        while (line := self._file.readline()).endswith(b"\n"):
            try:
                found = json.loads(line)
            except ValueError:
                return
            yield found

    def _noted(self, line: Any) -> None:
        self.last = line["number"]
        self.seen.add(line["key"])
        self.rows += "row" in line

    def add(self, number: int, key: str, row: str) -> None:
        """A layer that was drawn, and its row as JSON."""
        self._add({"number": number, "key": key, "row": json.loads(row)})

    def left(self, number: int, key: str, why: str) -> None:
        """A layer that was drawn and has no row."""
        self._add({"number": number, "key": key, "why": why})

    def _add(self, line: Any) -> None:
        self._noted(line)
        self._put(line)

    def _put(self, line: Any) -> None:
        try:
            self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise unwritten(error, self.path) from None

    def __iter__(self) -> Iterator[Any]:
        """The lines behind the first, from the beginning."""
        lines = self._lines()
        next(lines)
        yield from lines

    def close(self) -> None:
        self._file.close()

    def remove(self) -> None:
        """The run is over, and what it made has its own file."""
        self.close()
        os.unlink(self.path)
