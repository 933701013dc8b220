"""The budgets, ours and others' side by side in one run: a table, and ``latest.json`` beside this file."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from derive.module import Module
from tests.bank import CARDS, ROOT, SAMPLE, named
from tests.numeric.modules import message, pooling

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """One line of the table: seconds of ours, seconds of the reference, and the budget for one of the two."""

    work: str
    ours: float
    reference: float | None = None
    reference_name: str = ""
    budget_seconds: float | None = None
    budget_ratio: float | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.reference is None else self.ours / self.reference

    @property
    def met(self) -> bool | None:
        """Within the budget; None where there is none."""
        if self.budget_seconds is not None:
            return self.ours <= self.budget_seconds
        return self.ratio <= self.budget_ratio if self.budget_ratio is not None and self.ratio is not None else None


def best(work: Callable[[], Any], repeat: int = 5) -> float:
    """Processor seconds of the quickest of several runs: what else the machine does counts as little as can be."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def has(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def window_rows() -> Iterator[Row]:
    """The gradient of one window, every entry an expression."""
    import sympy

    from derive.symbolic.instance import Indicators, WindowReduction, slopes, sort_keys
    from derive.symbolic.window import window_size, window_symbols

    def window_gradient(module: Module) -> tuple[sympy.Expr, ...]:
        """(∂f/∂z_1, …, ∂f/∂z_n) of one window."""
        reduction, symbols = WindowReduction(module), window_symbols(window_size(module))
        terms = [reduction.term(z) for z in symbols]
        return tuple(Indicators(reduction.op, module.tie_rule).entries(terms, slopes(terms, symbols), sort_keys(terms)))

    z = window_symbols(9)
    by_sympy = best(lambda: [sympy.Max(*z).diff(v) for v in z], 1)
    yield Row("window gradient 3×3", best(lambda: window_gradient(pooling((3, 3)))), by_sympy, "SymPy Max.diff")
    for size, budget in ((7, 0.003), (11, 0.008)):
        layer = pooling((size, size))
        ours = best(lambda layer=layer: window_gradient(layer))  # type: ignore[misc]
        reference = symengine_gradient(window_symbols(size * size))
        yield Row(f"window gradient {size}×{size}", ours, reference, "symengine" if reference else "", budget)


def symengine_gradient(symbols: Any) -> float | None:
    """The same gradient as brackets of comparisons in symengine, which leaves ``Max(…).diff`` standing."""
    if not has("symengine"):
        return None
    import symengine

    z = [symengine.Symbol(s.name) for s in symbols]

    def gradient() -> list[Any]:
        return [symengine.Piecewise((1, symengine.And(*(v > w for w in z if w is not v))), (0, True)) for v in z]

    return best(gradient, 1)


