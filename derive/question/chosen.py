"""A fixed index: L = −log p_c with c the correct class is one loss for each c, L_c."""

from __future__ import annotations

from dataclasses import replace

from derive.expr import Entry, Idx, Node, Rel, free_indices, transform
from derive.question.lexicon import named
from derive.question.naming import bare_letters, mentions
from derive.question.prose import Prose
from derive.question.reading import Read
from derive.specify.definitions import statements


def with_chosen(read_: Read, prose: Prose) -> tuple[Read, tuple[str, ...]]:
    """Losses with a fixed index c on the right carry it on the left, where the words call c a class or an index."""
    said: list[str] = []
    while not named(prose.text, "chosen.apart") and (found := _open(read_)) is not None:
        name, index = found
        words = _said(index, prose)
        if words is None:
            break
        said.append(f"${name}$ is one number for each ${index.name}$ ({words})")
        read_ = _carrying(read_, name, index)
    return read_, tuple(dict.fromkeys(said))


def _open(read_: Read) -> tuple[str, Idx] | None:
    """The first scalar of which the value leaves one index open."""
    for _, node in read_.nodes:
        for claim in statements(node):
            if not isinstance(claim, Rel) or set(claim.ops) != {"="}:
                continue
            head, *values = claim.terms
            loose = [i for i in free_indices(values[-1]) if isinstance(i, Idx)]
            if isinstance(head, Entry) and not head.indices and len(loose) == 1:
                return head.tensor, loose[0]
    return None


def _said(index: Idx, prose: Prose) -> str | None:
    for mention in mentions(prose, bare_letters):
        words = f"{mention.before} | {mention.after}"
        if index.name in mention.letters and named(words, "chosen.class") and not named(words, "chosen.counted"):
            return mention.said
    return None


def _carrying(read_: Read, name: str, index: Idx) -> Read:
    """Every formula with name_index for the name alone."""
    def go(node: Node) -> Node | None:
        return Entry(name, (index,)) if isinstance(node, Entry) and node.tensor == name and not node.indices else None

    symbol = read_.table.named(name)
    assert symbol is not None
    table = read_.table.extended([replace(symbol, axes=(index.name,), sizes=())])
    return replace(read_, nodes=tuple((f, transform(node, go)) for f, node in read_.nodes), table=table)
