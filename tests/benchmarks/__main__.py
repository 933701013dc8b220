"""``python -m tests.benchmarks``: the budgets, measured side by side."""

from tests.benchmarks.bench import main

main()
