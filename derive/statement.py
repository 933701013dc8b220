"""What a question says of a layer, formally: formulas or layers by name, roles, shapes, facts, what is asked for.

A statement has a text form in flat front-matter keys; words are one way to a statement, writing it is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

from derive.card import Card
from derive.errors import CardError, Problem
from derive.limits import MOST_CHARACTERS, MOST_FORMULAS, MOST_IN_A_FORMULA
from derive.records import dataclass
from derive.sections import FrontMatter, header_end, lines_of, read_yaml
from derive.tabular import Table, Tabular, formula

# What is read is compared formula by formula and word by word: more than any question has is refused at once.

FORMULAS = ("forward", "functions", "shapes", "ranges", "facts")
LETTERS = ("inputs", "parameters", "constants")
SIZES = ("input_size", "kernel_size", "stride", "padding", "dilation", "output_size")
SINGLE = ("layers", "output", "upstream", "loss", "ceil_mode", "tie_rule")
_LINE = 90  # of a representation
MARK = "?"  # at the end of a text: it is open
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """Where an item was read, and in which words."""

    line: int | None = None
    words: str = ""


@dataclass(frozen=True)
class Open:
    """What is undecided, and the choices that it has."""

    key: str
    message: str
    choices: Texts = ()
    line: int | None = None


@dataclass(frozen=True)
class Statement(Tabular):
    r"""Texts by key, None where the statement says nothing.

    ``layers`` gives layers by name (``linear -> relu``), or ``forward`` gives formulas in the notation;
    ``functions`` are those that they apply (``f(s) = s^2``).  ``shapes`` holds ``W \in \mathbb{R}^{K \times n}``,
    ``ranges`` ``0 \le k < K``, ``facts`` ``\epsilon > 0``; ``derive`` kinds of messages (forward, backward,
    jacobian, vjp, parameters, mask), derivatives, and steps ``W \leftarrow W - \eta \frac{\partial \ell}{\partial W}``;
    ``values`` numbers of letters, ``x = (1, 2)``.  ``loss`` and
    ``upstream`` are the letters of ℓ and of ∂ℓ/∂y.  ``sources`` says where each item was read; ``open`` what is
    undecided: a text that ends in ``?`` stands for it.
    """

    layers: str | None = None
    forward: Texts | None = None
    functions: Texts | None = None
    inputs: Texts | None = None
    parameters: Texts | None = None
    constants: Texts | None = None
    shapes: Texts | None = None
    ranges: Texts | None = None
    facts: Texts | None = None
    derive: Texts | None = None
    output: str | None = None
    upstream: str | None = None
    loss: str | None = None
    input_size: Texts | None = None
    kernel_size: Texts | None = None
    stride: Texts | None = None
    padding: Texts | None = None
    dilation: Texts | None = None
    ceil_mode: str | None = None
    output_size: Texts | None = None
    tie_rule: str | None = None
    values: Texts | None = None
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=dict, compare=False, repr=False)
    open: tuple[Open, ...] = field(default=(), compare=False, repr=False)
    origin: str = field(default="the front matter", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Numbers and sequences as they are passed from Python become texts, and blanks single ones."""
        for key in KEYS:
            value = getattr(self, key)
            if value is None:
                continue
            listed = [value] if isinstance(value, (str, int)) else list(value)
            texts = tuple(" ".join(_text(item).split()) for item in listed)
            object.__setattr__(self, key, texts[0] if key in SINGLE else texts)

    def __repr__(self) -> str:
        said = ", ".join(f"{key}={getattr(self, key)!r}" for key, _ in self.given())
        return f"Statement({said if len(said) < _LINE else said[:_LINE] + ' …'})"

    def _table(self) -> Table:
        def cell(key: str, text: str) -> str:
            words = key in SIZES or key in ("layers", "ceil_mode", "tie_rule") or key == "derive" and text.isalpha()
            return text if words else formula(text.removesuffix(MARK)) + MARK * text.endswith(MARK)

        rows = ((key, ", ".join(cell(key, text) for text in items)) for key, items in self.given())
        return Table(("key", "says"), tuple(rows))

    def given(self) -> Iterator[tuple[str, Texts]]:
        """(key, items) of all that the statement says, in the order of its text."""
        for key in KEYS:
            value = getattr(self, key)
            if value is not None:
                yield key, (value,) if key in SINGLE else value

    def line(self, key: str, n: int = 0) -> int | None:
        """The line of an item."""
        found = self.sources.get(key, ())
        return found[n].line if n < len(found) else None

    def unfinished(self) -> Iterator[Problem]:
        """What ends in ``?``."""
        for key, items in self.given():
            for n, text in enumerate(items):
                if text.endswith(MARK):
                    yield Problem(f"`{key}: {text}` is open: write what is meant in its place, or delete the line "
                                  "where nothing is missing", None, self.line(key, n), key=key)

    def overlaid(self, other: Statement) -> Statement:
        """This statement with what ``other`` says in place of its own; functions, shapes and facts are added."""
        values = {key: getattr(self if getattr(other, key) is None else other, key) for key in KEYS}
        sources = {**self.sources, **other.sources}
        for key in ("functions", "shapes", "facts"):
            mine, theirs = getattr(self, key) or (), getattr(other, key) or ()
            if mine and theirs:
                values[key] = mine + theirs
                sources[key] = tuple(Source(self.line(key, n)) for n in range(len(mine))) + other.sources.get(key, ())
        origins = dict.fromkeys(s.origin for s in (self, other) if any(True for _ in s.given()))
        return Statement(**values, sources=sources, open=self.open + other.open, origin=" and ".join(origins))

    @cached_property
    def header(self) -> Mapping[str, Any]:
        """The values that its front matter has: texts, lists of them, and numbers."""
        return {key: items[0] if key in SINGLE and key != "ceil_mode" else _value(items[0]) if key == "ceil_mode" else
                _sizes(items) if key in SIZES else list(items) for key, items in self.given()}

    @cached_property
    def text(self) -> str:
        """The statement as lines of front matter: formulas in block lists, single-quoted."""
        return "".join(f"{line}\n" for key, items in self.given() for line in written(key, items))

    @staticmethod
    def parse(text: str, first_line: int = 1, file: str | None = None) -> Statement:
        """The statement in lines of front matter, whatever other keys stand there; ``---`` may stand around them.

        Raises :class:`CardError` for what is no YAML, no text or list of texts, and where YAML
        changes a formula.
        """
        lines = lines_of(text)
        fences = [n for n, line in enumerate(lines) if line.strip() == "---"]
        if fences and not "".join(lines[: fences[0]]).strip():
            first_line += fences[0] + 1
            text = "".join(lines[fences[0] + 1 : fences[1] if len(fences) > 1 else None])
        return _parsed(text, read_yaml(text, first_line, file), first_line, file)

    @staticmethod
    def of(card: Card) -> Statement:
        """The statement in a card's front matter; raises as :meth:`parse`."""
        if not any(key in card.front_matter for key in KEYS):
            return Statement()
        lines = lines_of(card.text)
        return _parsed("".join(lines[1 : header_end(lines) - 1]), card.header, 2, card.path)


