"""Who is who: which of the letters given are inputs, parameters and constants, as front matter says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from derive.errors import CardError, DeriveError, Problem, did_you_mean
from derive.expr import ZERO, Entry, Node, Rel, Size
from derive.module import ROLES, UNSAID
from derive.notation import read
from derive.notation.symbols import Kind, SymbolTable
from derive.pointers import counts, pointing
from derive.records import dataclass


@dataclass(frozen=True)
class Role:
    """What a letter is, and where that is said (empty: nowhere)."""

    role: str
    said: str = ""


def roles_given(values: Mapping[str, Any], lines: Mapping[str, int], letters: tuple[str, ...], table: SymbolTable,
                path: str | None = None) -> Mapping[str, Role]:
    """The roles that front matter gives to letters.

    Raises :class:`CardError` for a letter that the layer is not given, or that stands under two roles.
    """
    found: dict[str, Role] = {}
    problems = []
    for role in ROLES:
        line = lines.get(role)
        for text in _listed(values.get(role)):
            name = text if text in letters else letter_of(text.strip("$ "), table)
            if name in letters:
                if name in found and found[name].role != role:
                    problems.append(Problem(f"`{text}` stands under `{found[name].role}` and `{role}`; keep one",
                                            path, line))
                found[name] = Role(role, f"line {line}: `{role}: {text}`")
                continue
            hint = did_you_mean(text, letters, 0.4, "the layer is given")
            problems.append(Problem(f"`{role}` names `{text}`, which the layer is not given; {hint}", path, line))
    if problems:
        raise CardError(*problems)
    return found


def _listed(value: object) -> list[str]:
    """The letters of a list, or of one line parted by commas."""
    if value is None:
        return []
    items = value if isinstance(value, list) else re.split(r"\s*[,;]\s*", str(value))
    return [str(item).strip() for item in items if str(item).strip()]


def letter_of(latex: str, table: SymbolTable) -> str | None:
    """The tensor or size of w, w_j or W^{(1)}; None for anything else."""
    if len(latex) > 60:
        return None
    bare = table.written(latex.strip())
    if bare is not None and bare.kind in (Kind.TENSOR, Kind.SIZE):
        return bare.name
    try:
        return tensor_of(read(latex, table), table)
    except DeriveError:
        return None


def tensor_of(node: Node, table: SymbolTable) -> str | None:
    """The tensor or size that stands alone."""
    if isinstance(node, Entry) and ZERO in node.indices and table.named(f"{node.tensor}_0") is not None:
        return f"{node.tensor}_0"  # the bias w_{j0}
    return node.tensor if isinstance(node, Entry) else node.name if isinstance(node, Size) else None


def with_whole_numbers(roles: Mapping[str, Role], equations: Sequence[Rel]) -> dict[str, Role]:
    """The roles, in which labels, word numbers and counts, by which nothing is differentiated, are constants."""
    pointers = {name: f"its entries are indices of `{tensor}`" for name, (tensor, _) in pointing(equations).items()}
    said = pointers | dict.fromkeys(counts(equations), "a factorial is taken of it")
    return {**roles, **{name: Role("constants", why) for name, why in said.items() if name in roles}}


def roles_said(roles: Mapping[str, Role]) -> Iterator[str]:
    """Who is who, and where that is said."""
    singular = {"inputs": "input", "parameters": "parameter", "constants": "constant"}
    for name, role in roles.items():
        yield f"{singular[role.role]} `{name}` ({role.said or UNSAID})"
