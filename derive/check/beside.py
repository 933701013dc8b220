"""Words beside an equation: whether they leave it as it stands, or may restrict or deny it."""

from __future__ import annotations

import re
from bisect import bisect_right

from derive.notation.formulas import Formula

# words that change nothing about the equation which they introduce or follow
_PLAIN = frozenset("""
    a all also an and applying are as backward be because becomes by calculate can chain class compute computed
    computing consequently definition denote derivation derivative derivatives derive derived differentiate
    differentiating each entries entry equal equals equation every expression finally find first follows following
    follow forward formula from function general get gets given gives giving gradient gradients has have hence in input
    inputs is it its jacobian layer loss matrix message messages next now obtain of our output outputs parameter
    parameters partial recall respect result rule same say second see similarly simplifies simply since so solution
    substituting sum that the their them then therefore this thus to upstream us use using vector wanted
    here let we weight weights bias biases which write written yield yields
""".split())  # fmt: skip
# words after which equations may hold only in part of the inputs, or not be meant, until the solution ends
_CONTEXT = frozenset("""
    assume assuming assumed suppose supposing case cases consider fix fixed take set if when whenever where unless
    otherwise only provided restrict ignore ignoring neglect except without instead wrong mistake mistaken incorrect
    false not never cannot approximately approximation naive would alternatively special example instance numbers
""".split())
_WORD = re.compile(r"[^\W\d_]+")
_END = re.compile(r"[.!?](?=\s|$)|\n\s*#[^\n]*\n|\n\s*#[^\n]*\Z")
_MARKUP = re.compile(r"<!--.*?-->|^\s*(?:[-*+]|\d+[.)])\s", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$|\\\[.*?\\\]|\\\(.*?\\\)|\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
_RESTRICTS = re.compile(r"<|>|\\(?:le|ge|leq|geq|lt|gt|ne|neq|in|notin|to|forall|approx|leqslant|geqslant)(?![A-Za-z])")


_INSIDE = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}|\[[^\[\]]*\]|_\{(?:[^{}]|\{[^{}]*\})*\}", re.DOTALL)


def restricts(latex: str) -> bool:
    """A relation other than an equation, outside of cases, brackets and subscripts."""
    return _RESTRICTS.search(_INSIDE.sub(" ", latex)) is not None


class Beside:
    """The text of a solution around its formulas; lines are counted from ``first``."""

    def __init__(self, text: str, first: int) -> None:
        self.first, self.text = first, text
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._blank = _FORMULA.sub(lambda m: re.sub(r"[^\n]", "\0", m[0]), _MARKUP.sub(
            lambda m: re.sub(r"[^\n]", " ", m[0]), text))

    def unclear(self, formula: Formula) -> str:
        """The words or formula of its sentence that may say where it holds; "" where there are none."""
        start, stop = self._sentence(formula)
        if self.text[self._starts[formula.line - self.first]:].lstrip().startswith("|"):
            return "its row and column in the table may say where it holds"
        words = _WORD.findall(self._blank[start:stop])
        unknown = next((w for w in words if len(w) > 1 and w.lower() not in _PLAIN), None)
        if unknown is not None:
            return f"“{unknown}” beside it may say where it holds"
        for other in _FORMULA.finditer(self.text, start, stop):
            if formula.latex not in other[0] and restricts(other[0]):
                return f"`{other[0].strip('$ ')}` beside it may say where it holds"
        return ""

    def context(self, formula: Formula) -> str:
        """What stands before it, or in the sentence behind it, and may restrict it to a part of the inputs."""
        _, stop = self._sentence(formula)
        after = _END.search(self._blank, stop)
        until = after.end() if after else len(self._blank)
        word = next((w for w in _WORD.findall(self._blank[:until]) if w.lower() in _CONTEXT), None)
        other = next((m[0] for m in _FORMULA.finditer(self.text, 0, until)
                      if formula.latex not in m[0] and restricts(m[0])), "")
        return f"“{word}”" if word else other and f"`{' '.join(other.strip('$ ').split())}`"

    def _at(self, formula: Formula) -> int:
        line = min(max(formula.line - self.first, 0), len(self._starts) - 1)
        return self._starts[line] + formula.column

    def _sentence(self, formula: Formula) -> tuple[int, int]:
        at = self._at(formula)
        ends = [m.end() for m in _END.finditer(self._blank)]
        place = bisect_right(ends, at)
        start, stop = ends[place - 1] if place else 0, ends[place] if place < len(ends) else len(self._blank)
        after = re.search(r"\n\s*\n\s*(?=[A-Z])", self._blank[at:stop])  # a paragraph that opens a sentence
        return start, at + after.start() if after else stop
