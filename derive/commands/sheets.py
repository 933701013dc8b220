"""The sheets of one card, made apart from the files: what a process of a pool does, and what a cache keeps."""

from __future__ import annotations

import base64
import gc
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, fields, replace
from typing import Any, Generic, NamedTuple, TypeVar

from derive import cluster, errors
from derive.cache import Cache, hashed
from derive.card import Card
from derive.errors import CardError, DeriveError, Problem
from derive.pool import Limits, results
from derive.records import dataclass
from derive.statement import Statement

T = TypeVar("T")
R = TypeVar("R")

# what is known of a card once and for all; a tool may work, a limit be enough, the next time
_LASTING = ("CardError", "OpenError", "UnsupportedError", "VerificationError")


@dataclass(frozen=True)
class Task:
    """A card, and all else that its sheets depend on."""

    text: str
    path: str
    formats: tuple[str, ...]
    detail: str
    tie_rule: str | None = None
    code: bool | None = None
    statement: Statement | None = None
    usual_tie_rule: str | None = None  # where the card says none
    language: str | None = None
    usual_language: str | None = None  # where the card says none

    @property
    def key(self) -> str:
        tool = (_engine(), os.environ.get("SOURCE_DATE_EPOCH")) if "pdf" in self.formats else None
        said = None if self.statement is None else _each(self.statement)
        return hashed(tool, said, _each(replace(self, statement=None)))


def _each(record: Task | Statement) -> list[Any]:
    """All that it holds, what does not count in a comparison, too."""
    return [getattr(record, field.name) for field in fields(record)]


@dataclass(frozen=True)
class Sheets:
    """What was derived, how many equations were proved and tested, and each format's files; the sheet's name is "".

    Of a format that collects the cards of a run, this is the card's part of it.
    """

    derived: str
    proved: int
    tested: int
    files: Mapping[str, Mapping[str, str | bytes]]
    seconds: float = 0.0  # that it took; 0 of what was there


def sheets(task: Task) -> Sheets:
    """Solve the card and render its sheets; raises :class:`DeriveError` with the place in its file."""
    from derive.render import COLLECTED, files, part, render
    from derive.solve import solve
    from derive.verify.report import Verdict

    gc.set_threshold(1_000_000, 20, 20)  # start-up makes many objects that stay: visiting them again is waste
    start = time.perf_counter()
    card = Card.parse(task.text, task.path)
    try:
        solution = solve(card, statement=task.statement, tie_rule=task.tie_rule, usual_tie_rule=task.usual_tie_rule,
                         code=task.code, language=task.language, usual_language=task.usual_language)
    except CardError as error:
        if all((p.line or 0) < card.question_line for p in error.problems):
            raise
        raise errors.OpenError(*error.problems) from error
    try:
        made = {f: {"": part(solution, f, task.detail)} if f in COLLECTED else
                {"": render(solution, f, task.detail), **files(solution, f, task.detail)} for f in task.formats}
    except DeriveError as error:
        raise error.located(task.path, card.question_line) from error
    proved, tested = (len(solution.report.equations(v)) for v in (Verdict.PROVED, Verdict.TESTED))
    return Sheets(solution.derived, proved, tested, made, time.perf_counter() - start)


def made(tasks: Sequence[Task], limits: Limits, workers: int | str, cached: bool = True,
         debug: bool = False) -> Generator[Sheets | DeriveError, None, None]:  # fmt: skip
    """The sheets of each card, in order; what was made before is looked up.  ``debug``: here, and errors are raised.

    ``workers`` is a number of processes, or the address of a cluster; raises :class:`DeriveError` where that is lost.
    """
    keys = [task.key if cached and not debug else "" for task in tasks]
    yield from looked_up(Work(sheets, as_json, from_json), tasks, keys, limits, workers, cached, debug)


class Work(NamedTuple, Generic[T, R]):
    """A function of a module that makes something of a task, and how a cache keeps it."""

    make: Callable[[T], R]
    as_json: Callable[[R], Any]
    from_json: Callable[[Any], R]

    def kept(self, made: R | DeriveError) -> Any:
        """What a cache keeps of it; None of what may end otherwise the next time."""
        if not isinstance(made, DeriveError):
            return self.as_json(made)
        name = type(made).__name__
        return {"error": name, "problems": [asdict(p) for p in made.problems]} if name in _LASTING else None

    def found(self, kept: Any) -> R | DeriveError:
        """The inverse of :meth:`kept`."""
        if "error" not in kept:
            return self.from_json(kept)
        error: DeriveError = getattr(errors, kept["error"])(*(Problem(**p) for p in kept["problems"]))
        return error


def looked_up(work: Work[T, R], tasks: Sequence[T], keys: Sequence[str], limits: Limits, workers: int | str,
              cached: bool = True, debug: bool = False) -> Generator[R | DeriveError, None, None]:  # fmt: skip
    """What is made of each task, in order; what was made before is found by its key.  As :func:`made`."""
    if debug:
        yield from map(work.make, tasks)
        return
    cache = Cache() if cached else None
    there = [cache is not None and cache.has(key) for key in keys]
    unknown = [task for task, known in zip(tasks, there, strict=True) if not known]
    new = (cluster.results(work.make, unknown, limits, workers) if isinstance(workers, str)
           else results(work.make, unknown, limits, workers))
    with closing(new), closing(cache) if cache else nullcontext():
        for task, key, known in zip(tasks, keys, there, strict=True):
            found = cache.get(key) if cache and known else None
            if found is not None:
                yield work.found(found)
                continue
            (result,) = results(work.make, [task], limits) if known else (next(new),)
            kept = work.kept(result)
            if cache and kept is not None:
                cache.put(key, kept)
            yield result


def as_json(made: Sheets) -> Any:
    """What a cache keeps of them."""
    files = {f: {name: _packed(data) for name, data in some.items()} for f, some in made.files.items()}
    return {"derived": made.derived, "proved": made.proved, "tested": made.tested, "files": files}


def from_json(found: Any) -> Sheets:
    """The inverse of :func:`as_json`."""
    files = {f: {name: _unpacked(data) for name, data in some.items()} for f, some in found["files"].items()}
    return Sheets(found["derived"], found["proved"], found["tested"], files)


def _packed(data: str | bytes) -> Any:
    return data if isinstance(data, str) else [base64.b64encode(data).decode("ascii")]


def _unpacked(data: Any) -> str | bytes:
    return data if isinstance(data, str) else base64.b64decode(data[0])


def _engine() -> str | None:
    from derive.render.pdf import engine

    return engine()