def jacobian_rows() -> Iterator[Row]:
    """Every non-zero entry of the symbolic Jacobian."""
    from derive.symbolic.instance import symbolic_jacobian

    layer = pooling((2, 2))
    yield Row("symbolic Jacobian 8×8, 2×2/2", best(lambda: symbolic_jacobian(layer, (8, 8))), sympy_jacobian(8),
              "SymPy Matrix.jacobian")
    yield Row("symbolic Jacobian 64×64, 2×2/2", best(lambda: symbolic_jacobian(layer, (64, 64))),
              symengine_jacobian(64), "symengine, non-zero entries", budget_ratio=1.3)
    layer = pooling((3, 3), (2, 2))
    yield Row("symbolic Jacobian 224×224, 3×3/2", best(lambda: symbolic_jacobian(layer, (224, 224)), 3),
              budget_seconds=0.8)
    per_window = {n: best(lambda n=n: symbolic_jacobian(layer, (n, n)), 2) / ((n - 1) // 2) ** 2  # type: ignore[misc]
                  for n in (32, 512)}
    yield Row("cost per window, 512×512 to 32×32", per_window[512], per_window[32], "32×32", budget_ratio=1.3)


def sympy_jacobian(n: int) -> float:
    """The dense Jacobian as SymPy itself derives it: at 16×16 it takes minutes."""
    import sympy

    x = sympy.symbols(f"x_:{n}_:{n}", real=True)
    f = [sympy.Max(*(x[n * i + j] for i in (k, k + 1) for j in (m, m + 1))) for k in range(0, n, 2) for m in range(0, n, 2)]
    return best(lambda: sympy.Matrix(f).jacobian(sympy.Matrix(x)), 1)


def symengine_jacobian(n: int) -> float | None:
    """The non-zero entries of the same Jacobian as symengine brackets, window by window."""
    if not has("symengine"):
        return None
    import symengine

    x = [[symengine.Symbol(f"x_{i}_{j}") for j in range(n)] for i in range(n)]

    def jacobian() -> list[Any]:
        windows = ([x[i][j] for i in (k, k + 1) for j in (m, m + 1)] for k in range(0, n, 2) for m in range(0, n, 2))
        return [symengine.Piecewise((1, symengine.And(*(v > w for w in z if w is not v))), (0, True))
                for z in windows for v in z]

    return best(jacobian, 3)


def smooth_rows() -> Iterator[Row]:
    """Average, Lp and log-sum-exp pooling on the same input, forward and backward."""
    import numpy as np

    import derive
    from derive.numbers import Numbers

    x = np.random.default_rng(0).normal(size=(1, 64, 56, 56))
    theirs: dict[str, Callable[[Any, Any], Any]] = {
        "avg_pool": lambda torch, t: torch.nn.functional.avg_pool2d(t, 3, 2),
        "lp_pool": lambda torch, t: torch.nn.functional.lp_pool2d(t, 2, 3, 2),
        "lse_pool": lambda torch, t: torch.logsumexp(
            torch.nn.functional.unfold(t, 3, stride=2).reshape(1, 64, 9, -1), 2),
    }
    for name, pool in theirs.items():
        layer = Numbers(derive.layer(name, kernel_size=3, stride=2))
        upstream = np.ones(layer.forward(x=x).shape)

        def ours(layer: Numbers = layer, upstream: Any = upstream) -> None:
            layer.forward(x=x)
            layer.backward("x", upstream=upstream, x=x)

        yield Row(f"{name}, forward + backward", best(ours, 10), pytorch(x, pool), "PyTorch, one thread")


def numeric_rows() -> Iterator[Row]:
    """Forward and backward of 3×3, stride 2, padding 1 on 1×64×56×56 float64, and a sparse Jacobian."""
    import numpy as np

    from derive.numeric.vectorised import backward, forward, jacobian
    from tests.numeric.modules import jacobian as jacobian_formula

    layer, rng = pooling((3, 3), (2, 2), (1, 1)), np.random.default_rng(0)
    x, upstream, formula = rng.normal(size=(1, 64, 56, 56)), np.ones((1, 64, 28, 28)), message(layer)

    def ours() -> None:
        forward(layer, {"x": x})
        backward(layer, formula, "x", upstream, {"x": x})

    yield Row("forward + backward 1×64×56×56", best(ours, 20), pytorch(x), "PyTorch, one thread", budget_ratio=1.7)
    tiles, big = pooling((2, 2)), rng.normal(size=(512, 512))
    yield Row("sparse Jacobian 512×512, 2×2/2",
              best(lambda: jacobian(tiles, jacobian_formula(tiles), "x", {"x": big}, sparse=True)))


def pytorch(x: Any, pool: Callable[[Any, Any], Any] | None = None) -> float | None:
    """Forward and backward in PyTorch: max pooling of 3×3, stride 2, padding 1 unless another layer is given."""
    if not has("torch"):
        return None
    import torch

    torch.set_num_threads(1)
    tensor = torch.tensor(x, requires_grad=True)

    def run() -> None:
        tensor.grad = None
        y = torch.nn.functional.max_pool2d(tensor, 3, 2, 1) if pool is None else pool(torch, tensor)
        y.backward(torch.ones_like(y))

    return best(run, 20)


def spent(*arguments: str, folder: Path = ROOT) -> float:
    """Processor seconds of a Python process, start-up included; raises where it fails."""
    # bytecode is written: the second start is what a user waits for again and again
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=said, stderr=said, env=environment)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode().strip()[-400:])
    return usage.ru_utime + usage.ru_stime


