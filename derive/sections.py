"""The parts of a card's file: the YAML header, read only, and where the sections begin and end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from types import MappingProxyType
from typing import Any

from derive.errors import CardError, Problem
from derive.limits import MOST_DEPTH, MOST_IN_A_HEADER
from derive.records import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")  # str.splitlines would also split at U+2028 and \f
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}=+[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}$")
_KINDS = {
    "question": re.compile(r"(question|otázka|zadání)( \d+)?:?", re.IGNORECASE),
    "solution": re.compile(r"(solution|solutions|řešení):?", re.IGNORECASE),
    "related": re.compile(r"(related concepts|related|související pojmy):?", re.IGNORECASE),
}


@dataclass(frozen=True)
class Heading:
    """A heading: its kind ('question', 'solution', 'related', 'other') and the lines it takes."""

    kind: str
    level: int
    start: int
    stop: int


def lines_of(text: str) -> list[str]:
    """The lines with their ends: their concatenation is the text."""
    return _LINE.findall(text)


def bare(line: str) -> str:
    """The line without its end."""
    return line.rstrip("\r\n")


def is_rule(line: str) -> bool:
    """A thematic break of dashes, as between question and solution."""
    return _RULE.match(bare(line)) is not None


def headings(lines: list[str], start: int = 0) -> Iterator[Heading]:
    """The headings from line ``start`` on, in order, numbered from 0."""
    skipped = _inside_code_or_comment(lines, start)
    for n in range(start, len(lines)):
        if n in skipped:
            continue
        line = bare(lines[n])
        atx = _ATX.match(line)
        if atx:
            yield Heading(_kind(atx[2] or ""), len(atx[1]), n, n + 1)
        elif line.strip() and n + 1 < len(lines) and _SETEXT.match(bare(lines[n + 1])):
            yield Heading(_kind(line), 1, n, n + 2)


def _kind(title: str) -> str:
    plain = " ".join(title.strip(" \t*_").split())
    return next((kind for kind, names in _KINDS.items() if names.fullmatch(plain)), "other")


def _inside_code_or_comment(lines: list[str], start: int) -> set[int]:
    inside = set()
    fence = ""
    comment = False
    last_close = {c: max((n for n, line in enumerate(lines) if _closes(line, c * 3)), default=-1) for c in "`~"}
    ended = _comments_that_end(lines)
    for n in range(start, len(lines)):
        line = bare(lines[n])
        mark = _FENCE.match(line)
        if fence:
            inside.add(n)
            fence = "" if _closes(line, fence) else fence
        elif comment:
            inside.add(n)
            comment = "-->" not in line
        elif mark and n < last_close[mark[1][0]]:  # an unclosed fence would swallow the rest: it opens nothing
            inside.add(n)
            fence = mark[1]
        else:
            comment = n in ended
    return inside


def _closes(line: str, fence: str) -> bool:
    mark = _FENCE.match(line)
    return mark is not None and mark[1].startswith(fence) and not line.strip(" \t`~\r\n")


def _comments_that_end(lines: list[str]) -> set[int]:
    """Lines that open a comment which a later line ends, before another comment opens."""
    found = set()
    ends = False
    for n in range(len(lines) - 1, -1, -1):
        if ends and "-->" not in lines[n].rpartition("<!--")[2] and "<!--" in lines[n]:
            found.add(n)
        opening, closing = lines[n].find("<!--"), lines[n].find("-->")
        if opening >= 0 or closing >= 0:
            ends = closing >= 0 and (opening < 0 or closing < opening)
    return found




@dataclass(frozen=True)
class FrontMatter:
    """key ↦ value; ``lines`` holds the file's line of each key, ``written`` each scalar as it stands."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)


_HALF = re.compile("[\ud800-\udfff]")
_NESTING = {f"{kind}{end}Token": step for end, step in (("Start", 1), ("End", -1))
            for kind in ("FlowSequence", "FlowMapping", "BlockSequence", "BlockMapping", "Block")}  # fmt: skip


