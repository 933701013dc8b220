"""What was made of a card before, found by its content: finished bytes and JSON in a database of the user's own.

A key is a hash of all that a result depends on, this program's own files among it; so nothing is ever out of date.
Where the database cannot be read or written, everything is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import sys
import sysconfig
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from derive.words import templates

_MOST_BYTES = 500_000_000  # beyond them the older half goes
_SECONDS = 5  # that other runs are waited for


class Cache:
    """JSON by a key, in a file that several runs may use at once."""

    def __init__(self, file: Path | None = None) -> None:
        self._open: sqlite3.Connection | None = None
        with suppress(OSError, sqlite3.Error):
            place = folder() / "results.sqlite" if file is None else file
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            place.parent.chmod(0o700)
            self._open = self._database(place)

    @staticmethod
    def _database(place: Path) -> sqlite3.Connection:
        for again in (True, False):
            opened = sqlite3.connect(place, timeout=_SECONDS, isolation_level=None)
            try:
                opened.execute("PRAGMA journal_mode = WAL")
                opened.execute("PRAGMA synchronous = OFF")  # a lost result is made again
                opened.execute("CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, made REAL, data BLOB)")
                return opened
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:  # no database any more, as after a full disk
                opened.close()
                place.unlink()
                if not again:
                    raise
        raise AssertionError

    def has(self, key: str) -> bool:
        with suppress(sqlite3.Error):
            if self._open is not None:
                return self._open.execute("SELECT 1 FROM results WHERE key = ?", (key,)).fetchone() is not None
        return False

    def get(self, key: str) -> Any:
        """What was put under the key, or None."""
        with suppress(sqlite3.Error, zlib.error, ValueError):
            if self._open is not None:
                row = self._open.execute("SELECT data FROM results WHERE key = ?", (key,)).fetchone()
                return None if row is None else json.loads(zlib.decompress(row[0]))
        return None

    def put(self, key: str, value: Any) -> None:
        """Keep a value that JSON can say."""
        data = zlib.compress(json.dumps(value, ensure_ascii=True).encode(), 1)
        with suppress(sqlite3.Error):
            if self._open is not None:
                made = "julianday('now')"
                self._open.execute(f"INSERT OR REPLACE INTO results VALUES (?, {made}, ?)", (key, data))

    def close(self) -> None:
        with suppress(sqlite3.Error):
            if self._open is not None:
                ((size,),) = self._open.execute("SELECT total(length(data)) FROM results").fetchall()
                if size > _MOST_BYTES:
                    self._open.execute("DELETE FROM results WHERE made < (SELECT avg(made) FROM results)")
                self._open.close()


def folder() -> Path:
    """The platform's folder for what can be made again."""
    from platformdirs import user_cache_path

    return user_cache_path("derive", appauthor=False)


def hashed(*parts: Any) -> str:
    """The hash of the parts, texts and bytes and tuples of them, and of the program that works on them."""
    return hashlib.sha256(repr((_program(), *parts)).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _program() -> str:
    """A hash of our files and of the versions of what there is beside them: that of a checkout says nothing."""
    return hashlib.sha256(repr((sys.version, sorted(_installed()), program())).encode()).hexdigest()


@cache
def program() -> str:
    """A hash of our files and of the versions of what they need, the same on every machine that has these."""
    found = hashlib.sha256(repr((sys.version_info[:2], _needed())).encode())
    package, words = str(Path(__file__).resolve().parent), str(templates())
    for name, file in sorted([*_files(package, words), *_files(words)]):
        found.update(f"\n{name}\n".encode("utf-8", "surrogateescape"))
        found.update(Path(file).read_bytes())
    return found.hexdigest()


def _files(folder: str, without: str = "") -> Iterator[tuple[str, str]]:
    """The files of a folder by their names in it, but for those of a folder inside."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and os.path.join(place, name) != without]
        yield from ((os.path.relpath(os.path.join(place, name), folder), os.path.join(place, name)) for name in names)


def _needed() -> list[tuple[str, str]]:
    """The packages that ours names, with their versions; none where it is not installed."""
    from importlib.metadata import PackageNotFoundError, requires, version

    with suppress(PackageNotFoundError):
        stated = [line for line in requires("derive-sheets") or () if "extra ==" not in line]
        return [(name, version(name)) for name in (re.split(r"[^\w.-]", line)[0] for line in stated)]
    return []


def _installed() -> list[str]:
    return [name for name in os.listdir(sysconfig.get_path("purelib")) if name.endswith(".dist-info")]
