"""Four threads of a fresh process solve cards at the same time, to the same bytes as one after the other."""

from __future__ import annotations

import copy
import subprocess
import sys

import derive
from derive import render
from derive.verify.routes import steps
from tests.bank import ROOT, SAMPLE, named, solved

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
    n %= len(cards)
    return [page(card) for card in cards[n:] + cards[:n]]

with ThreadPoolExecutor(int(sys.argv[1])) as pool:
    pages = list(pool.map(turn, range(int(sys.argv[1]))))
for n, found in enumerate(pages):
    n %= len(cards)
    assert found[len(cards) - n:] + found[:len(cards) - n] == pages[0], n
sys.stdout.buffer.write("".join(pages[0]).encode())
"""


def test_threads_of_a_fresh_process_give_the_bytes_of_one() -> None:
    names = (SAMPLE.stem, "maxout_bank")
    together = subprocess.run([sys.executable, "-c", PROGRAM, "4", *(str(named(name)) for name in names)], cwd=ROOT,
                              capture_output=True, timeout=600)
    assert together.returncode == 0, together.stderr[-2000:]
    assert together.stdout.decode() == "".join(str(render(solved(name))) for name in names)


COLLECTED = """
import gc, sys
from contextlib import contextmanager
import z3
from derive import solve
from derive.verify.provers import smt

in_use, wrong, collecting = [], [], []
used = smt.Own.used

@contextmanager
def watched(own):
    in_use.append(own.context)
    try:
        with used(own):
            gc.collect()
            yield
    finally:
        in_use.pop()

def watch(kind):
    free = kind.__del__
    def freed(term):
        if collecting and any(getattr(term, "ctx", None) is context for context in in_use):
            wrong.append(kind.__name__)
        free(term)
    kind.__del__ = freed

smt.Own.used = watched
for kind in (z3.AstRef, z3.AstVector, z3.ModelRef, z3.Solver):
    watch(kind)
gc.callbacks.append(lambda phase, _: collecting.append(1) if phase == "start" else collecting.clear())
for card in sys.argv[1:]:
    solve(card)
sys.exit(f"{len(wrong)} freed: {set(wrong)}" if wrong else 0)
"""


def test_the_collector_frees_no_term_of_a_context_in_use() -> None:
    """It runs in any thread, and two in one context end in a segmentation fault."""
    cards = [str(path) for path in (SAMPLE, named("prelu_bank"))]
    done = subprocess.run([sys.executable, "-c", COLLECTED, *cards], cwd=ROOT, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_step_that_two_threads_made_counts_once() -> None:
    solution = derive.solve(formula=r"y_k = \tanh(\sum_j W_{kj} x_j)")
    made, module = solution.messages.jacobian("x"), solution.messages.module
    again = copy.deepcopy(made)
    assert again is not made and steps([made, again], module) == steps([made], module)
