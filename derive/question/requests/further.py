"""Orders behind the derivatives that a question asks for by letters: said to be unanswered, where no row reads them."""

from __future__ import annotations

from collections.abc import Iterator

from derive.notation.rules.kinds import Said
from derive.question.words.lexicon import FAMILIES, named, spans
from derive.question.words.prose import Prose

Place = tuple[int, int]


def further_orders(prose: Prose) -> Iterator[Place]:
    """«Relate your result to clipping.», «Bonus: write each as an einsum.»: no letter, no derivative is asked for.

    Only behind derivatives that letters name: then what is asked of the layer does not hang on these words.
    """
    from derive.question.sentences.meaning import is_settled
    from derive.question.sentences.tokens import asks, in_english, sentences

    by_letters = False
    for tokens in sentences(prose) if in_english(prose.text) else ():
        first = next((t for t in tokens if t.kind == "word"), None)
        if by_letters and first is not None and not any(t.formulas for t in tokens) and not is_settled(tokens):
            start, stop = tokens[0].start, tokens[-1].start + max(1, len(tokens[-1].text))
            derives = named(prose.text[start:stop], "derivative", "message", "wrt")
            if (asks(tokens) and not derives) or not any(spans(first.text, family) for family in FAMILIES):
                yield start, stop
        by_letters |= asks(tokens) and any(
            t.formulas and t.said in (Said.DERIVATIVE, Said.GRADIENT) for t in tokens)