KEYS: Texts = tuple(f.name for f in fields(Statement) if f.name not in ("sources", "open", "origin"))


def with_statement(card: Card, statement: Statement) -> Card:
    """The card with a statement's keys in place of its own, its text as it is."""
    header = card.header
    lines = {key: line for key, _ in statement.given() if (line := statement.line(key)) is not None}
    values = {key: value for key, value in header.values.items() if key not in lines or key in statement.header}
    return Card(card.text, FrontMatter(MappingProxyType({**values, **statement.header}),
                                       MappingProxyType({**header.lines, **lines}), header.written), card.id, card.path)


def written_into(card: Card, statement: Statement) -> str:
    """The card's whole text with the statement in its front matter; a key that says it already stays as it is.

    Every byte of other lines is kept; new keys stand behind all others.
    """
    import yaml

    lines = lines_of(card.text)
    end = header_end(lines) - 1
    ending = "\r\n" if lines[0].endswith("\r\n") else "\n"
    node = yaml.compose("".join(lines[1:end]), yaml.SafeLoader)
    places = {key.value: (key.start_mark.line + 1, _last_line(value) + 2) for key, value in node.value} if node else {}
    own = Statement.of(card)
    added: list[str] = []
    for key, items in sorted(statement.given(), key=lambda i: places.get(i[0], (0, 0)), reverse=True):
        if getattr(own, key) == getattr(statement, key):
            continue
        new = [line + ending for line in written(key, items)]
        if key in places:
            start, stop = places[key]
            lines[start:stop] = new
        else:
            added = added + new
    end = header_end(lines) - 1
    return "".join((*lines[:end], *added, *lines[end:]))


