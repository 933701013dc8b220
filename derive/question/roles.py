"""Who is who: which letters are inputs, which trainable parameters, which constants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from derive.card import Card
from derive.errors import CardError, Problem, did_you_mean
from derive.notation.symbols import SymbolTable
from derive.question.naming import Mention, letter_of
from derive.question.patterns import one_of

ROLES = ("inputs", "parameters", "constants")
_FIXED = one_of(
    r"\bfixed\b", r"\bgiven (?:threshold|slope|scale|level)\b",
    r"\bnot (?:trainable|trained|learn\w*|a (?:trainable|learn\w*))", r"\bnon-?trainable",
    r"\bhyper-?param\w*", r"\bpředem dan\w*", r"\bpevn\w*",
)  # fmt: skip
_TRAINED = one_of(
    r"\btrainable\b", r"\btrained\b(?! (?:to|by|on|with|using|for|so)\b)", r"\blearn(?:able|ed|t)\b",
    r"\badaptive param\w*", r"\badapted\b", r"\bfitted\b",
    r"\bto be estimated\b", r"\btrénovateln\w*", r"\bučen[áéý]\w*", r"\bučiteln\w*",
)  # fmt: skip
_PARAMETERS = one_of(
    r"\bweights?\b", r"\bweighting\b", r"\bbias(?:es)?\b", r"\bfilters?\b", r"(?<!gaussian )\bkernels?\b",
    r"\bparam(?:eter)?s?\b", r"\bcoefficients?\b", r"\bgains?\b", r"\bshift\b", r"\bembedding matrix",
    r"\bthresholds?\b", r"\boffsets?\b", r"\btaps\b",
    r"\bváh\w*", r"\bvah\w*", r"\bparametr\w*", r"\bprah\w*", r"\bfiltr\w*",
)  # fmt: skip
_CONSTANTS = one_of(
    r"\btargets?\b", r"\blabels?\b", r"\bground[- ]truth\b", r"\bconstants?\b", r"\bdesired\b", r"\bteacher\b",
    r"\bteaching (?:value|signal|input)s?",
    r"\btrue (?:class|value|output|distribution|label)s?\b", r"\bnumerical stability\b", r"\btemperature\b",
    r"\bmargin\b", r"\bregulari[sz]ation (?:strength|coefficient|weight)", r"\bone-hot\b",
    r"\bobserved (?:value|output)s?", r"\bsmall (?:positive )?(?:number|scalar|value)", r"\bdata\b",
    r"\bconstant[ay]?\b", r"\bcílov\w*", r"\bpožadovan\w*", r"\bkonstant\w*", r"\bznačk\w*",
)  # fmt: skip
_INPUTS = one_of(
    r"\binputs?\b", r"\bactivations?\b", r"\bpre-?activations?\b", r"\blogits?\b", r"\bscores?\b", r"\bfeatures?\b",
    r"\bsignals?\b", r"\bpredict(?:ions?|ed)\b", r"\bimages?\b", r"\bquer(?:y|ies)\b", r"\bkeys?\b", r"\bvstup\w*",
)  # fmt: skip
_THRESHOLD = re.compile(r"\bthresholds?\b")
_POSITIVE = re.compile(r">|\\(?:gt|geq?)(?![a-z])")
_NOUNS = {"parameters": _PARAMETERS, "constants": _CONSTANTS, "inputs": _INPUTS}
_ASIDE = re.compile(r"\b(?:at|to(?! be\b)|by|into|with|from|via|before|after)\b")


@dataclass(frozen=True)
class Role:
    """What a letter is, and where that is said (empty: nowhere)."""

    role: str
    said: str = ""


def roles_of(letters: Iterable[str], found: Iterable[Mention], card: Card, table: SymbolTable) -> dict[str, Role]:
    """The role of each letter: as the front matter says, else as the words do; an input where nothing does.

    Raises :class:`CardError` for a letter of the front matter that the layer does not have.
    """
    letters = tuple(letters)
    roles = {name: Role("inputs") for name in letters}
    strong: dict[str, Role] = {}
    stated = _front_matter(card, letters, table)
    for mention in found:
        role = _role(mention)
        for name in mention.letters:
            if name in roles and role is not None and (not roles[name].said or _strong(mention)):
                roles[name] = Role(role, mention.said)
                other = strong.setdefault(name, roles[name]) if _strong(mention) else roles[name]
                if other.role != role and name not in stated:
                    raise CardError(Problem(f"`{name}` is one of the {other.role} ({other.said}) and of the {role} "
                                            f"({mention.said}); keep one", line=mention.formula.line))
    roles.update(stated)
    return roles


def _strong(mention: Mention) -> bool:
    """Said to be fixed or trained: that wins over «weight» or «input»."""
    return any(p.search(t) for p in (_FIXED, _TRAINED) for t in (mention.before, mention.after))


def _role(mention: Mention) -> str | None:
    """As the words behind the letter say, else those in front of it; the noun next to the letter decides."""
    for text, whole, behind in (
        (_ASIDE.split(mention.after)[0], mention.after, True), (mention.before, mention.before, False)
    ):  # fmt: skip
        if _FIXED.search(text) or (_THRESHOLD.search(text) and _POSITIVE.search(mention.formula.latex)):
            return "constants"  # a neuron's threshold, which is learnt, has either sign
        if (trained := _TRAINED.search(whole)) and trained.start() < len(text):
            return "parameters"
        nouns = [(m.start(), role) for role, pattern in _NOUNS.items() for m in pattern.finditer(text)]
        if nouns:
            return (min if behind else max)(nouns)[1]
    return None


def _front_matter(card: Card, letters: tuple[str, ...], table: SymbolTable) -> Mapping[str, Role]:
    found: dict[str, Role] = {}
    problems = []
    for role in ROLES:
        line = card.key_line(role)
        for text in _listed(card.front_matter.get(role)):
            name = text if text in letters else letter_of(text.strip("$ "), table)
            if name in letters:
                if name in found and found[name].role != role:
                    problems.append(Problem(f"`{text}` stands under `{found[name].role}` and `{role}`; keep one",
                                            card.path, line))
                found[name] = Role(role, f"line {line}: `{role}: {text}`")
                continue
            hint = did_you_mean(text, letters, 0.4, "the layer is given")
            problems.append(Problem(f"`{role}` names `{text}`, which the layer is not given; {hint}", card.path, line))
    if problems:
        raise CardError(*problems)
    return found


def _listed(value: object) -> list[str]:
    """The letters of a list, or of one line parted by commas."""
    if value is None:
        return []
    items = value if isinstance(value, list) else re.split(r"\s*[,;]\s*", str(value))
    return [str(item).strip() for item in items if str(item).strip()]
