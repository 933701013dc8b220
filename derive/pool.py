"""Work on cards in processes that end at their limits: one that is forked, or several; results in the tasks' order.

A process is ended by the kernel even where no line of Python runs, deep in a library; so a card that asks for too
much costs itself alone.  What the limits leave alone is the same on every machine.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from types import FrameType
from typing import Any, TypeVar

from derive.errors import DeriveError, LimitError, unexpected
from derive.records import dataclass

T = TypeVar("T")
R = TypeVar("R")

# what takes the time, by the package of ours in which the work stands, and the exit status that says so
_STAGES = {"question": "reading the question", "calculus": "the derivation", "symbolic": "the derivation by SymPy",
           "exposition": "writing the sheet", "verify": "checking the sheet", "listing": "the listing",
           "render": "rendering", "check": "checking the solution", "evaluation": "the evaluation"}  # fmt: skip
_TASKS = 50  # of a process, which remembers much of each: then a new one takes its place
_OVER = 64  # the exit status of a process that has used up its time, above it the number of its stage
_CHANGE = "write fewer or smaller terms, windows and layers, or fewer steps at once"


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time for a task (0: no limit), and the memory that it may take besides the program's."""

    seconds: float = 10.0
    megabytes: int = 1024


def results(work: Callable[[T], R], tasks: Sequence[T], limits: Limits,
            jobs: int = 1) -> Generator[R | DeriveError, None, None]:  # fmt: skip
    """``work(task)`` of each, in order; where it raises or is ended, the error instead.

    ``work`` is a function of a module, and what it takes and gives can be pickled.
    """
    if not hasattr(os, "fork") and limits.seconds or len(tasks) > 1 and (jobs > 1 or limits.seconds):
        yield from _in_a_pool(work, tasks, limits, max(1, min(jobs, len(tasks))))
    elif limits.seconds:
        yield from (_forked(work, task, limits) for task in tasks)
    else:
        yield from (_tried(work, task) for task in tasks)


def streamed(work: Callable[[T], R], tasks: Iterable[T], limits: Limits, jobs: int,
             ahead: int) -> Generator[R | DeriveError, None, None]:  # fmt: skip
    """As :func:`results`, of tasks without end: so many ``ahead`` of what is asked for are handed over."""
    if not limits.seconds and jobs == 1:
        yield from (_tried(work, task) for task in tasks)
        return
    with pool(jobs, work.__module__) as processes:
        rest, waiting = iter(tasks), deque[Callable[[], R | DeriveError]]()
        while True:
            waiting.extend(outcome(processes, work, task, limits) for task in islice(rest, ahead - len(waiting)))
            if not waiting:
                return
            yield waiting.popleft()()


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tried(work: Callable[[T], R], task: T) -> R | DeriveError:
    try:
        return work(task)
    except DeriveError as error:
        return error
    except MemoryError:
        return LimitError(f"the memory that a card may take is used up; {_CHANGE}")
    except Exception as error:
        return unexpected(error)


def _limited(work: Callable[[T], R], task: T, limits: Limits) -> R | DeriveError:
    """The work in a process of its own, which ends where the limits say."""
    _limit(limits)
    try:
        return _tried(work, task)
    finally:
        if limits.seconds and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)


def _limit(limits: Limits) -> None:
    try:
        import resource
    except ImportError:  # no such limits there: the pool's own clock ends the process
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.seconds:
        signal.signal(signal.SIGPROF, _over)
        signal.setitimer(signal.ITIMER_PROF, limits.seconds)
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)  # a second later, where a library does not come back
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + limits.seconds) + 1, hard))
    with suppress(OSError), open("/proc/self/statm") as sizes:
        own = int(sizes.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (own + (limits.megabytes << 20), hard))


def _over(_: int, frame: FrameType | None) -> None:
    """End this process: its status says in which stage it was."""
    stage = len(_STAGES)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").split(".")
        if package[0] == "derive" and len(package) > 1 and package[1] in _STAGES:
            stage = [*_STAGES].index(package[1])  # the outermost is the last that is found
        frame = frame.f_back
    os._exit(_OVER + stage)