def in_turn(ours: Callable[[], float], theirs: Callable[[], float], count: int) -> tuple[float, float]:
    """Medians of both, one after the other: what else the machine does then slows both alike."""
    ours(), theirs()
    times = [(ours(), theirs()) for _ in range(count)]
    return statistics.median(t for t, _ in times), statistics.median(t for _, t in times)


def command_rows() -> Iterator[Row]:
    """``derive solve`` from a cold start, made anew and found again, and a further card in the same process."""
    with tempfile.TemporaryDirectory() as folder:
        solve = "-m", "derive", "solve", str(SAMPLE), "--format", "md,tex", "-o", folder
        cold, sympy = in_turn(lambda: spent(*solve, "--no-cache"), lambda: spent("-c", "import sympy"), 7)
        again = statistics.median(spent(*solve) for _ in range(3))
    yield Row("derive solve, cold", cold, sympy, "import sympy", budget_ratio=2.2)
    yield Row("derive solve, the card unchanged", again, sympy, "import sympy")
    yield Row("a further card, verified", further_card(), budget_seconds=0.040)


def further_card() -> float:
    """Median over cards that differ in their id, and so in their worked example."""
    import derive

    text = SAMPLE.read_text(encoding="utf-8")
    times = []
    for n in range(6):
        card = derive.Card.parse(text.replace("id: ", f"id: again_{n}_", 1))
        start = time.process_time()
        solution = derive.solve(card)
        derive.render(solution, "md")
        derive.render(solution, "tex")
        times.append(time.process_time() - start)
    return statistics.median(times[1:])


FEATURE_MAPS = r"""---
id: feature_maps
---

# Question

Instance normalisation of the feature maps $x_{tijk}$ of image $t$ and channel $i$:
$$ y_{tijk} = \frac{x_{tijk} - \mu_{ti}}{\sqrt{\sigma_{ti}^2 + \epsilon}}, \quad
\mu_{ti} = \frac{1}{HW} \sum_{j=1}^{H} \sum_{k=1}^{W} x_{tijk}, \quad
\sigma_{ti}^2 = \frac{1}{HW} \sum_{j=1}^{H} \sum_{k=1}^{W} (x_{tijk} - \mu_{ti})^2. $$
Derive the backward message with respect to $x$.

# Solution
"""
LAYER_CARDS = {  # work → (card's file or text, budget in seconds)
    "linear + PReLU + squared error": ("prelu_squared_words", 0.300), "softmax cross-entropy": ("softmax_ce_bank", 0.300),
    "batch normalisation": ("batch_norm_bank", 0.250), "2-D convolution": ("conv2d_bank", 2.0),
    "attention": ("attention_bank", 0.250), "instance normalisation, x_tijk": (FEATURE_MAPS, 1.0),
}


def layer_rows() -> Iterator[Row]:
    """Cards with a formula of their own: derived, verified and rendered, no verdict on any of their equations kept."""
    import derive
    from tests.kept import forget_verdicts

    def work(name: str) -> Callable[[], None]:
        def run() -> None:
            forget_verdicts()
            solution = derive.solve(derive.Card.parse(name) if "\n" in name else named(name))
            derive.render(solution, "md")
            derive.render(solution, "tex")

        return run

    for name in ("prelu_bank", "conv1d_bank", "layer_norm_bank"):  # so that the libraries are loaded
        work(name)()
    for label, (name, budget) in LAYER_CARDS.items():
        yield Row(f"{label}, solved", best(work(name), 1), budget_seconds=budget)


BASELINE = "6930a12"
TWELFTH = """
import sys, derive
for path in sys.argv[1:]:
    try:
        derive.solve(path)
    except derive.DeriveError:
        pass
"""


