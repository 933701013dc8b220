"""Verbs that do something to what goes through a layer, in all their forms, and where they say that it is done.

Beside formulas a clause may describe, name and motivate in any words; what it may not do is to act: “the output is then
masked”, “a hyperbolic tangent squashes each $y_t$”. More words describe than can be listed, and fewer act.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from derive.notation.rules.kinds import Said
from derive.notation.tree import Token as Leaf
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token, sentences
from derive.question.words.prose import Prose

_words = partial(words_of, "en")
_WHO, _MANNER, _BE = _words("WHO_DOES"), _words("IN_WHAT_ORDER"), _words("IS_OR_GETS")
_OBJECT, _NOUN, _ENDS = _words("WHAT_IT_IS_DONE_TO"), _words("BEFORE_A_NOUN"), _words("BEHIND_A_PREDICATE")
_VOWELS = frozenset("aeiou")


def _stems(verb: str) -> Iterator[str]:
    """What -ed and -ing are put behind: scal, mask, clip and clipp, copi and copy."""
    if verb.endswith("e"):
        yield verb[:-1]
        return
    yield verb
    if verb[-1] not in _VOWELS and verb[-2] in _VOWELS:
        yield verb + verb[-1]


def done(verb: str) -> frozenset[str]:
    """masked, scaled, clipped, copied"""
    return frozenset(_ending(stem, "ed") for stem in _stems(verb))


def doing(verb: str) -> frozenset[str]:
    """masking, scaling, clipping, copying"""
    return frozenset(stem + "ing" for stem in _stems(verb))


def does(verb: str) -> frozenset[str]:
    """mask, masks; copy, copies; squash, squashes"""
    return frozenset({verb, _ending(verb, "es" if verb.endswith(("s", "x", "sh", "ch", "z")) else "s")})


def _ending(stem: str, ending: str) -> str:
    if stem[-1] == "y" and stem[-2] not in _VOWELS:
        return stem[:-1] + ("ies" if ending == "s" else "i" + ending)
    return stem + ending


_VERBS, _SHOWN, _NAMES = _words("DOES_SOMETHING"), _words("SHOWN_BY_FORMULAS"), _words("NAMES_TOO")
_BOTH = _words("DOES_OR_NAMES") | _NAMES
DONE = frozenset().union(*map(done, _VERBS | _BOTH)) | _words("SOMETHING_DONE")
DO = frozenset().union(*map(does, (_VERBS | _BOTH) - _NAMES))
DONE_BESIDES = DONE - frozenset().union(*map(done, _SHOWN))
_DO_ALL = DO | frozenset().union(*map(does, _NAMES))
_DO_BESIDES = DO - frozenset().union(*(does(verb) - {verb} for verb in _SHOWN))
_OF_ONE, _OF_ALL = _words("SAYS_MORE_OF_ONE"), _words("SAYS_MORE_OF_ALL")
_ALONE = frozenset().union(*map(does, _VERBS)) | _words("SAYS_MORE")
_DOING = frozenset().union(*map(doing, _VERBS | _BOTH))
_GOES_ON, _BY_ITSELF, _COMPUTED = _words("GOES_ON"), _words("MORE_BY_ITSELF"), _words("IS_COMPUTED")
_OF_DERIVATIVES = _words("OF_DERIVATIVES")


def acts(clause: Sequence[Token], n: int) -> bool:
    """A word that says, where it stands in its clause, that something is done to a value."""
    text = clause[n].text
    follows = clause[n + 1].text if n + 1 < len(clause) else ""
    before, behind = _neighbours(clause, n)
    if text in ("set", "fixed"):
        return follows in ("to", "at")
    if text == "half" and follows == "of" and clause[n + 2 : n + 3] and clause[n + 2].text not in _OBJECT:
        return False  # «half of last year's class lost a sign»
    if text in _OF_ONE:
        return before in ("a", "another")
    if text in _OF_ALL:
        return follows not in ("a", "an")
    if text in _ALONE:
        return not _adds_up(clause, n) and len(clause) > _SHORT  # not «extra thought:»
    if text in _GOES_ON:
        named = before in ("as", "backward", "forward")  # «for the backward pass»
        return not named and follows not in ("forward", "from", "the")  # not «they follow the same pattern»
    if text in DONE:
        if before in _BE or before in ("a", "an") or follows in _ENDS | {""}:
            return True
        return before not in _NOUN and follows not in _OBJECT  # not «the masked entries», «others dropped the mean»
    if text in _COMPUTED:
        return _is_whole(clause, n)
    on_it = behind in _OBJECT or behind == FORMULA and before in _WHO - {"and"}  # not «its filters $W$»
    return before not in _NOUN and (text in _DOING and on_it or text in _DO_ALL and (
        on_it or before in _WHO | {"", FORMULA}))


FORMULA, _SHORT = "∎", 2


def _neighbours(clause: Sequence[Token], n: int) -> tuple[str, str]:
    """The words before and behind, but those that say in what order; “” at an end, a sign for a formula."""
    before = next((t for t in reversed(clause[:n]) if t.text not in _MANNER), None)
    behind = next((t for t in clause[n + 1 :] if t.text not in _MANNER), None)
    one, two = ("" if t is None else FORMULA if t.formulas else t.text for t in (before, behind))
    return one, two


def _is_whole(clause: Sequence[Token], n: int) -> bool:
    """«what leaves it is the square», «its loss is the sum of …», not of a gradient."""
    texts = [t.text for t in clause]
    stands = n > 1 and texts[n - 1] in ("the", "a", "its") and texts[n - 2] in _BE | {"on"}
    return stands and _OF_DERIVATIVES.isdisjoint(texts)


def _adds_up(clause: Sequence[Token], n: int) -> bool:
    """«gradients add up», «add them up»"""
    return "up" in (t.text for t in clause[n + 1 : n + 3])


def predicate(clause: Sequence[Token], n: int) -> bool:
    """It acts as the predicate of its clause: «is then masked», «we add the …», «then halve it»."""
    text = clause[n].text
    if _adds_up(clause, n):
        return False
    follows = clause[n + 1].text if n + 1 < len(clause) else ""
    before, behind = _neighbours(clause, n)
    if text in _BY_ITSELF:
        return follows in _BE | _ENDS | {""}  # not «a noise word»
    if text in DONE_BESIDES:
        return before in _BE or follows in _MANNER | _ENDS | {""} and before not in _NOUN
    noun = any(t.text in ("is", "are") for t in clause[n + 2 : n + 3])  # «the scales $a$ and shifts $b$ are learned»
    of_letter = behind == FORMULA and text.endswith("s") and before != "and" and not noun
    return text in _DO_BESIDES and before in _WHO | {"", FORMULA} and (behind in _OBJECT | {""} or of_letter)


class Told:
    """What of a sentence is no fact about this layer: what was, what one may do and why, a limit, what others do.

    «the centres were found by clustering», «we dropped the biases», «a trick is to replace …», «because they mask …»,
    «if $f = 0$, the state is copied», «outliers count less if the loss is replaced», «(subtract the maximum first)».
    """

    def __init__(self, sentence: Sequence[Token]) -> None:
        self.sentence = sentence
        self.before: dict[int, tuple[bool, str, str]] = {}  # told by what stands before, and the last two words there
        supposed, reason, depth, last, second = sentence[:1] and sentence[0].text == "if", False, 0, "", ""
        formula, plain, condition = False, not any(t.formulas for t in sentence), False
        for token in sentence:
            condition = (condition or plain and token.text == "if" and bool(last)) and token.kind != "sign"
            self.before[token.start] = bool(reason or depth > 0 or condition or supposed and formula), last, second
            depth += (token.text == "(") - (token.text == ")")
            reason = reason or token.text in _WHY | _OTHERS
            formula = formula or bool(token.formulas)
            if token.text not in _MANNER:
                last, second = token.text, last

    def places(self, clause: Sequence[Token]) -> set[int]:
        """Where the words of a clause stand that are told."""
        texts = {t.text for t in clause}
        derived = any(t.formulas and t.said is Said.DERIVATIVE for t in clause)  # «chain it with ∂p/∂z»
        yours = any(a.text == "if" and b.text == "you" for a, b in pairwise(clause))  # «square it if you like»
        inside = any(t.text in _OF_A_FORMULA for t in clause[:2])  # «the numerator compresses the range»
        whole = derived or yours or inside or not _OTHERS.isdisjoint(texts) or any(map(_names, clause))
        back = not _GRADIENTS.isdisjoint(texts) and texts.isdisjoint(_STOPPED)  # «the gradient that is passed down»
        point, adds = not _POINTLIKE.isdisjoint(texts), not _OF_DERIVATIVES.isdisjoint(texts)
        found, past, may = set[int](), False, False
        for token in clause:
            told, last, second = self.before[token.start]
            ended = token.text in DONE and (past or last in _WE)
            aim = last == "to" and second not in _MUST
            # «ignore the kinks», «terms add up»
            aside = point and token.text in _IGNORES or adds and token.text in _ADDS or back and token.text in _GOES_ON
            if whole or told or ended or aim or aside or may:
                found.add(token.start)
            past = past or token.text in _WAS | _ADDITIVE
            may = may or token.text in _MAY or token.text == "when" or last == "how" and token.text in _MUCH
        return found


def is_told(sentence: Sequence[Token], n: int) -> bool:
    """A word of a sentence that is one clause is no fact about this layer."""
    return sentence[n].start in Told(sentence).places(sentence)


def in_bracket(sentence: Sequence[Token], at: int) -> bool:
    return sum((t.text == "(") - (t.text == ")") for t in sentence[:at]) > 0


_OURS = frozenset("input inputs output outputs".split())


def is_background(prose: Prose, place: int) -> bool:
    """The word there tells a story in front of all formulas, of none of its letters, or it is no fact about this layer.
    """
    told = sentences(prose)
    here = next((s for s in told if s[0].start <= place <= s[-1].start + len(s[-1].text)), ())
    n = max((m for m, t in enumerate(here) if t.start <= place), default=None)
    if n is None:
        return False
    first = next((t.start for s in told for t in s if t.equates), 0)
    ours = points(here) or any(t.formulas and t.letters for t in here) or not _OURS.isdisjoint(t.text for t in here)
    return first > here[-1].start and not ours or is_told(here, n)


def in_brackets(prose: Prose, place: int) -> bool:
    """The word there stands in brackets."""
    here = next((s for s in sentences(prose) if s[0].start <= place <= s[-1].start + len(s[-1].text)), ())
    return in_bracket(here, sum(t.start <= place for t in here))


def points(tokens: Sentence) -> bool:
    """It says of what follows: «In the network below, …», «Before it meets the keys, …», not what was before."""
    first = tokens[0].text == "before" and _WAS.isdisjoint(t.text for t in tokens)
    return first or any(t.text in _POINTS for t in tokens)


def _names(token: Token) -> bool:
    r"""\odot, of which a clause says what it does"""
    tree = (token.formula.tree or ()) if token.formulas else ()
    return len(tree) == 1 and isinstance(tree[0], Leaf) and tree[0].type not in ("NAME", "NUMBER")


_WAS, _WE, _WHY, _MAY = _words("WAS"), _words("WE"), _words("OPENS_A_REASON"), _words("MAY")
_OF_A_FORMULA = _words("PART_OF_A_FORMULA")
_IGNORES, _POINTLIKE = frozenset({"ignore", "ignored", "neglect", "neglected"}), _words("POINTS_OF_A_LAYER")
_ADDS = frozenset().union(*(does(v) | done(v) | doing(v) for v in ("add", "sum", "combine", "collect")))
_POINTS = _words("POINTS_TO_FORMULAS")
_GRADIENTS, _STOPPED = frozenset("gradient gradients derivative derivatives".split()), _words("DENIES") | {"through"}
_MUCH = frozenset("much many far strongly".split())  # «decides how much is copied»
_MUST, _OTHERS, _ADDITIVE = _words("HAS_TO"), _words("OTHERS"), _words("ADDITIVE")