def _ended(status: int, limits: Limits) -> DeriveError:
    """What the exit status of a process says that gave no result; signals are negative."""
    if _OVER <= status <= _OVER + len(_STAGES) or status == -getattr(signal, "SIGXCPU", 0):
        stage = [*_STAGES.values(), ""][status - _OVER] if status >= 0 else ""
        where = f" in {stage}" if stage else ""
        return LimitError(f"more than {limits.seconds:g} s of processor time{where}: stopped; {_CHANGE}, or give more "
                          "time with `--timeout`")
    name = signal.Signals(-status).name if status < 0 else f"status {status}"
    return LimitError(f"stopped by {name}, as where more than {limits.megabytes:,} MB are asked for; {_CHANGE}")


# --- one process ------------------------------------------------------------------------------------------------------


def _forked(work: Callable[[T], R], task: T, limits: Limits) -> R | DeriveError:
    """The work in a fork of this process, which costs a millisecond."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, task, limits, write)
    os.close(write)
    try:
        with os.fdopen(read, "rb") as answer:
            data = answer.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    if status != 0:
        return _ended(status, limits)
    found: R | DeriveError = pickle.loads(data)  # of our own process
    return found


def _answer(work: Callable[[T], R], task: T, limits: Limits, write: int) -> None:
    """The child's part: it leaves at once, as what it holds goes with it."""
    status = 1
    try:
        found = _limited(work, task, limits)
        try:
            data = _dumped(found)
        except Exception as error:
            data = _dumped(unexpected(error))
        with os.fdopen(write, "wb") as pipe:
            pipe.write(data)
        status = 0
    finally:
        os._exit(status)


class _Pickler(pickle.Pickler):
    """Of an error of ours its problems: others register how all exceptions are pickled, with what led to them."""

    def reducer_override(self, found: Any) -> Any:
        return found.__reduce__() if isinstance(found, DeriveError) else NotImplemented


def _dumped(found: Any) -> bytes:
    data = io.BytesIO()
    _Pickler(data).dump(found)
    return data.getvalue()


# --- several ----------------------------------------------------------------------------------------------------------


def _in_a_pool(work: Callable[[T], R], tasks: Sequence[T], limits: Limits, jobs: int) -> Iterator[R | DeriveError]:
    with pool(jobs, work.__module__) as processes:
        waiting = deque(outcome(processes, work, task, limits) for task in tasks)
        while waiting:
            yield waiting.popleft()()


@contextmanager
def pool(jobs: int, module: str) -> Iterator[Any]:
    """So many processes, forked from one that holds the module and has solved a card."""
    import multiprocessing

    from pebble import ProcessPool

    context: Any = multiprocessing.get_context()
    if "forkserver" in multiprocessing.get_all_start_methods():  # a process that has ended is replaced at once
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["derive.warm", module])
        _start_quietly()
    processes = ProcessPool(jobs, max_tasks=_TASKS, context=context)
    try:
        yield processes
    finally:
        processes.stop()
        processes.join()


def outcome(processes: Any, work: Callable[[T], R], task: T, limits: Limits) -> Callable[[], R | DeriveError]:
    """Hand the task to the pool; what is returned waits for what becomes of it."""
    from pebble import ProcessExpired

    wall = limits.seconds if limits.seconds and sys.platform == "win32" else None
    future = processes.schedule(_limited, (work, task, limits), timeout=wall)

    def found() -> Any:
        try:
            return future.result()
        except ProcessExpired as error:
            return _ended(error.exitcode, limits)
        except TimeoutError:
            return _ended(_OVER + len(_STAGES), limits)

    return found


def _start_quietly() -> None:
    """Start the process that others are forked from: an interrupt, and what is said of it, is this one's alone."""
    from multiprocessing import forkserver

    before, said, nowhere = signal.signal(signal.SIGINT, signal.SIG_IGN), os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        forkserver.ensure_running()
    finally:
        os.dup2(said, 2)
        os.close(said)
        os.close(nowhere)
        signal.signal(signal.SIGINT, before)