def bank_rows() -> Iterator[Row]:
    """Many cards in one process, here and as the code was before; 100 cards in three formats by two processes, and again."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        archive = subprocess.run(["git", "archive", BASELINE], cwd=ROOT, capture_output=True, check=False)
        if archive.returncode == 0:
            before.mkdir()
            subprocess.run(["tar", "-x", "-C", str(before)], input=archive.stdout, check=True)
            layers = {path.stem: path for path in CARDS if "\noracle:" in path.read_text("utf-8")}
            twelfth = ("-c", TWELFTH, *(str(layers[name]) for name in sorted(layers)[::12]))
            ours, theirs = in_turn(lambda: spent(*twelfth), lambda: spent(*twelfth, folder=before), 3)
            yield Row("every twelfth card of a layer's formula", ours, theirs, f"commit {BASELINE}", budget_ratio=0.6)
        cards = sorted(map(str, CARDS))
        hundred = [p for p in cards[::max(1, len(cards) // 120)] if solves(p)][:100]
        run = [sys.executable, "-m", "derive", "solve", *hundred, "-j", "2", "--format", "md,tex,html", "-o", folder]
        for work, budget in (("100 cards, md + tex + html, -j 2, waited", 10.0), ("the same, unchanged", 1.0)):
            start = time.perf_counter()  # what the processes of a pool take is nobody's but theirs
            subprocess.run(run, cwd=ROOT, env=os.environ | {"XDG_CACHE_HOME": folder}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            yield Row(work, time.perf_counter() - start, budget_seconds=budget)


def solves(path: str) -> bool:
    """The card is no example of what is refused."""
    import derive

    try:
        return derive.solve(path).report.ok
    except derive.DeriveError:
        return False


ASKED = r"Let $y_k = \max(0, \sum_j W_{kj} x_j)$. Derive the backward message with respect to $x$."
UNITS = ("`", "<!--\n", "$ ", "$$\n", "the stride is 2, ", "{", "$x_i$ ", "max pooling ", "[[a]] ", "> ", "- a\n", "**",
         "~~~\n", "a$b", "\\\\ ", "![[", "| a | b |\n")


def long_rows() -> Iterator[Row]:
    """Texts of 300 KB in the question or in the solution, solved and rendered or refused: the slowest of them."""
    import derive

    def work(question: str, solution: str) -> Callable[[], None]:
        def run() -> None:
            try:
                card = derive.Card.parse(f"---\nid: long\n---\n\n## Question\n\n{ASKED}\n\n{question}\n\n## Solution\n\n"
                                         f"{solution}\n")
                found = derive.solve(card)
                for name in ("md", "tex", "html"):
                    derive.render(found, name)
            except derive.DeriveError:
                pass

        return run

    work("", "")()
    texts = [unit * (300_000 // len(unit)) for unit in UNITS]
    yield Row("a text of 300 KB, the slowest", max(best(work(*both), 1) for t in texts for both in ((t, ""), ("", t))),
              budget_seconds=2.0)


def shown(row: Row) -> str:
    reference = f"{row.reference * 1e3:10.2f} ms {row.reference_name}" if row.reference is not None else "         –"
    ratio = "–" if row.ratio is None else f"{row.ratio:.3g}"
    budget = f"{row.budget_seconds * 1e3:g} ms" if row.budget_seconds else \
        f"ratio {row.budget_ratio:g}" if row.budget_ratio else "–"
    verdict = {True: "met", False: "MISSED", None: ""}[row.met]
    return f"{row.work:36} {row.ours * 1e3:10.3f} ms {ratio:>8} {budget:>10} {verdict:6} {reference}"


def main() -> None:
    """Measure, print and write down every row."""
    print(f"{'work':36} {'ours':>13} {'ratio':>8} {'budget':>10} {'':6} reference")
    rows = []
    for group in (window_rows, jacobian_rows, numeric_rows, smooth_rows, layer_rows, long_rows, command_rows,
                  bank_rows):
        for row in group():
            print(shown(row), flush=True)
            rows.append(asdict(row) | {"ratio": row.ratio, "met": row.met})
    (HERE / "latest.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
