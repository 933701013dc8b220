"""Four threads of a fresh process solve cards at the same time, to the same bytes as one alone."""

from __future__ import annotations

import subprocess
import sys

from tests.bank import ROOT, SAMPLE, named

PROGRAM = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from derive import render, solve

cards = sys.argv[2:]
ready = threading.Barrier(int(sys.argv[1]))

def page(card):
    return render(solve(card))

def turn(n):
    ready.wait()
    return [page(card) for card in cards[n:] + cards[:n]]

with ThreadPoolExecutor(int(sys.argv[1])) as pool:
    pages = list(pool.map(turn, range(int(sys.argv[1]))))
for n, found in enumerate(pages):
    assert found[len(cards) - n:] + found[:len(cards) - n] == pages[0], n
sys.stdout.buffer.write("".join(pages[0]).encode())
"""


def test_threads_of_a_fresh_process_give_the_bytes_of_one() -> None:
    cards = [str(path) for path in (SAMPLE, *map(named, ("overlapping", "maxout_bank", "softmax_ce_bank")))]
    together, alone = (subprocess.run([sys.executable, "-c", PROGRAM, threads, *cards], cwd=ROOT, capture_output=True,
                                      timeout=600) for threads in ("4", "1"))
    assert together.returncode == alone.returncode == 0, together.stderr[-2000:] + alone.stderr[-2000:]
    assert together.stdout == alone.stdout
    assert together.stdout