def _last_line(node: Any) -> int:
    """The line on which the last text of a value ends; of a block of lines, its last line that is not empty."""
    inside = [item for value in node.value for item in (value if isinstance(value, tuple) else (value,))] if isinstance(
        node.value, list) else []
    if not inside or node.flow_style:
        mark = node.end_mark
        return int(mark.line) - (mark.column == 0 and mark.line > node.start_mark.line)
    return _last_line(inside[-1])


def with_layer(card: Card, name: str) -> Card:
    """The card with this one layer named under ``layer``."""
    lines = {**card.header.lines, "layer": card.header.lines.get("layers", 1)}
    header = FrontMatter(MappingProxyType({**card.header.values, "layer": name}), MappingProxyType(lines),
                         card.header.written)
    return Card(card.text, header, card.id, card.path)


# --- text → statement ------------------------------------------------------------------------------------------------

_QUOTED = "write it in single quotes, `- '…'`"
_ESCAPE = re.compile(r"\\(?:\r?\n\s*(?:\\ )?|(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.))", re.DOTALL)
_COMMENT = re.compile(r"[ \t]+#")


def _parsed(text: str, header: FrontMatter, first_line: int, file: str | None) -> Statement:
    import yaml

    problems: list[Problem] = []
    found: dict[str, Any] = {}
    sources: dict[str, tuple[Source, ...]] = {}
    node = yaml.compose(text, yaml.SafeLoader) if any(key in header.values for key in KEYS) else None
    for name, value in node.value if node is not None else ():
        key = name.value if isinstance(name, yaml.ScalarNode) else None
        if key not in KEYS or header.values[key] is None:
            continue
        items, wrong = _items(key, value, text)
        problems += [Problem(f"`{key}`: {what}", file, first_line + line) for what, line in wrong]
        found[key] = items if key not in SINGLE else next((t for t, _ in items), None)
        sources[key] = tuple(Source(first_line + line, f"`{key}: {t}`") for t, line in items)
        found[key] = [t for t, _ in items] if key not in SINGLE else found[key]
        if key in SINGLE and len(items) != 1 and not wrong:
            problems.append(Problem(f"`{key}` is one text and no list", file, first_line + value.start_mark.line))
    problems += list(_too_long(found, sources, file))
    if problems:
        raise CardError(*dict.fromkeys(problems))
    return Statement(**found, sources=MappingProxyType(sources))


