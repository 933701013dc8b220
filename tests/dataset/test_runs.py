"""A run gives the same bytes with any number of processes, after an interruption, and in a cluster."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from derive.cli import main
from derive.dataset import made
from derive.dataset.draw import Drawn
from derive.dataset.journal import Journal
from derive.errors import CardError, VerificationError

N, SEED = 3, 11


def run(output: Path, *options: str, count: int = N, seed: int = SEED) -> Result:
    return CliRunner().invoke(main, ["dataset", "-n", str(count), "--seed", str(seed), "-o", str(output), *options])


@pytest.fixture(scope="module", autouse=True)
def _each_row_once() -> Iterator[None]:
    """A run in this process makes no row again that one before it has made."""
    with pytest.MonkeyPatch.context() as patched:
        row = cache(made.row)
        patched.setattr(made, "row", row)
        patched.setattr("derive.dataset.row.row", row)  # as which other processes know it
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("whole") / "rows.jsonl"
    result = run(output, "-j", "1", "--timeout", "0")
    assert result.exit_code == 0, result.output
    return output


def test_two_processes_write_the_same(whole: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "rows.jsonl", "-j", "2").exit_code == 0
    assert (tmp_path / "rows.jsonl").read_bytes() == whole.read_bytes()
    assert (tmp_path / "rows.md").read_bytes() == whole.with_suffix(".md").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.jsonl", "rows.md"]


def test_a_run_that_was_stopped_goes_on(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, part = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.part"

    def stopped(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("derive.dataset.formats.write", stopped)
        assert run(output, "-j", "1", "--timeout", "0", count=2).exit_code == 130
    assert not output.exists()
    lines = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join(lines[:2]) + lines[2][:50])  # the head, a row, and half of another
    assert run(output, "-j", "1", "--timeout", "0").exit_code == 0
    assert output.read_bytes() == whole.read_bytes() and not part.exists()
    assert (tmp_path / "rows.md").read_bytes() == whole.with_suffix(".md").read_bytes()


def test_fewer_rows_are_the_first_of_more(whole: Path, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "rows.jsonl.part", SEED, N)
    for line in whole.read_text("utf-8").splitlines():
        journal.add(int(json.loads(line)["id"].split("-")[1]), json.loads(line)["key"], line)
    journal.close()
    assert run(tmp_path / "rows.jsonl", count=2).exit_code == 0
    assert (tmp_path / "rows.jsonl").read_text("utf-8").splitlines() == whole.read_text("utf-8").splitlines()[:2]


def test_the_beginning_of_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    Journal(tmp_path / "rows.jsonl.part", 1, N).close()
    result = run(tmp_path / "rows.jsonl", seed=2)
    assert result.exit_code == 2 and "is of another seed" in result.output and (tmp_path / "rows.jsonl.part").exists()
    with pytest.raises(CardError, match="cannot be written"):
        Journal(tmp_path, 1, N)


def test_no_two_rows_are_one_layer_and_the_card_counts_them(whole: Path) -> None:
    rows = [json.loads(line) for line in whole.read_text("utf-8").splitlines()]
    assert len({row["key"] for row in rows}) == len(rows) == N
    card = whole.with_suffix(".md").read_text("utf-8")
    assert f"{N} layers" in card and "license: mit" in card and f"--seed {SEED}" in card
    for mistake in {wrong["mistake"] for row in rows for wrong in row["wrong"]}:
        assert f"| {mistake} | " in card


def test_parquet_holds_the_same_rows(whole: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra `data`")
    assert run(tmp_path / "rows.parquet", "-j", "1", "--timeout", "0").exit_code == 0
    found = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert found == [json.loads(line) for line in whole.read_text("utf-8").splitlines()]


def test_a_missing_package_is_named_and_an_unknown_format_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(tmp_path / "rows.parquet")
    assert result.exit_code == 2 and result.output == "`.parquet` needs the extra `data`: `pip install 'derive-sheets[data]'`\n"
    assert run(tmp_path / "rows.csv").exit_code == 2 and not [*tmp_path.iterdir()]


def test_what_is_left_out_is_counted_and_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(layer: Drawn) -> str:
        if len(seen := {**tried, layer.number: 1}) % 2:
            tried.update(seen)
            raise VerificationError("odd")
        tried.update(seen)
        return honest(layer)

    tried: dict[int, int] = {}
    honest = made.row
    monkeypatch.setattr(made, "row", odd)
    assert run(tmp_path / "rows.jsonl", "-j", "1", "--timeout", "0", count=2).exit_code == 0
    assert "| odd | 2 |" in (tmp_path / "rows.md").read_text("utf-8")


def test_a_cluster_writes_the_same(whole: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as found:
        result = run(tmp_path / "rows.jsonl", "--cluster", found.scheduler_address)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "rows.jsonl").read_bytes() == whole.read_bytes()
