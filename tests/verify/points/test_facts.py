"""What a card states of its letters holds in every region that a proof looks at."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.solve import solve
from derive.verify.report import Verdict

CARD = r"""---
id: stated
---

# Question
The leaky rectifier is $h_d = \begin{cases} z_d & z_d \ge 0 \\ \alpha z_d & \text{else} \end{cases}$ with FACT.
Derive $\partial h_d / \partial z_e$ and $\partial h_d / \partial \alpha$.
"""


@pytest.mark.parametrize("fact", [r"$\alpha \in (0, 1)$", r"$0 < \alpha < 1$", r"$\alpha > 0$", "no bound"])
def test_regions_are_searched_among_the_numbers_that_are_allowed(fact: str) -> None:
    report = solve(Card.parse(CARD.replace("FACT", fact))).report
    verdicts = {c.verdict for c in report.checks if c.name.startswith("jacobian")}
    assert verdicts == {Verdict.PROVED}
