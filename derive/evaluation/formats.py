"""An evaluation as plain lists and as titled tables: for the terminal, and as JSON, Markdown and HTML."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from derive.axes import axes
from derive.evaluation import Evaluation, Jacobian, Tensor
from derive.evaluation.values import letter
from derive.records import dataclass
from derive.render import hypertext
from derive.render.html import font
from derive.render.unicode import inline
from derive.words import environment, wording

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

Index = tuple[int, ...]


def data(found: Evaluation) -> dict[str, Any]:
    """All numbers, whole, by the names of the letters; ±∞ as the texts "Infinity" and "-Infinity"."""
    module = found.solution.module
    result: dict[str, Any] = {
        "card": module.key, "tie_rule": module.tie_rule,
        "given": _tensors(found.given), "upstream": finite(found.upstream.values.tolist()),
        "intermediate": _tensors(found.intermediates), "forward": _tensors((found.output,)),
    }  # fmt: skip
    if found.mask is not None:
        result["selected"] = [{"output": o, "inputs": i} for o, i in chosen(found.jacobians[0]).items()]
        result["mask"] = _tensors((found.mask,))
    result["jacobian"] = {j.wrt: _jacobian(j) for j in found.jacobians}
    result["gradients"] = _tensors(found.gradients)
    result["backward"] = _tensors(found.messages)
    return result


def chosen(jacobian: Jacobian) -> dict[Index, list[Index]]:
    """Output index → the input indices that its window passes on."""
    found: dict[Index, list[Index]] = {}
    for out, into, _ in jacobian.entries or ():
        found.setdefault(out, []).append(into)
    return found


def _tensors(tensors: Iterable[Tensor]) -> dict[str, Any]:
    return {t.name: finite(t.values.tolist()) for t in tensors}


def _jacobian(jacobian: Jacobian) -> dict[str, Any] | None:
    if jacobian.entries is None:
        return None
    entries = [{"output": o, "input": i, "value": finite(v)} for o, i, v in jacobian.entries]
    return {"shape": [list(shape) for shape in jacobian.shape], "entries": entries}


def finite(value: Any) -> Any:
    """A number or lists of numbers as JSON can hold them."""
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


WIDEST = 16  # columns of a table
WIDEST_JACOBIAN = 10  # its columns have longer names
LONGEST = 40  # its rows


@dataclass(frozen=True)
class Table:
    """``caption``, a header whose first cell stands over the rows' names, and rows; a single number has no header.

    Letters stand in ``$…$`` as LaTeX.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    @property
    def headline(self) -> str:
        r"""``$\delta_f$ (upstream gradient)``, ``$\ell$ = 3``."""
        value = "" if self.header else "".join(f" = {row[0]}" for row in self.rows)
        return " ".join(filter(None, [self.caption + value, f"({self.note})" if self.note else ""]))


@dataclass(frozen=True)
class Section:
    title: str
    tables: tuple[Table, ...]


def sections(found: Evaluation) -> tuple[Section, ...]:
    """Given numbers, all values up to the output, what each window selects, Jacobians, messages."""
    return tuple(_Writer(found).sections())


def number(value: float) -> str:
    """A number with six significant digits."""
    text = f"{value:.6g}"
    return text.replace("-", "−")


