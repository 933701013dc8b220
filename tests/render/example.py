"""A hand-made solution with every kind of block, long formulas and a card around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.card import Card
from derive.expr import OTHERWISE
from derive.sheet import Bullets, Cell, Dot, Figure, Heading, Label, Line, Math, Outline, Prose, Scene, Sheet, Table
from derive.verify.report import Check, Report, Verdict

CARD = r"""---
id: batch_004
course: Statistical Machine Learning
tags: [cnn, max-pooling]
difficulty: 2
---

# Question
(5p) Consider the Max Pooling layer, 2×2 → one “cell” — Vrstva s největší hodnotou, 50 % of the cells:
$$ f_{kl}(\boldsymbol{x}) = \max_{(i, j) \in \Omega(k, l)} x_{ij}, \quad (2) $$
where $(i, j)$ denotes the coordinates of the input and $\Omega(k, l)$ the receptive field,
see `max_pool(x)` [cite: 86].
(Figure 1 shows a 2x2 max pooling with stride 2).
![[pool.png]]

1. Derive the *backward message* $\frac{\partial f_{kl}}{\partial x_{ij}}$ of the layer.
2. What does **PyTorch** do at a tie? <b>Explain</b>. See [the manual](https://pytorch.org/docs/stable/a_b.html).
   - for two,
   - for $n$ maxima.

```python
y = np.maximum(x, 0)  # 100 %
    indented_line = {"a": 1}
```

| a | b |
|---|--:|
| $x_i$ | 2 |

---
# Solution
by hand

## Related Concepts
- [[cnn]]
"""


def math(latex: str, name: str = "equation") -> Math:
    return Math(latex, OTHERWISE, name)


ANSWER = (
    Prose("The window of output $(k, l)$ holds the four entries $x_{2k,2l}, \\dots, x_{2k+1,2l+1}$. "
          "Where its maximum is unique, at $(i^*, j^*)$,"),
    math(r"\frac{\partial f_{kl}}{\partial x_{ij}} = \begin{cases} 1 & \text{if } (i, j) = (i^*, j^*) \\ "
         r"0 & \text{otherwise} \end{cases}", "jacobian"),
    Prose("and for an upstream gradient $\\delta_f$"),
    math(r"\delta_{x,ij} = \sum_{(k, l) : (i, j) \in \Omega(k, l)} \delta_{f,kl} \, [(i, j) = (i^*, j^*)].", "vjp"),
)  # fmt: skip
SCENE = Scene("window", "One window", "A window of two cells, $x_{00}$ and $-1$.", 6, 3, (
    Cell(0, 0, "first", "$x_{00}$"), Cell(1, 0, "shared", "$-1$", "$2 - 3$"), Outline(0, 0, 2, 1, "second"),
    Line(((2, 0.5), (3, 0.5), (4, 2.5), (5, 2.5)), "forward", smooth=True), Dot(3, 2), Label(1, 2, r"$\hat{y}'$ & more", "title"),
))
DETAILS = (
    Heading("The window", name="window"),
    Figure(SCENE, "The window of $f_{00}$ & its entries."),
    Prose("Write the window as $x_1, \\dots, x_4$. Its maximum, in bracket notation:"),
    math("f = \\begin{cases}\n"
         + " \\\\\n".join(rf"x_{a} & \text{{if }} " + ", ".join(rf"x_{a} > x_{b}" for b in range(1, 10) if b != a)
                          for a in range(1, 10))
         + "\n\\end{cases}", "cases"),
    math(r"[i = k] \cdot x_i = \begin{cases} [a] & \text{if } a \\ [b] & \text{otherwise} \end{cases}", "brackets"),
    Heading("Why", 3),
    Bullets(("[1] A small change of $x_{ij}$ below the maximum changes *nothing*.", "At the maximum the slope is 1.")),
    math(r"\delta_x = \begin{pmatrix} 0 & 1 & 0 & 0 \\ 0 & 0 & 0 & -2 \\ 3 & 0 & 0 & 0 \end{pmatrix}", "example"),
    math("f_{kl} = " + " + ".join(rf"x_{{2k+{a},2l+{b}}} \cdot [x_{{2k+{a},2l+{b}}} > x_{{ij}}]"
                                  for a in range(4) for b in range(3)), "long"),
    Table(("library", "tie rule", "gradient of $|x|$"),
          (("PyTorch", "first", "$0$"), ("`torch.amax`", "split", r"$\frac12$"),
           ("A long cell", "which says in many words what happens to the gradient where entries tie", "1")), "llr"),
)  # fmt: skip
CHECKED = (
    Heading("Checked", name="checked"),
    Prose("Proved: 3 equations. Tested: 2 equations at 40 points."),
)
SHEET = Sheet("Max pooling: the backward message", ANSWER, DETAILS, CHECKED)
PARSED = Card.parse(CARD, "cards/example.md")
GOOD = Report((Check("jacobian", "f = x", Verdict.PROVED, "2×2"),))
BAD = Report((*GOOD.checks, Check("vjp", r"\delta_x  =  0", Verdict.REFUTED, "no", "x = (1, 2): 1 and 0")))


@dataclass(frozen=True)
class Solution:
    sheet: Sheet = SHEET
    card: Card | None = PARSED
    report: Report = GOOD
    module: Any = None
