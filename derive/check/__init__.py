"""Check what others wrote: the solution on a card, equation by equation, against the layer of its question."""

from __future__ import annotations

from pathlib import Path

from derive.card import Card
from derive.check.beside import Beside
from derive.check.claims import claims
from derive.check.report import Judged, Report
from derive.errors import DeriveError
from derive.expr import Entry, Fn, Node, Partial, Rel
from derive.module import Module
from derive.verify.report import Verdict

__all__ = ["Judged", "Report", "check"]


def check(card: Card | str | Path, text: str | None = None) -> Report:
    """A verdict on each equation of the card's solution, or of the ``text`` of an answer.

    Raises :class:`derive.errors.DeriveError` where the question is not understood, or a formula is not closed.
    """
    from derive.question import module_of

    read = card if isinstance(card, Card) else Card.read(card)
    module = module_of(read)
    body, first = (read.solution, read.solution_line or 1) if text is None else (text, 1)
    path = read.path if text is None else None
    try:
        return _report(body, first, module, path)
    except DeriveError as error:
        raise error.located(path, first) from None


def _report(text: str, first: int, module: Module, path: str | None) -> Report:
    from derive.calculus.kinks import settled
    from derive.calculus.one_window import derivation
    from derive.check.verdict import verdict
    from derive.formulas import formulas
    from derive.notation import gather
    from derive.notation.rules import rewritten

    messages = derivation(settled(module))
    module = messages.module
    table = gather(rewritten([f for f in formulas(text, first) if "=" in f.latex]), module.table)
    beside, defined = Beside(text, first), list[Node]()
    supposed = ""
    judged, definitions = list[Judged](), list[Judged]()
    for claim in claims(text, first, module):
        said = Judged(claim.formula.line, claim.formula.latex, Verdict.NOT_READ, claim.reason)
        if claim.definition and claim.node is not None:
            defined.append(claim.node)
            definitions.append(Judged(said.line, said.latex, Verdict.NOT_READ, "a definition", definition=True))
        elif claim.node is None:
            judged.append(said)
        elif words := beside.unclear(claim.formula):
            judged.append(Judged(said.line, said.latex, Verdict.NOT_READ, words))
        else:
            found, reason, counterexample = verdict(claim.node, tuple(defined), messages, table, said.latex)
            if found == Verdict.REFUTED:
                doubt = "" if _derivative(claim.node) else "it may be a supposition"
                word = beside.context(claim.formula)
                doubt = doubt or (supposed and f"`{supposed}` before it may say where") or (
                    word and f"{word} beside it may say where")
                if doubt:
                    found, reason, counterexample = Verdict.NOT_READ, f"it does not hold everywhere: {doubt}", None
            judged.append(Judged(said.line, said.latex, found, reason, counterexample))
        if claim.supposes or claim.node is not None and not claim.definition and not _derivative(claim.node) and (
                judged[-1].verdict == Verdict.NOT_READ):
            supposed = supposed or said.latex
    return Report(tuple(judged), tuple(definitions), path)


def _derivative(node: Rel) -> bool:
    """∂y/∂x = …, δ_x = …, σ'(s) = …"""
    head = node.terms[0]
    return isinstance(head, (Partial, Fn)) or isinstance(head, Entry) and head.tensor.startswith("delta_")