class _Writer:
    """Writes one evaluation with the letters of its card."""

    def __init__(self, found: Evaluation) -> None:
        self.found = found
        self.module = found.solution.messages.module
        self.say: Any = wording(self.module.language, "values")
        self.output = self.module.output

    def sections(self) -> Iterator[Section]:
        found, say = self.found, self.say
        given = [t for tensor in found.given for t in self.tensor(tensor.name, tensor.values)]
        ones = bool((found.upstream.values == 1).all())
        given += self.tensor(self.output, found.upstream.values, self.delta(self.output), say.upstream(ones))
        yield Section(say.given(), tuple(given))
        values = (*found.intermediates, found.output)
        yield Section(say.forward(), tuple(t for v in values for t in self.tensor(v.name, v.values)))
        if found.mask is not None:
            yield Section(say.selected(), (self.selected(found.jacobians[0]),))
            caption = f"${letter(self.module, found.mask.name)}$"
            yield Section(say.mask(), tuple(self.tensor(found.mask.name, found.mask.values, caption, say.times())))
        if found.jacobians:
            yield Section(say.jacobian(), tuple(t for j in found.jacobians for t in self.jacobian(j)))
        for title, own in ((say.gradients(), found.gradients), (say.message(), self.messages(self.module.inputs)),
                           (say.parameters(), self.messages(self.module.parameters))):  # fmt: skip
            if own:
                yield Section(title, tuple(t for m in own for t in self.tensor(m.name, m.values, self.delta(m.name))))

    def messages(self, names: tuple[str, ...]) -> tuple[Tensor, ...]:
        return tuple(m for m in self.found.messages if m.name in names)

    def delta(self, name: str) -> str:
        return f"${letter(self.module, f'delta_{name}')}$"

    def origin(self, name: str) -> Callable[[Index], Index]:
        """Positions in an array ↦ indices as the formula counts them, from 0 or 1."""
        found = axes(self.module)
        return lambda at: tuple(n + found.origin(name, d) for d, n in enumerate(at))

    def tensor(self, name: str, values: NDArray[np.float64], label: str = "", note: str = "") -> Iterator[Table]:
        """A table for each matrix in a tensor; a vector is one row."""
        label = label or f"${letter(self.module, name)}$"
        if values.ndim == 0:
            yield Table(label, (), ((number(float(values)),),), note)
            return
        at = self.origin(name)
        for lead in itertools.islice(np.ndindex(values.shape[:-2]), LONGEST):
            matrix = np.atleast_2d(values[lead])
            first = at((*lead, 0, 0))[-2:] if values.ndim > 1 else (0, at((0,))[0])
            names = [str(first[0] + r) if values.ndim > 1 else "" for r in range(len(matrix))]
            columns = [str(first[1] + c) for c in range(matrix.shape[1])]
            caption = f"{label}[{', '.join(map(str, at((*lead, 0, 0))[:len(lead)]))}, ·, ·]" if lead else label
            yield self.matrix(caption, names, columns, [[number(v) for v in row] for row in matrix[:LONGEST + 1]], note)

    def matrix(self, caption: str, names: list[str], columns: list[str], cells: list[list[str]], note: str) -> Table:
        """A table of at most so many rows and columns."""
        wide, long = len(columns) > WIDEST, len(names) > LONGEST
        header = ("", *columns[:WIDEST], *(["…"] if wide else []))
        rows = [(name, *row[:WIDEST], *(["…"] if wide else []))
                for name, row in zip(names[:LONGEST], cells, strict=False)]  # fmt: skip
        if long:
            rows.append(("⋮", *["⋮"] * (len(header) - 1)))
        return Table(caption, header, tuple(rows), note)

    def jacobian(self, jacobian: Jacobian) -> Iterator[Table]:
        """A scalar's gradient in the input's shape; else a small matrix, or the entries that are not zero."""
        target, source = letter(self.module, self.output), letter(self.module, jacobian.wrt)
        label = rf"$\partial {target}/\partial {source}$"
        outputs, inputs = (int(np.prod(shape)) for shape in jacobian.shape)
        if jacobian.entries is None:
            yield Table(label, (), (), self.say.too_large(f"{outputs * inputs:,}"))
            return
        if jacobian.shape[0] == ():
            values = np.zeros(jacobian.shape[1])
            for _, i, v in jacobian.entries:
                values[i] = v
            yield from self.tensor(jacobian.wrt, values, label)
            return
        note = self.say.nonzero(len(jacobian.entries), f"{outputs * inputs:,}")
        out, into = self.origin(self.output), self.origin(jacobian.wrt)
        if inputs <= WIDEST_JACOBIAN and outputs <= LONGEST:
            known = {(o, i): v for o, i, v in jacobian.entries}
            places = [list(np.ndindex(shape)) for shape in jacobian.shape]
            cells = [[number(known.get((o, i), 0.0)) for i in places[1]] for o in places[0]]
            names, columns = ([_entry(sign, at(p)) for p in ps]
                              for sign, at, ps in zip((target, source), (out, into), places, strict=True))
            yield self.matrix(label, names, columns, cells, note)
            return
        rows = [(_entry(target, out(o)), _entry(source, into(i)), number(v)) for o, i, v in jacobian.entries[:LONGEST]]
        more = len(jacobian.entries) - len(rows)
        if more:
            note = f"{note}; {self.say.more(more)}"
        yield Table(label, (self.say.output(), self.say.input(), self.say.value()), tuple(rows), note)

    def selected(self, jacobian: Jacobian) -> Table:
        """For each output the entries that its window passes on."""
        selected = chosen(jacobian)
        out, into = self.origin(self.output), self.origin(jacobian.wrt)
        source, target = letter(self.module, jacobian.wrt), letter(self.module, self.output)
        rows = [(_entry(target, out(o)), ", ".join(_entry(source, into(i)) for i in entries))
                for o, entries in itertools.islice(selected.items(), LONGEST)]  # fmt: skip
        more = len(selected) - len(rows)
        note = self.say.tie_rule(self.module.tie_rule) + (f"; {self.say.more(more)}" if more else "")
        return Table("", (self.say.output(), self.say.input()), tuple(rows), note)


