"""What clauses say of entries one by one or of all of them, as formulas: their mean, gains, what is added to them."""

from __future__ import annotations

import re
from typing import Any

from derive.notation.symbols import name_of
from derive.question.sentences.tokens import Token
from derive.question.told.clauses import Clause, of
from derive.question.told.named_costs import Costs
from derive.question.told.values import Unread

_BELOW = re.compile(r"_\s*(?:\{([A-Za-z, ]+)\}|([A-Za-z]))")  # m_c
_ALL = frozenset("all global scalar single whole entire every".split())


class Entries(Costs):
    """The part of a writing that is about entries: reduced over axes, scaled, added."""

    def reduced(self, clause: Clause, op: str, over: Any) -> tuple[list[str], list[str]]:
        r"""y_c = \operatorname{mean}_{i,j} x_{cij}: over the axes that what comes out does not have."""
        source = self.value(clause.parts.get("in"), clause)
        letter, noun = self.output(clause.parts.get("out"), clause)
        token = of(clause.parts.get("out")).get("letter", clause.behind)
        kept = self.subscripts(token)
        known = self.table.named(name_of(letter))
        kept = kept or (tuple(known.axes) if known is not None else ())
        axes = source.axes or (("k",) if source.letter.islower() and not source.latex else ())
        gone = [a for a in axes if a not in kept]
        whole = not {t.text for t in clause.tokens[clause.first : clause.last]}.isdisjoint(_ALL)
        told = isinstance(over, Token) and gone != [over.formula.latex.strip()]
        if not gone or not {*kept} <= {*axes} or len(gone) > 1 and not (kept or whole) or told:
            raise Unread("over what")
        mentioned = self.mention(source)
        self.makes(clause, letter, noun, tuple(a for a in axes if a in kept), op)
        sign = r"\operatorname{mean}" if op == "mean" else rf"\{op}"
        left = f"{letter}_{{{''.join(kept)}}}" if kept else letter
        return [rf"{left} = {sign}_{{{','.join(gone)}}} {source.letter}_{{{''.join(axes)}}}"], mentioned

    def scaled(self, clause: Clause, by: dict[str, Any]) -> tuple[list[str], list[str]]:
        r"""y_k = g_k x_k of a vector or of gains with subscripts, y_k = a x_k of a factor."""
        source = self.value(clause.parts.get("in"), clause)
        letter, noun = self.output(clause.parts.get("out"), clause)
        token, called = by["letter"], str(by["noun"]).split()
        own, axes = self.subscripts(token), source.axes or (("k",) if source.letter.islower() else ())
        each = bool(own) or "vector" in called
        if source.latex or not each and called[-1] not in ("factor", "scalar", "number", "constant") or (
                each and own not in ((), axes[-1:])) or not axes or "matrix" in called:
            raise Unread("by what is scaled")
        mentioned = [*self.mention(source), f"{by['noun']} ${self.written[token.start]}$"]
        self.makes(clause, letter, noun, axes, "scaled")
        below = "".join(axes)
        gain = f"{self.letter(token)}_{{{axes[-1]}}}" if each else self.letter(token)
        return [f"{letter}_{{{below}}} = {gain} {source.letter}_{{{below}}}"], mentioned

    def added(self, clause: Clause) -> tuple[list[str], list[str]]:
        r"""y_k = h_k + x_k, of two values that are written with one and the same index."""
        more = of(clause.parts["more"]).get("letter")
        if not isinstance(more, Token):
            raise Unread("what is added")
        other = self.known(self.letter(more), more, of(clause.parts["more"]).get("noun", ""))
        source = self.value(clause.parts.get("in"), clause)
        self.used.add(name_of(other.letter))
        letter, noun = self.output(clause.parts["out"], clause)
        axes = source.axes or other.axes or (("k",) if source.letter.islower() and other.letter.islower() else ())
        same = {len(own) for own in (source.axes, other.axes) if own}
        if source.latex or other.letter == source.letter or not axes or len(same) > 1:
            raise Unread("what is added to what")
        mentioned = [*self.mention(source), *self.mention(other)]
        self.makes(clause, letter, noun, axes, "added")
        below = "".join(axes)
        return [f"{letter}_{{{below}}} = {source.letter}_{{{below}}} + {other.letter}_{{{below}}}"], mentioned

    def subscripts(self, token: Token | None) -> tuple[str, ...]:
        """c of $m_c$, as the card writes it."""
        found = _BELOW.search(self.written.get(token.start, "")) if token is not None and token.formulas else None
        return tuple(re.findall(r"[A-Za-z]", found[1] or found[2])) if found else ()
