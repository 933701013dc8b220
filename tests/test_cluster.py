"""A cluster of two workers on this machine gives what the processes of a local run give, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import derive.cache
from derive import cluster
from derive.cli import main
from derive.errors import DeriveError
from derive.pool import Limits
from tests.bank import ROOT
from tests.test_pool import work

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra `cluster`")
CARDS = [str(card) for card in sorted((ROOT / "cards" / "activations").glob("*.md"))[:4]]


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    import dask
    import distributed  # where it is asked for: it takes its time

    soon = dask.config.set({"distributed.comm.timeouts.connect": "2s"})  # that a worker which is no more is asked for
    with soon, distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as found:
        yield found


def solve(output: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["solve", *CARDS, "--format", "md", "-o", str(output), *options])


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def told(result: Result) -> list[str]:
    return [line.split(";")[0] for line in result.stdout.splitlines()]


def test_the_same_bytes_and_lines_as_at_home_and_the_cache_is_this_machine_s(two: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive.cache, "folder", lambda: tmp_path / "cache")
    there, here = solve(tmp_path / "there", "--cluster", two.scheduler_address), solve(tmp_path / "here", "--no-cache", "--timeout", "0", "-j", "1")
    assert there.exit_code == here.exit_code == 0, there.output
    assert told(there) == told(here) and len(told(here)) == len(CARDS)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    with sqlite3.connect(tmp_path / "cache" / "results.sqlite") as kept:
        assert kept.execute("SELECT count(*) FROM results").fetchone() == (len(CARDS),)
    assert solve(tmp_path / "again", "--cluster", "tcp://127.0.0.1:1").stdout.count("from the cache") == len(CARDS)  # not even asked


def test_what_registers_how_errors_are_pickled_changes_no_answer(tmp_path: Path) -> None:
    import_module("distributed")  # it registers some
    card = tmp_path / "card.md"
    card.write_text("---\nid: q\n---\n# Question\nDescribe the history of perceptrons.\n", encoding="utf-8")
    assert CliRunner().invoke(main, ["read", str(card)]).exit_code == 3
    with pytest.raises(DeriveError) as raised:
        derive.solve(card)
    assert raised.value.__cause__ is not raised.value


def test_a_card_over_its_budget_ends_alone(two: Any) -> None:
    found = [*cluster.results(work, ["a", "loops", "b", "ends", "c", "is wrong"], Limits(0.3, 256), two.scheduler_address)]
    assert [f if isinstance(f, str) else type(f).__name__ for f in found] == ["a", "LimitError", "b", "LimitError", "c", "CardError"]
    assert "more than 0.3 s of processor time" in str(found[1])


def slow(n: int) -> int:
    time.sleep(0.05)
    return n


def test_of_a_worker_that_is_killed_nothing_is_lost_and_nothing_comes_twice(two: Any) -> None:
    from distributed import Client

    found: list[int | DeriveError] = []
    for result in cluster.results(slow, range(80), Limits(), two.scheduler_address):
        found.append(result)
        if len(found) == 10:
            with Client(two, set_as_default=False) as client:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert found == [*range(80)]


def test_another_version_of_the_program_is_not_asked(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    with Client(two, set_as_default=False) as client, pytest.raises(DeriveError, match="at tcp://.* another version"):
        client.submit(cluster._done, "of another version", b"").result()  # one that joins later
    monkeypatch.setattr(cluster, "program", os.getpid)
    with pytest.raises(DeriveError, match="at tcp://.* another version"):
        next(cluster.results(work, ["a"], Limits(), two.scheduler_address))


@pytest.mark.parametrize(("address", "code", "message"), [
    ("tcp://127.0.0.1:1", 4, "no cluster answers at tcp://127.0.0.1:1: "),
    ("http://localhost", 2, "`http://localhost` is no address of a cluster, such as `tls://host:8786`: "),
])
def test_an_address_without_a_cluster_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, code: int, message: str) -> None:
    monkeypatch.setattr(cluster, "_SECONDS", 0.2)
    result = solve(tmp_path, "--cluster", address, "--no-cache")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (code, "", 1) and result.stderr.startswith(message)


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = solve(tmp_path, "--cluster", "tcp://127.0.0.1:1", "--no-cache")
    assert (result.exit_code, result.stderr) == (2, "`--cluster` needs the extra `cluster`: `pip install 'derive-sheets[cluster]'`\n")