def _place(at: Index) -> str:
    return ",".join(map(str, at))


def _entry(latex: str, at: Index) -> str:
    """``$x_{12}$``, ``$x_{10,2}$``."""
    plain = all(0 <= n < 10 for n in at)
    return f"${latex}_{{{''.join(map(str, at)) if plain else _place(at)}}}$" if at else f"${latex}$"


_MATHS = re.compile(r"(?<!\\)\$(.+?)\$")
_ESCAPES = str.maketrans({"|": "\\|", "*": "\\*", "_": "\\_", "[": "\\[", "<": "\\<"})


def as_json(found: Evaluation) -> str:
    """All numbers, whole; indices are counted from 0."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
             for key, value in data(found).items())  # fmt: skip
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_markdown(found: Evaluation) -> str:
    template = environment("values").get_template("values.md")
    return template.render(title=_title(found), sections=sections(found), cell=_cell) + "\n"


def _cell(text: str) -> str:
    """A cell's words escaped, its formulas left as they are."""
    parts = _MATHS.split(text)  # words and formulas in turn
    return "".join(f"${part}$" if n % 2 else part.translate(_ESCAPES) for n, part in enumerate(parts))


def as_html(found: Evaluation) -> str:
    """A page that stands alone."""
    made = environment("values", autoescape=True)
    made.filters["inline"] = lambda text: hypertext.inline(_cell(text))
    return made.get_template("values.html").render(title=_title(found), sections=sections(found), font=font()) + "\n"


FORMATS: dict[str, Callable[[Evaluation], str]] = {"json": as_json, "md": as_markdown, "html": as_html}


def _title(found: Evaluation) -> str:
    title: str = wording(found.solution.sheet.language, "values").title(found.solution.module.key)
    return title


def for_terminal(found: Evaluation) -> RenderableType:
    """Tables to print on a rich console."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for section in sections(found):
        parts.append(Text(section.title, "bold underline"))
        for table in section.tables:
            parts += [_Grid(table), Text()]
    return Group(*parts[:-1])


def _plain(text: str) -> str:
    """Formulas in Unicode."""
    return _MATHS.sub(lambda found: inline(found[1]), text)


class _Grid:
    """A table with as many columns as the terminal is wide: a number is shown whole or not at all."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        table = self.table
        if table.headline:
            yield Text(_plain(table.headline))
        if not table.header:
            return
        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="dim")
        rows = _fitting([tuple(map(_plain, row)) for row in (table.header, *table.rows)], options.max_width)
        for n, name in enumerate(rows[0]):
            grid.add_column(Text(name), justify="right", style="dim" if n == 0 else "", no_wrap=True)
        for row in rows[1:]:
            grid.add_row(*map(Text, row))
        yield grid


def _fitting(rows: list[tuple[str, ...]], width: int) -> list[tuple[str, ...]]:
    """The rows, or their first columns and an ellipsis."""
    wide = [max(map(len, column)) + 3 for column in zip(*rows, strict=True)]
    if sum(wide) <= width:
        return rows
    kept = max(1, sum(total <= width - 4 for total in itertools.accumulate(wide)))
    return [(*row[:kept], "…") for row in rows]
