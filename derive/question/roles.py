"""Who is who: which letters are inputs, parameters, constants; which are numbers, vectors, matrices, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from derive.card import Card
from derive.errors import CardError, Problem
from derive.notation.symbols import SymbolTable, name_of
from derive.question.lexicon import named
from derive.question.naming import Mention, bare_letters, mentions
from derive.question.prose import Prose, one_of
from derive.specify.roles import Role, roles_given

_RANKS = {"rank.matrix": 2, "rank.vector": 1, "rank.scalar": 0}
_SINGLE = ("role.constant", "rank.scalar")
_NUMBERED = re.compile(r"\s*\\?[A-Za-z]+\s*_\s*\{?\d\}?(?:\s*,\s*\\?[A-Za-z]+\s*_\s*\{?\d\}?)*\s*(?:(?:>|\\geq?).*)?")


def rows_said(prose: Prose) -> bool:
    """Whether the words call vectors rows."""
    return bool(named(prose.text, "rank.rows"))


def softmax_said(prose: Prose) -> str:
    """«rows» or «columns», of what a softmax is taken by the sentences that name it; empty where they say neither."""
    here = {prose.sentence(span.start) for span in named(prose.text, "part.softmax")}
    along = [span for span in named(prose.text, "along") if prose.sentence(span.start) in here]
    found = {span.concept.partition(".")[2] for span in along}
    return found.pop() if len(found) == 1 else ""


_PREPOSITION = re.compile(r"\b(?:by|with|from|via|into|through|of|for|to(?! be\b))\b")  # «projected by the matrix»


def ranks_said(prose: Prose) -> dict[str, int]:
    """name ↦ number of axes."""
    ranks: dict[str, int] = {}
    for mention in mentions(prose, bare_letters):
        for text in (_PREPOSITION.split(mention.after)[0], mention.before):
            rank = max((_RANKS[span.concept] for span in named(text, *_RANKS)), default=None)
            if rank is not None:
                for latex in mention.letters:
                    ranks.setdefault(name_of(latex), rank)
                break
        if named(f"{mention.before} {mention.after}", *_SINGLE) and _NUMBERED.fullmatch(mention.formula.latex):
            ranks |= dict.fromkeys(map(name_of, mention.letters), 0)
    return ranks


_LETTER = re.compile(r"\s*(\\?[A-Za-z]+(?:_\{?\\?[A-Za-z]+\}?)?)\s*")
_SHAPE = re.compile(r"\s*[A-Za-z](?:\s*\\times\s*(?:[A-Za-z]|\d+))+\s*")
_KIND = (
    r"(?:number of|total number|size of|batch size|mini-?batch size|dimension|length of|count of|depth of|\w* ?size\b"
    r"|počet|velikost|rozměr|dimenze|délka)"
)
_IS = re.compile(
    r"[\s,]*(?:is|are|denotes?|being|represents?|stands? for|je|značí|označuje|=|-|–)\s+(?:the |a |an )?(?:\w+ ){0,2}?"
    + _KIND
)
_OF = r"(?:batch|mini-?batch|vocabulary|sample|kernel|filter|window|input|output|hidden|layer)"
_BEFORE = one_of(
    r"number of [\w\s-]{1,30}\s*$", rf"{_OF} sizes?(?: of)?\s*$",
    r"dimension(?:s|ality)?(?: of)?(?: [\w-]+){0,3}\s*$", r"(?:of|with) (?:length|size)\s*$",
    r"počet [\w\s]{1,30}\s*$", r"(?:velikost|dimenz|rozměr|délk)\w*\s*$", r"(?:(?:mini-?)?batch of|set of)\s*$",
)  # fmt: skip
_AFTER = re.compile(
    r"(?:-dimensional|-dim\b|-element"
    r"| (?:samples|examples|classes|inputs|outputs|units|neurons|features|observations|data ?points|elements|entries"
    r"|training (?:samples|examples|patterns)|dimensions|components|channels|hidden units|keys|patterns"
    r"|feature maps|filters"
    r"|tříd\w*|vzork\w*|prvk\w*|neuron\w*|jednot\w*|výstup\w*|vstup\w*))\b"
)


def sizes_said(prose: Prose) -> Iterator[str]:
    """The LaTeX of letters that are sizes: «$n$ is the number of samples», «$K$ classes», «$N \\times p$»."""
    for gap in prose.gaps:
        latex = gap.formula.latex
        sizes = latex.split(r"\times") if _SHAPE.fullmatch(latex) else ()
        yield from (size.strip() for size in sizes if size.strip().isalpha())
        letter = _LETTER.fullmatch(latex)
        if letter is None:
            continue
        rest = prose.text[gap.start + 1 : gap.start + 80]
        before = prose.text[max(0, gap.start - 60) : gap.start]
        if _IS.match(rest) or _BEFORE.search(before) or _AFTER.match(rest):
            yield letter[1]


_NOUNS = {"parameters": "role.parameter", "constants": "role.constant", "inputs": "role.input"}
_THRESHOLD = re.compile(r"\bthresholds?\b")
_POSITIVE = re.compile(r">|\\(?:gt|geq?)(?![a-z])")
_ASIDE = re.compile(r"\b(?:at|to(?! be\b)|by|into|with|from|via|before|after)\b")


_THEN_IT = re.compile(r"\band (?:it )?(?:is|are)\b")  # «is shared by all units and it is a parameter»


def roles_of(letters: Iterable[str], found: Iterable[Mention], card: Card, table: SymbolTable) -> dict[str, Role]:
    """The role of each letter: as the front matter says, else as the words do; an input where nothing does.

    Raises :class:`CardError` for a letter of the front matter that the layer does not have.
    """
    letters = tuple(letters)
    roles = {name: Role("inputs") for name in letters}
    strong: dict[str, Role] = {}
    stated = roles_given(card.front_matter, card.header.lines, letters, table, card.path)
    for mention in found:
        role = _role(mention)
        for name in mention.letters:
            if name in roles and role is not None and (not roles[name].said or _strong(mention)):
                roles[name] = Role(role, mention.said)
                other = strong.setdefault(name, roles[name]) if _strong(mention) else roles[name]
                if other.role != role and name not in stated:
                    raise CardError(Problem(f"`{name}` is one of the {other.role} ({other.said}) and of the {role} "
                                            f"({mention.said}); keep one", line=mention.formula.line, key=role))
    roles.update(stated)
    return roles


def _strong(mention: Mention) -> bool:
    """Said to be fixed or trained: that wins over «weight» or «input»."""
    return any(named(text, "role.fixed", "role.trained") for text in (mention.before, mention.after))


def _role(mention: Mention) -> str | None:
    """As the words behind the letter say, else those in front of it; the noun next to the letter decides."""
    said = _ASIDE.split(_THEN_IT.split(mention.after)[-1])[0]
    for text, whole, behind in ((said, mention.after, True), (mention.before, mention.before, False)):
        if named(text, "role.fixed") or (_THRESHOLD.search(text) and _POSITIVE.search(mention.formula.latex)):
            return "constants"  # a neuron's threshold, which is learnt, has either sign
        if any(span.start < len(text) for span in named(whole, "role.trained")):
            return "parameters"
        nouns = [(span.start, role) for role, noun in _NOUNS.items() for span in named(text, noun)]
        if nouns:
            return (min if behind else max)(nouns)[1]
    return None


_USUAL = frozenset("W w b theta Theta".split())


def with_usual_parameters(roles: Mapping[str, Role]) -> dict[str, Role]:
    """The roles where parameter messages are asked for and no word says of which letters: weights W, w, biases b, θ;
    where inputs are called so, all that nothing is said of.

    Raises :class:`CardError` where there are none, or nothing else.
    """
    bare = {name for name, role in roles.items() if not role.said}
    known = any(role.said and role.role == "inputs" for role in roles.values())
    usual = bare if known else {name for name in bare if name.partition("_")[0] in _USUAL}
    if not usual or usual == {*roles}:
        raise CardError(Problem("the parameter messages are asked for, and no letter is said to be a parameter: list "
                                "them under `parameters` in the front matter", key="parameters"))
    said = "nothing else is said of it, and parameter messages are asked for"
    return {name: Role("parameters", said) if name in usual else role for name, role in roles.items()}
