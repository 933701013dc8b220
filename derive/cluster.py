"""Work on cards in a cluster of Dask's: its workers send bytes back, and this process alone writes.

Nothing in a worker may start processes of ``multiprocessing``, and whoever ends one ends all that it does.  So beside
each of its threads stands a program of ours (``python -m derive.cluster``), whose pool ends a card as one at home does.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import subprocess
import sys
import threading
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from derive.cache import program
from derive.errors import CardError, DeriveError, LimitError, RenderError, unexpected
from derive.pool import Limits, outcome, pool

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 2_000  # tasks that are handed over at once: what is done of them waits in the workers' memory
_SECONDS = 30  # for a scheduler to answer, and for its first worker


def results(work: Callable[[T], R], tasks: Iterable[T], limits: Limits, address: str,
            ahead: int = _AHEAD) -> Generator[R | DeriveError, None, None]:  # fmt: skip
    """As :func:`derive.pool.results`, by the workers of the scheduler at the address, handed so many ``ahead``.

    Raises :class:`DeriveError` where there is no such cluster, or it is lost on the way.
    """
    if isinstance(tasks, Sequence) and not tasks:
        return
    with _connected(address) as client:
        waiting: deque[Any] = deque()
        rest, run = enumerate(tasks), uuid.uuid4().hex
        while True:
            for n, task in islice(rest, ahead - len(waiting)):
                data = pickle.dumps((work, task, limits))
                waiting.append(client.submit(_done, program(), data, key=f"card-{run}-{n}", pure=False))
            if not waiting:
                return
            yield _result(waiting.popleft(), address)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """A client of the cluster, whose workers have been found to run this very program."""
    try:
        from distributed import Client
    except ImportError:
        raise CardError("`--cluster` needs the extra `cluster`: `pip install 'derive-sheets[cluster]'`") from None
    for name in ("distributed", "distributed.client"):  # what is wrong is said here, in a line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    wrong: DeriveError | None = None
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except ValueError as error:
        wrong = CardError(f"`{address}` is no address of a cluster, such as `tls://host:8786`: {error}")
    except (OSError, RuntimeError, TypeError) as error:
        wrong = RenderError(f"no cluster answers at {address}: {_said(error)}")
    if wrong is not None:
        gc.collect()  # a client that was half made waits for a minute if it goes with the interpreter
        raise wrong
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
        for worker, found in client.run(program, on_error="return").items():
            _compared(worker, found)
        yield client
    except TimeoutError:
        raise RenderError(f"the cluster at {address} has no workers; start some: `dask worker {address}`") from None
    finally:
        with suppress(Exception):  # of a cluster that is lost, too
            client.close(timeout=_SECONDS / 3)


def _compared(worker: str, found: str | Exception) -> None:
    """What another program would make would be kept, and taken for this one's."""
    if found != program():
        why = f" ({_said(found)})" if isinstance(found, Exception) else ""
        raise RenderError(f"the worker at {worker} runs another version of this program, or of what it needs{why}; "
                          "install the same there as here")


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _result(future: Any, address: str) -> Any:
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        return pickle.loads(future.result())  # of our own workers
    except DeriveError as error:
        return error
    except KilledWorker:
        return LimitError("stopped: each worker that had it was ended; more memory for the workers may help")
    except (FutureCancelledError, OSError):
        raise RenderError(f"the cluster at {address} is lost; run again: what came back is kept") from None
    except Exception as error:
        return unexpected(error)


# --- in a worker ------------------------------------------------------------------------------------------------------

_here = threading.local()


def _done(client: str, data: bytes) -> bytes:
    """What became of a task, by the program beside this thread: the task and its result pass through unread."""
    if client != program():
        from distributed import get_worker

        _compared(get_worker().address, client)
    beside: subprocess.Popen[bytes] | None = getattr(_here, "beside", None)
    if beside is None or beside.poll() is not None:
        paths = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        beside = subprocess.Popen([sys.executable, "-m", "derive.cluster"], env=paths,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        _here.beside = beside
    assert beside.stdin is not None and beside.stdout is not None
    try:
        beside.stdin.write(data)
        beside.stdin.flush()
        result: bytes = pickle.load(beside.stdout)
        return result
    except (OSError, EOFError, pickle.UnpicklingError):
        beside.kill()
        return pickle.dumps(LimitError(f"stopped with status {beside.wait()} by something other than its own limits"))


def _serve() -> None:
    """Do the tasks that come in until there are no more, or nobody waits; what is printed on the way goes elsewhere."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the worker's to answer
    tasks, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(EOFError, BrokenPipeError):
        work, task, limits = pickle.load(tasks)
        with pool(1, work.__module__) as processes:
            while True:
                pickle.dump(pickle.dumps(outcome(processes, work, task, limits)()), answers)
                answers.flush()
                work, task, limits = pickle.load(tasks)


if __name__ == "__main__":
    _serve()
