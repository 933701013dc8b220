"""Concepts that words name beside formulas, and by what these show them: a padding, a temperature, a loss."""

from __future__ import annotations

import re
from collections.abc import Iterator

from derive.errors import Problem, RequestError
from derive.expr import Add, Bracket, Cases, Entry, Extremum, Fn, Reduce, walk
from derive.module import Module
from derive.notation.symbols import name_of
from derive.question.letters.naming import bare_letters
from derive.question.words.prose import GAP, Prose

_PADDED = re.compile(
    r"\b(?<!no )(?<!without )(?<!any )(?:zero[ -]padding|same padding|periodic(?:ally)?|circular(?:ly)?|"
    r"wrap[ -]?around|edge replication|(?:taken )?modulo|(?:same|circular) convolution|padding of|padding \d)\b")
_NUMBER = re.compile(
    rf"\bwith (?:a |the |an )?(?:small |fixed |learned |trainable |constant |negative )?"
    rf"(?:temperature|slope|threshold|margin|cap)s? (?:of )?(?P<what>{GAP}|\d+(?: \d+)?)")
_LOSS = re.compile(r"\bwith (?:the|an?) (?!(?:scalar|training|given|final|total|overall|some|upstream|unknown|usual|"
                   r"following)\b)"
                   rf"(?P<name>[a-z0-9][a-z0-9 -]{{0,24}}?) loss(?: {GAP})?(?=[.,;]|$)")


def refuse_unshown(prose: Prose, module: Module) -> None:
    """Raise :class:`RequestError` for what words name beside formulas that do not show it."""
    for start, stop in (*_padded(prose, module), *_numbers(prose, module), *_losses(prose, module)):
        raise RequestError(Problem(f"“{prose.plain.quote(start, stop)}” is said, and no formula of the layer shows it: "
                                   "write the forward formulas with it", line=prose.plain.line(start), key="forward"))


def _padded(prose: Prose, module: Module) -> Iterator[tuple[int, int]]:
    """Entries beyond the ends, of sums over shifted entries that nothing guards."""
    nodes = [n for e in module.equations for n in walk(e)]
    shifted = any(isinstance(n, Entry) and any(isinstance(i, Add) for i in n.indices) for n in nodes)
    guarded = any(isinstance(n, (Bracket, Cases, Extremum)) or isinstance(n, Fn) and n.name in ("mod", "floor")
                  or isinstance(n, Reduce) and n.binder.cond is not None for n in nodes)
    if shifted and not guarded and not module.fields:
        yield from (m.span() for m in _PADDED.finditer(prose.text))


def _numbers(prose: Prose, module: Module) -> Iterator[tuple[int, int]]:
    """«with temperature $T$» where no formula has a T."""
    own = {*module.given, *module.defined, *(name for name, _ in module.steps)}
    for found in _NUMBER.finditer(prose.text):
        gap = next((g for g in prose.gaps if g.start == found.start("what")), None)
        letters = {*map(name_of, bare_letters(gap.formula))} if gap is not None else set()
        if gap is not None and letters and not letters & own and "=" not in gap.formula.latex:
            yield found.span()


def _losses(prose: Prose, module: Module) -> Iterator[tuple[int, int]]:
    """«with the L2 loss $L$» of a layer whose formulas end before it."""
    entry, _ = module.definition(module.output)
    scalar = not entry.indices and module.output in ("ell", *"CEJLRQ")
    yield from (m.span() for m in _LOSS.finditer(prose.text) if not scalar)
