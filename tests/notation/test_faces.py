"""What the faces of letters say of their axes."""

import pytest

from derive.notation.faces import Faces
from derive.notation.formulas import Source
from derive.notation.grammar import parse
from derive.notation.occurrences import Occurrences


def faces(*latexes: str) -> Faces:
    seen = Occurrences()
    for latex in latexes:
        seen.formula(parse(Source(latex)))
    return Faces.of(seen, {})


@pytest.mark.parametrize(("latex", "ranks"), [
    (r"\mathbf y = \mathbf{W} \boldsymbol{x} + b", {"y": 1, "W": 2, "x": 1}),
    (r"\vec{F} = m \vec a", {"F": 1, "a": 1}),
    (r"\hat{\mathbf{y}} = \mathbf{\hat z} + \mathbf{\Sigma}^{(1)} x", {"y_hat": 1, "z_hat": 1, "Sigma": 2}),
])
def test_bold_letters_have_axes(latex: str, ranks: dict[str, int]) -> None:
    assert faces(latex).ranks == ranks


def test_what_numbers_whole_vectors() -> None:
    found = faces(r"s_n = \mathbf{w}^\top \mathbf{x}_n", r"r = \mathbf{z}^{(n)}")
    assert found.numbered == {"x"} and found.raised == {"z"}
    assert faces(r"y_i = \sum_j \mathbf{W}_{ij} \mathbf{x}_j").numbered == set()


def test_a_plain_letter_beside_a_bold_one() -> None:
    assert faces(r"\mathbf{h} = \mathbf{b}_1 + b_2").unsaid == {"b_2"}
    assert faces(r"\mathbf{W} \in \mathbb{R}^{h \times d}", r"\mathbf{h} = \mathbf{W} \mathbf{x}").unnamed == {"h"}
