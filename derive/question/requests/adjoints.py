r"""Messages that a request names by their letter: δ_x is ∂L/∂x."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from derive.notation.formulas import Formula
from derive.notation.symbols import name_of, split_label
from derive.question.words.lexicon import ends, named
from derive.question.words.prose import Gap, Prose


def message_of(formula: Formula) -> str:
    r"""x of \delta_x, empty for what is none."""
    base, label = split_label(formula.latex.strip())
    return name_of((label or "").partition(",")[0]) if base == r"\delta" else ""


def asked_messages(prose: Prose, letters: Collection[str], alone: bool) -> Iterator[tuple[Gap, str]]:
    r"""Where a request names \delta_x of one of these letters: «derive the message $\delta_x$», «… and $\delta_x$».

    ``alone``: nothing else asks for a derivative, and the request asks for such messages and nothing else.
    """
    for gap in prose.gaps:
        name, (start, stop) = message_of(gap.formula), prose.sentence(gap.start)
        if name not in letters or f"delta_{name}" in letters or not _is_ordered(prose, gap):
            continue
        others = (g for g in prose.gaps if start <= g.start < stop and not message_of(g.formula))
        if not alone or not any(_is_ordered(prose, other) for other in others):
            yield gap, name


def _is_ordered(prose: Prose, gap: Gap) -> bool:
    r"""Behind an order in its sentence, and not told with what, or of what: «from $\delta_y$»."""
    before = prose.text[prose.sentence(gap.start)[0] : gap.start]
    return bool(named(before, "ask.verb")) and not ends(before, "adjoint.given")
