"""In terms of which letters an answer is asked for: «in terms of $p$ and $t$», «as a function of $x$ only»."""

from __future__ import annotations

from collections.abc import Iterator

from derive.module import Module
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import name_of
from derive.notation.tree import names_in
from derive.question.letters.naming import letters_of
from derive.question.requests.adjoints import message_of
from derive.question.requests.verbs import requested
from derive.question.words.lexicon import named, only
from derive.question.words.prose import Prose
from derive.records import replace

_LISTED = ("naming.and", "naming.article", "naming.only", "letter", "role")


def with_letters_named(module: Module, prose: Prose) -> Module:
    """The module that knows in terms of which of its letters an answer is asked for."""
    found = tuple((letters, where) for letters, where in _asked(prose, module) if letters)
    return replace(module, written_in=found) if found else module


def _asked(prose: Prose, module: Module) -> Iterator[tuple[tuple[str, ...], str]]:
    own = {*module.given, *module.defined}
    for span in named(prose.text, "slot.answer_in", "slot.answer_through"):
        start, stop = prose.sentence(span.start)
        if span.of("slot.answer_through") and not named(prose.text[start : span.start], "slot.expresses"):
            continue
        at, letters = span.stop, dict[str, None]()
        for gap in prose.gaps if requested(prose.text, span.start) else ():
            if at <= gap.start < stop and only(prose.text.replace(",", " "), at, gap.start, *_LISTED):
                derived = kind_of(gap.formula) in (Said.DERIVATIVE, Said.GRADIENT) or message_of(gap.formula)
                inside = [*map(name_of, names_in(gap.formula.tree or ()))]
                if derived:  # that by the output stands in every answer, and so does that of the layer's own loss
                    by = next((n for n in reversed(inside) if n in module.defined), module.output)
                    letters |= {f"delta_{by}": None} if by != module.output else {}
                    inside = []
                letters |= dict.fromkeys(n for n in (*letters_of(gap.formula, module.table), *inside) if n in own)
                at = gap.start + 1
        if at > span.stop:
            yield tuple(letters), prose.said(span.start, at)
        elif output := next((o for o in named(prose.text, "letter.output") if span.stop < o.start < stop and only(
                prose.text, span.stop, o.start, "naming.article")), None):
            yield (module.output, *module.parameters), prose.said(span.start, output.stop)