def _items(key: str, value: Any, text: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """(items with their lines, problems with theirs) of a value."""
    import yaml

    if isinstance(value, yaml.ScalarNode):
        wrong = _changed(value, text)
        pieces = value.value.split("\n") if value.style in ("|", ">") else [value.value]
        below = value.style in ("|", ">")
        items = [(t.strip(), value.start_mark.line + below + n) for n, t in enumerate(pieces) if t.strip()]
        return items, [(wrong, value.start_mark.line)] if wrong else []
    if not isinstance(value, yaml.SequenceNode):
        return [], [(f"YAML reads a mapping here (`: ` or braces); {_QUOTED}", value.start_mark.line)]
    items, problems = [], []
    for item in value.value:
        line = item.start_mark.line
        may_be_parted = value.flow_style and item is not value.value[-1]
        if key == "padding" and isinstance(item, yaml.SequenceNode) and len(item.value) == 2 and all(
                isinstance(end, yaml.ScalarNode) for end in item.value):
            items.append(("+".join(end.value for end in item.value), line))  # [before, behind]
        elif not isinstance(item, yaml.ScalarNode):
            problems.append((f"YAML reads no text here (`: `, braces or brackets); {_QUOTED}", line))
        elif wrong := _changed(item, text, may_be_parted):
            problems.append((wrong, line))
        else:
            items.append((item.value, line))
    return items, problems


def _changed(node: Any, text: str, may_be_parted: bool = False) -> str | None:
    """What YAML makes of a formula that is not in single quotes; ``may_be_parted``: a comma stands behind it."""
    start, end = node.start_mark.index, node.end_mark.index
    if node.style == '"':
        for match in _ESCAPE.finditer(text, start + 1, end - 1):
            if match[1] and match[1] not in ("\\", '"') and (match[1][0] not in "xuU" or not node.value.isprintable()):
                return f"in double quotes YAML changes `{match[0]}`; {_QUOTED}"
    if node.style is None:
        if _COMMENT.match(text, end):
            return f"YAML ends the text at ` #`; {_QUOTED}"
        if may_be_parted and _unclosed(node.value):
            return f"YAML parts the text at a comma; {_QUOTED}"
    return None


def _unclosed(text: str) -> bool:
    """A round bracket is open at the end; square ones and braces YAML takes for its own."""
    depth = 0
    for char in text:
        depth = depth + 1 if char == "(" else max(0, depth - 1) if char == ")" else depth
    return depth > 0


def _too_long(found: Mapping[str, Any], sources: Mapping[str, tuple[Source, ...]],
              file: str | None) -> Iterator[Problem]:
    items = [(t, s.line) for key, value in found.items() if value is not None
             for t, s in zip([value] if key in SINGLE else value, sources[key], strict=False)]
    for text, line in items:
        if len(text) > MOST_IN_A_FORMULA:
            yield Problem(f"a text of {len(text):,} characters, and at most {MOST_IN_A_FORMULA:,} are read", file, line)
    if len(items) > MOST_FORMULAS or sum(len(text) for text, _ in items) > MOST_CHARACTERS:
        yield Problem(f"the statement has {len(items):,} items of {sum(len(t) for t, _ in items):,} characters, and at "
                      f"most {MOST_FORMULAS} of {MOST_CHARACTERS:,} are read", file, items[0][1])


# --- statement → text ------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"[A-Za-z]\w*")
_NUMBERS = re.compile(r"\d+(?:\+\d+)?")
_WORDS = frozenset("yes no on off true false null y n".split())  # what a YAML reader may take for no text


def _text(item: Any) -> str:
    if isinstance(item, bool):
        return str(item).lower()
    if isinstance(item, Sequence) and not isinstance(item, str):
        return "+".join(map(str, item))  # (before, behind)
    text = str(item)
    if not all(c.isprintable() or c.isspace() for c in text):
        raise CardError(f"`{text!r}` holds a sign that cannot be printed")
    return text


def _sizes(items: Texts) -> Any:
    """``3``, ``[3, 2]``, ``[[0, 1], 2]`` or ``same``."""
    found = [_value(item) for item in items]
    return found[0] if len(found) == 1 and not isinstance(found[0], list) else found


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d{1,6}", text):
        return int(text)
    return [int(end) for end in text.split("+")] if re.fullmatch(r"\d{1,6}\+\d{1,6}", text) else text


def written(key: str, items: Texts) -> list[str]:
    """The lines of one key."""
    if key in SINGLE:
        word = items[0]
        flag = key == "ceil_mode"
        plain = word in ("true", "false") if flag else _PLAIN.fullmatch(word) and word.lower() not in _WORDS
        return [f"{key}: {word if plain else _single(word)}"]
    if all(_PLAIN.fullmatch(t) and t.lower() not in _WORDS or key in SIZES and _NUMBERS.fullmatch(t) for t in items):
        return [f"{key}: [{', '.join(items)}]"]
    return [f"{key}:", *(f"  - {_single(t)}" for t in items)]


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
