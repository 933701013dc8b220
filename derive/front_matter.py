"""The YAML header of a card, read only: it is cut out verbatim and never written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from derive.errors import CardError, Problem
from derive.sections import bare

MAX_DEPTH = 20


@dataclass(frozen=True)
class FrontMatter:
    """key ↦ value; ``lines`` holds the file's line of each key, ``written`` each scalar as it stands."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)


def read_yaml(text: str, first_line: int = 1, file: str | None = None, what: str = "the front matter",
              as_written: bool = False) -> FrontMatter:  # fmt: skip
    """text ↦ (values, lines), flat or nested, with plain YAML types only; ``as_written``, each scalar as its text.

    Raises :class:`CardError` for what is not a mapping, for tags, anchors and
    aliases, for a key written twice and for anything YAML itself refuses.
    """
    import yaml

    def problem(message: str, line: int) -> CardError:
        return CardError(Problem(message, file, first_line + line))

    try:
        depth = 0
        for token in yaml.scan(text, yaml.SafeLoader):
            depth += isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken))
            depth -= isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken))
            if depth > MAX_DEPTH:
                raise problem(f"lists in lists deeper than {MAX_DEPTH} are not read", token.start_mark.line)
            if isinstance(token, (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken)):
                mark = token.start_mark
                raise problem("YAML tags, anchors and aliases are not read; write the value itself", mark.line)
        loader = (yaml.BaseLoader if as_written else yaml.SafeLoader)(text)
        try:
            node = loader.get_single_node()
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
                    values[name] = loader.construct_object(value, deep=True)
                except ValueError as error:  # a date or a number that is none
                    raise problem(f"`{name}` has no valid value: {error}", key.start_mark.line) from None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise problem(f"{what} is not YAML: {error.problem}", line) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise problem(f"{what} is not YAML: {str(error).splitlines()[0]}", 0) from None
    return FrontMatter(
        MappingProxyType(values),
        MappingProxyType({name: first_line + key.start_mark.line for name, key, _ in pairs}),
        MappingProxyType({name: v.value for name, _, v in pairs if isinstance(v, yaml.ScalarNode)}),
    )


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
    return read_yaml("".join(lines[1 : end - 1]), 2, file)
