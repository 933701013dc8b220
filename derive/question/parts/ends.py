"""What goes into layers that only words name and what comes out of them, where derivatives alone give it a letter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.question.letters.naming import bare_letters
from derive.question.parts.chain import Chain
from derive.question.requests.quotients import derivative_parts
from derive.question.words.lexicon import named

_OF = re.compile(r"\\partial\s*(\\?[A-Za-z]+(?:\s*\{\s*[A-Za-z]\s*\})?)\s*(?:/|\}\s*\{)")  # the letter above
_THE_OUTPUT = re.compile(r"(?: down)? (?:(?:the|its) )?(?:output |result |formula for |expression for )?∎")


def call_loss(chain: Chain, written: Sequence[Formula], taken: set[str]) -> None:
    """L of ∂L/∂z is the loss of the chain, where no other letter is differentiated."""
    asked = {m[1].strip() for f in written for m in _OF.finditer(f.latex)} - taken
    if len(asked) == 1:
        chain.loss_letter = asked.pop()


def refuse_output(chain: Chain) -> None:
    """«Write down the output $y$» asks for the forward message, which the request does not say."""
    text = chain.prose.text
    if named(text, "request.forward"):
        return
    for verb in named(text, "ask.verb"):
        said = _THE_OUTPUT.match(text, verb.stop)
        if said is None or text[: verb.start].endswith("to "):  # «a gain to give $y$»
            continue
        if chain.parts[-1].letters.get("output") in bare_letters(
                next(g.formula for g in chain.prose.gaps if g.start == said.end() - 1)):
            quoted = chain.prose.plain.quote(verb.start, said.end())
            raise CardError(Problem(f"“{quoted}”: ask for “the forward message”",
                                    line=chain.prose.plain.line(verb.start), key="derive"))


def call_ends(chain: Chain, written: Sequence[Formula]) -> str:
    r"""x of ∂y_i/∂x_j, where the words give the input no letter; y of it and of ∂L/∂y_i becomes the last part's."""
    source, last = chain.letter("input") or "", chain.parts[-1]
    if any(p.loss for p in chain.parts):
        return source
    known = chain.bound | {source}
    quotients = [(f.latex, above, below) for f in written for above, below in [derivative_parts(f.latex)] if below]
    outputs = {above for latex, above, _ in quotients if above and "_" in latex.split(r"\partial")[1]} - known
    by = {below for *_, below in quotients} - known - outputs
    arrive = by if source and not outputs else ()
    if "output" not in last.letters and len({*outputs, *arrive}) == 1:
        chain.parts[-1] = replace(last, letters={**last.letters, "output": next(iter({*outputs, *arrive}))})
    elif not source and outputs <= known and len(by) == 1:
        return by.pop()
    return source or (by.pop() if len(by) == 1 and not arrive else "")