def read_yaml(text: str, first_line: int = 1, file: str | None = None, what: str = "the front matter",
              as_written: bool = False) -> FrontMatter:  # fmt: skip
    """text ↦ (values, lines), flat or nested, with plain YAML types only; ``as_written``, each scalar as its text.

    Raises :class:`CardError` for what is not a mapping, for tags, anchors and
    aliases, for a key written twice and for anything YAML itself refuses.
    """
    import yaml

    def problem(message: str, line: int) -> CardError:
        return CardError(Problem(message, file, first_line + line))

    kind = "BaseLoader" if as_written else "SafeLoader"
    with suppress(yaml.YAMLError, AttributeError):  # what is wrong YAML's own words say better; libyaml may be missing
        return _read(text, getattr(yaml, f"C{kind}"), problem, what, first_line)
    try:
        return _read(text, getattr(yaml, kind), problem, what, first_line)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        formula = "\\" in "".join(text.split("\n")[line : line + 1]) or "escape" in str(error.problem)
        hint = "; write a formula in single quotes, `- '…'`" if formula else ""
        if "{{" in "".join(text.split("\n")[line : line + 1]):
            hint = "; write a choice in single quotes, `'{{…}}'`"
        raise problem(f"{what} is not YAML: {error.problem}{hint}", line) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise problem(f"{what} is not YAML: {str(error).splitlines()[0]}", 0) from None


def _read(text: str, loader: Any, problem: Callable[[str, int], CardError], what: str, first_line: int) -> FrontMatter:
    import yaml

    _guard(text, loader, problem)
    loaded = loader(text)
    try:
        node = loaded.get_single_node()
        if node is None:
            return FrontMatter()
        if not isinstance(node, yaml.MappingNode):
            raise problem(f"{what} is not a mapping; write lines of the form `key: value`", 0)
        pairs = [(k.value, k, v) for k, v in node.value if isinstance(k, yaml.ScalarNode)]
        for name, key in _repeated((n, k) for n, k, _ in pairs):
            raise problem(f"the key `{name}` is written twice; keep one", key.start_mark.line)
        values = {}
        for name, key, value in pairs:
            try:
                values[name] = loaded.construct_object(value, deep=True)
            except ValueError as error:  # a date or a number that is none
                raise problem(f"`{name}` has no valid value: {error}", key.start_mark.line) from None
    finally:
        loaded.dispose()
    return FrontMatter(
        MappingProxyType(values),
        MappingProxyType({name: first_line + key.start_mark.line for name, key, _ in pairs}),
        MappingProxyType({name: v.value for name, _, v in pairs if isinstance(v, yaml.ScalarNode)}),
    )


def _guard(text: str, loader: Any, problem: Callable[[str, int], CardError]) -> None:
    """Raise for what would be much work to build, or is more than plain values."""
    import yaml

    depth = 0
    for token in yaml.scan(text, loader):
        depth += _NESTING.get(type(token).__name__, 0)
        if depth > MOST_DEPTH:
            raise problem(f"lists in lists deeper than {MOST_DEPTH} are not read", token.start_mark.line)
        if isinstance(token, yaml.ScalarToken) and _HALF.search(token.value):
            raise problem("half of a character stands there; write the whole", token.start_mark.line)
        if isinstance(token, (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken)):
            mark = token.start_mark
            raise problem("YAML tags, anchors and aliases are not read; write the value itself", mark.line)


def _repeated(items: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for name, node in items:
        if name in seen:
            yield name, node
        seen.add(name)


def begins(lines: list[str]) -> bool:
    """The text begins as a card does, with ``---``."""
    return bool(lines) and lines[0].removeprefix("\ufeff").rstrip() == "---"


def header_end(lines: list[str], file: str | None = None) -> int:
    """The number of lines that the front matter takes, with both its ``---``; 0 where there is none.

    Raises :class:`CardError` where it is not closed, or only below a section's heading.
    """
    if not begins(lines):
        return 0
    end = next((n + 1 for n in range(1, len(lines)) if bare(lines[n]).rstrip() in ("---", "...")), 0)
    inside = range(1, end or len(lines))
    asked = next((n for n in inside if re.match(r"#{1,6}\s+(question|solution)\b", lines[n], re.IGNORECASE)), None)
    if not end or asked is not None:
        hint = f" before `{bare(lines[asked])}`" if asked is not None else ""
        raise CardError(Problem(f"the front matter is not closed; add a line `---`{hint}", file, 1))
    return end


def front_matter(lines: list[str], file: str | None = None) -> FrontMatter:
    """The front matter of a card; raises :class:`CardError` where there is none, or it is not YAML."""
    end = header_end(lines, file)
    if not end:
        raise CardError(Problem("there is no front matter; begin the card with `---`, `id: …`, `---`", file, 1))
    text = "".join(lines[1 : end - 1])
    if len(text) > MOST_IN_A_HEADER:
        message = f"a front matter of {len(text):,} characters, and at most {MOST_IN_A_HEADER:,} are read"
        raise CardError(Problem(message, file, 1))
    return read_yaml(text, 2, file)
