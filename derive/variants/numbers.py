"""Numbers to be drawn, by kind, range and shape: ``distinct integers 0..9, 4 x 4``; and how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod

from derive.limits import MOST_ENTRIES
from derive.records import dataclass

Draw = Callable[[int], int]  # n ↦ one of 0, …, n − 1
Rows = tuple[tuple[Fraction, ...], ...]
KINDS = ("integers", "decimals", "one-hot", "labels", "signs")
EXAMPLE = "`distinct integers 0..9, 4 x 4`"
_RANGED = ("integers", "decimals")
_NUMBER = r"[-−+]?\d{1,9}(?:\.\d{1,6})?"
_NAME = r"\{\{\s*([A-Za-z]\w*(?:\.\w+)*)\s*\}\}"
_FORM = re.compile(
    rf"(?P<traits>(?:(?:distinct|nonzero)\s+)*)(?P<kind>[A-Za-z-]+)"
    rf"(?:\s+(?P<low>{_NUMBER})\s*(?:\.\.|to)\s*(?P<high>{_NUMBER}))?(?:\s+by\s+(?P<step>{_NUMBER}))?"
    rf"(?:\s*,\s*(?P<shape>(?:\d{{1,6}}|{_NAME})(?:\s*[x×]\s*(?:\d{{1,6}}|{_NAME}))?))?")  # fmt: skip


@dataclass(frozen=True)
class Numbers:
    """A number, a column or a matrix of entries that are drawn one by one from ``values``.

    ``shape`` holds extents and the names of choices that give them; ``distinct``: no two entries are the same, so a
    maximum over any of them has no tie; ``one_hot``: a 1 in the column, or in each row of a matrix, else 0.
    """

    values: tuple[Fraction, ...]
    shape: tuple[int | str, ...] = ()
    distinct: bool = False
    one_hot: bool = False

    def extents(self, sizes: Mapping[str, str]) -> tuple[int, ...]:
        """The shape, with the sizes that were drawn; raises ValueError for what is none."""
        found = tuple(int(sizes[n] if isinstance(n, str) else n) for n in self.shape)
        if not all(n > 0 for n in found) or prod(found) > MOST_ENTRIES:
            raise ValueError(f"{' × '.join(map(str, found))} is no shape of 1 to {MOST_ENTRIES:,} numbers")
        if self.distinct and prod(found) > len(self.values):
            raise ValueError(f"{prod(found)} numbers, all different, and there are but {len(self.values)}")
        return found

    def drawn(self, draw: Draw, sizes: Mapping[str, str]) -> Rows:
        """The entries row by row, a column as rows of one; raises ValueError for a shape that is none."""
        shape = self.extents(sizes)
        rows, width = (1, 1) if not shape else (shape[0], 1) if len(shape) == 1 else shape
        if self.one_hot:
            groups, size = (1, rows) if len(shape) == 1 else (rows, width)
            found = [Fraction(int(n == place)) for place in (draw(size) for _ in range(groups)) for n in range(size)]
        else:
            left = list(self.values)
            found = [(left.pop if self.distinct else left.__getitem__)(draw(len(left))) for _ in range(rows * width)]
        return tuple(tuple(found[n * width:(n + 1) * width]) for n in range(rows))


def numbers(text: str) -> Numbers:
    """``distinct integers 0..9, 4 x 4`` ↦ what is drawn; raises ValueError for what is no such text, or impossible."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"is neither a list of choices nor numbers as in {EXAMPLE}")
    kind, traits = found["kind"].lower(), found["traits"].split()
    if kind not in KINDS:
        raise ValueError(f"`{found['kind']}` is no kind of numbers; there are {', '.join(f'`{k}`' for k in KINDS)}, "
                         f"as in {EXAMPLE}")
    if (kind in _RANGED) != (found["low"] is not None):
        wanted = f"need a range, as in `{kind} -3..3`" if kind in _RANGED else "has no range"
        raise ValueError(f"`{kind}` {wanted}")
    if found["step"] and kind != "decimals":
        raise ValueError("`by` is for decimals, as in `decimals -1..1 by 0.25`")
    shape = tuple(int(n) if n.isdecimal() else _named(n) for n in re.split(r"\s*[x×]\s*", found["shape"] or "") if n)
    if kind == "one-hot" and not shape:
        raise ValueError("`one-hot` needs a shape, as in `one-hot, 3`")
    values = _values(kind, found, "nonzero" in traits)
    made = Numbers(values, shape, "distinct" in traits, kind == "one-hot")
    if not any(isinstance(n, str) for n in shape):
        made.extents({})
    return made


def _named(text: str) -> str:
    found = re.fullmatch(_NAME, text)
    assert found is not None
    return found[1]


def _values(kind: str, found: re.Match[str], nonzero: bool) -> tuple[Fraction, ...]:
    """What an entry may be."""
    if kind not in _RANGED:
        low, high, step = Fraction(-1 if kind == "signs" else 0), Fraction(1), Fraction(2 if kind == "signs" else 1)
    else:
        low, high = (Fraction(found[end].replace("−", "-")) for end in ("low", "high"))
        step = Fraction(found["step"] or ("1" if kind == "integers" else "0.1"))
        if kind == "integers" and (low.denominator, high.denominator) != (1, 1):
            raise ValueError("the range of `integers` has whole ends; `decimals` may have others")
        if low > high or step <= 0 or (high - low) / step >= MOST_ENTRIES:
            raise ValueError(f"from {found['low']} to {found['high']} there are no numbers to draw, or too many")
    values = tuple(low + n * step for n in range(int((high - low) / step) + 1))
    values = tuple(v for v in values if v) if nonzero else values
    if not values:
        raise ValueError("no number is left to draw")
    return values


def latex(rows: Rows, axes: int) -> str:
    r"""``2``, ``(1, -2)^\top``, ``\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}``: on one line."""
    if axes == 0:
        return decimal(rows[0][0])
    if axes == 1:
        return f"({', '.join(decimal(row[0]) for row in rows)})^\\top"
    return r"\begin{pmatrix} " + r" \\ ".join(" & ".join(map(decimal, row)) for row in rows) + r" \end{pmatrix}"


def listed(rows: Rows, axes: int) -> str:
    """``2``, ``[1, -2]``, ``[[1, 2], [3, 4]]``."""
    parts = [f"[{', '.join(map(decimal, row))}]" if axes == 2 else decimal(row[0]) for row in rows]
    return f"[{', '.join(parts)}]" if axes else parts[0]


def decimal(number: Fraction) -> str:
    """A number of finitely many decimals, with as many as it has."""
    if number.denominator == 1:
        return str(number.numerator)
    return f"{float(number):.6f}".rstrip("0")

