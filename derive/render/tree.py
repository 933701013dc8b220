"""What writers of a Markdown syntax tree have in common: a method for each kind of node, and the line they are at."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from derive.errors import DeriveError

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_PART = re.compile(r"\s*(\*\*)?\(?([A-Za-z]|\d{1,2}|[ivx]{1,4})[.)]")  # A) … (1) … **a)** …
_SEEN = 12  # characters that tell whether a part begins


class TreeWriter:
    """Writes a node by the method of its type, else by ``inline``; ``line`` follows the source for messages."""

    def __init__(self, first_line: int = 0) -> None:
        self.first_line = self.line = first_line

    def inline(self, node: SyntaxTreeNode) -> str:
        raise NotImplementedError

    def write(self, node: SyntaxTreeNode) -> str:
        if node.map:
            self.line = self.first_line + node.map[0]
        written: str = getattr(self, f"_{node.type}", self.inline)(node)
        return written

    def formula(self, write: Callable[[str, bool], str], latex: str, display: bool) -> str:
        """A formula as ``write`` has it; an error names the line in the card."""
        try:
            written = write(latex, display)
        except DeriveError as error:
            first = self.line + (error.problems[0].line or 0)
            raise type(error)(error.problems[0].message).located(None, first) from None
        self.line += latex.count("\n")
        return written


def opens_part(siblings: list[SyntaxTreeNode], at: int) -> bool:
    """The text from a sibling on begins like ``A)``, ``(1)`` or ``**a)**``: it stands on a line of its own."""
    following = "**" if at < len(siblings) and siblings[at].type == "strong" else ""
    for n in range(at, len(siblings)):
        following += plain(siblings[n])[:_SEEN]
        if len(following) >= _SEEN:
            break
    return bool(_PART.match(following))


def plain(node: SyntaxTreeNode) -> str:
    """The text of a node without its marks, to measure and to compare."""
    return "".join(map(plain, node.children)) if node.children else node.content if not node.is_root else ""
