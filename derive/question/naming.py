"""Which letters a piece of prose speaks of: «the weights $W$ and the bias $b$», «$t$ is the target»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from derive.errors import DeriveError
from derive.notation import read_formula
from derive.notation.formulas import Formula
from derive.notation.rules.columns import roles
from derive.notation.rules.kinds import equates
from derive.notation.rules.lists import collected
from derive.notation.rules.trees import letter
from derive.notation.symbols import Kind, SymbolTable, latex_of, lexicon
from derive.notation.tree import Item, Items, Scripted, base_of, is_group, is_token, normal, unwrap
from derive.notation.vocabulary import kind
from derive.question.prose import GAP, Gap, Prose
from derive.records import dataclass
from derive.specify.roles import tensor_of

_JOINED = re.compile(r"[\s,&()]*(?:and|or|a|i|as well as|resp|respectively)?[\s,&()]*(?:the |its |a |an )?[\s]*")
_IS = re.compile(
    r"(?:\s+\(?(?=the |an? |its |their |(?:all |both |each )?(?:trainable|learn(?:able|ed|t)|fixed|constants?)\b)"
    r"|[\s,)]*(?:both |all |each |here |also )*"
    r"(?:is|are|(?:(?:shall|should|must|can|may|will|has to|have to) )?be|being"
    r"|denotes?|represents?|stands? for|serves? as|contains?|holds?|as"
    r"|je|jsou|značí|označuj\w*|představuj\w*|-|–|:)\s+)([^.?!;¶∎]*)"
)
_ONE = re.compile(r"[\s,)]*(?:here |also )*(?:is|denotes|represents|stands for|serves as|contains|holds|je|značí)\s")
_SPACE = re.compile(r"\\in\s*\\mathbb")
_FURTHER = re.compile(r"\b(?:and|by|from|to|of|between|in|at|for|with|on|that|which)\b")
_AND = re.compile(r"\b(?:and|a)\b")
_APART = r"where|with|for|given|such|let|so|which|when|if|then|kde|pro"
_LISTED = re.compile(rf"\s*,?\s*(?:and|or|a|i)?\s*(?:(?:the|its|a|an) )?(?:(?!(?:{_APART})\b)[\w-]+ ){{0,3}}")
_PLURAL = re.compile(r"\b(?:parameters|constants|inputs|targets|labels)\s*$")  # not «weights $w$, $x$»
_ARE = re.compile(r"\s+(?:both |all )?(?:are|denote|jsou)\s+([^.?!;¶∎]*)")
_NOUNS = re.compile(  # «$W$ is a matrix and $b$ a vector», «$T$ are weight matrices and $c$, $b$ bias vectors»
    r"\s+((?:an? )?(?:[a-z-]+ ){0,2}(?:vectors?|matri(?:x|ces)|weights?|bias(?:es)?|parameters?|constants?"
    r"|scalars?|numbers?|targets?|labels?|inputs?)\b[^.?!;¶∎]*)")
_VERB = re.compile(r"∎[\s,)]*(?:both |all )?(?:is|are|denotes?)\s[^.?!;¶]*\band\s[^.?!;¶]*$")
_BEFORE = re.compile(r"[^.?!;:,¶∎()]*$")
_FAR = 500  # characters that a noun may stand before its letter
_LONGEST_LIST = 50  # letters of one list


@dataclass(frozen=True)
class Mention:
    """Letters with the words in front of them and those that say what they are, and where."""

    letters: tuple[str, ...]
    before: str
    after: str
    said: str
    formula: Formula


def mentions(prose: Prose, named: Callable[[Formula], tuple[str, ...]]) -> Iterator[Mention]:
    """The places where the prose names letters; ``named`` says which a formula names."""
    before, start = "", 0
    for n, gap in enumerate(prose.gaps):
        if not (n and _shares_noun(prose, prose.gaps[n - 1], gap, before)):
            before = _noun(prose, gap)
            start = gap.start - len(before)
        found = named(gap.formula)
        if found:
            after = _predicate(prose, n)
            said = after[1].strip() if after else ""
            stop = after.end() if after and said else gap.start + 1
            yield Mention(found, before.strip(), said, prose.said(start, stop), gap.formula)
    for formula in prose.formulas:
        for own, words in roles(formula.tree or ()):
            said = f"is {words.text.strip(' ()')}"
            yield Mention((latex_of(own.text),), "", said, said, formula)


def _shares_noun(prose: Prose, previous: Gap, gap: Gap, noun: str) -> bool:
    """The noun in front of $w$ goes on for the $v$ of «weights $w$, $v$»."""
    between = prose.text[previous.start + 1 : gap.start]
    listed = _JOINED.fullmatch(between) is not None and not equates(previous.formula)
    shared = "and" in between or _SPACE.search(previous.formula.latex) is None or _PLURAL.search(noun) is not None
    return listed and shared


def _predicate(prose: Prose, n: int) -> re.Match[str] | None:
    """What is said behind the list in which gap n stands: «$W$ and the bias $b$ are trainable»."""
    gaps = prose.gaps
    for join, verb in ((_JOINED, _IS), (_LISTED, _ARE)):
        last, most = n, min(len(gaps), n + _LONGEST_LIST)
        while last + 1 < most and join.fullmatch(prose.text[gaps[last].start + 1 : gaps[last + 1].start]):
            last += 1
        between = [prose.text[a.start + 1 : b.start] for a, b in itertools.pairwise(gaps[n : last + 1])]
        ands = [at for at, words in enumerate(between) if _AND.search(words)]
        if ands and ands[-1] < len(between) - 1:
            continue  # «$x \in \mathbb{R}^n$, and $W$, $b$ are trainable»: of W and b
        if last > n and _ONE.match(prose.text, gaps[last].start + 1):
            continue  # «$W \in \mathbb{R}^{m \times n}$, and $t$ is a target»: of t alone
        found = verb.match(prose.text, gaps[last].start + 1)
        if found and found[1].strip() and not _of_the_next(prose, found):
            return found
    return _noun_alone(prose, n)


def _of_the_next(prose: Prose, found: re.Match[str]) -> bool:
    """«from $x$ a filter $w$ computes»: without a verb or a preposition, what is said is said of w."""
    apposed = not found[0][: found.start(1) - found.start()].strip(" (") and not _FURTHER.search(found[1])
    return apposed and prose.text[found.end() : found.end() + 1] == GAP


def _noun_alone(prose: Prose, n: int) -> re.Match[str] | None:
    """What is said behind letters whose verb stands with those before: «and $c$, $b$ bias vectors»."""
    gaps, last, most = prose.gaps, n, min(len(prose.gaps), n + _LONGEST_LIST)
    while last + 1 < most and _JOINED.fullmatch(prose.text[gaps[last].start + 1 : gaps[last + 1].start]):
        last += 1
    start, _ = prose.sentence(gaps[n].start)
    found = _NOUNS.match(prose.text, gaps[last].start + 1)
    return found if found and _VERB.search(prose.text, start, gaps[n].start) else None


def _noun(prose: Prose, gap: Gap) -> str:
    """The words between the last pause and the formula: «a trainable bias »."""
    found = _BEFORE.search(prose.text, max(0, gap.start - _FAR), gap.start)
    words = found[0] if found else ""
    last = re.split(r"\band\b|\bor\b|\bits (?=[a-z])|\bthe (?=[a-z ]*$)|\ba (?=[a-z]{2})", words)[-1]
    return last if len(last) <= 70 else last[-70:].partition(" ")[2]


def bare_letters(formula: Formula) -> tuple[str, ...]:
    r"""The letters, as LaTeX without weight, that a formula merely lists: x and t of $\mathbf{x}, t$, w of $w_j$."""
    found = [_bare(part) for part in _listed(formula)]
    return tuple(name for name in found if name) if all(found) else ()


def _bare(part: Items) -> str | None:
    item = normal(part[0]) if len(part) == 1 else None
    base = base_of(item) if item is not None else None
    plain = not isinstance(item, Scripted) or not (item.sups or item.primes)
    return latex_of(base.text) if plain and is_token(base, "NAME") and "^" not in base.text else None


def written_letters(formula: Formula) -> tuple[str, ...]:
    r"""The letters that a formula merely lists, with their labels: W_1 of $W_1 \in \mathbb{R}^{m}$."""
    found = [_labelled(normal(part[0])) if len(part) == 1 else None for part in _listed(formula)]
    return tuple(name for name in found if name) if all(found) else ()


def _labelled(item: Item) -> str | None:
    base = base_of(item)
    if not is_token(base, "NAME"):
        return None
    name = latex_of(base.text)
    if not isinstance(item, Scripted):
        return name
    if item.sups or item.primes or len(item.subs) != 1:
        return None
    below = unwrap(item.subs[0])[0] if len(unwrap(item.subs[0])) == 1 else None
    if is_token(below, "TEXT"):
        return rf"{name}_{{\text{{{below.text.strip()}}}}}"
    label = is_token(below, "NUMBER") or (is_token(below, "NAME") and len(below.text) == 1 and below.text.isupper())
    return f"{name}_{below}" if label else name


def letters_of(formula: Formula, table: SymbolTable) -> tuple[str, ...]:
    """The tensors and sizes that a formula merely names: W and b of $W, b$ and of $W \\in \\mathbb{R}^n$."""
    parts = _listed(formula)
    found = [name for part in parts if (name := _named(formula, part, table)) is not None]
    return tuple(dict.fromkeys(found)) if len(found) == len(parts) else ()


def _named(formula: Formula, part: Items, table: SymbolTable) -> str | None:
    known = lexicon(table).get(letter(part[0]) or "") if len(part) == 1 else None
    if known is not None and known.kind in (Kind.TENSOR, Kind.SIZE):
        return known.name
    try:
        return tensor_of(read_formula(replace(formula, tree=tuple(part)), table), table)
    except DeriveError:
        return None


def _listed(formula: Formula) -> list[Items]:
    r"""W and b of $W, b$, of $\{W, b\}$, of $\theta = (W, b)$ and of $W, b \in \mathbb{R}$."""
    tree = formula.tree or ()
    if members := collected(tree):
        return [(member,) for member in members]
    left = list(itertools.takewhile(lambda item: not is_token(item, "IN", "REL", "COLON", "QUAD", "DOTS"), tree))
    inner = left[0].items if len(left) == 1 and is_group(left[0], "LPAREN", "LSET") else left
    parts: list[list[Item]] = [[]]
    for item in inner:
        if is_token(item, "COMMA") or kind(item) == "AND":
            parts.append([])
        else:
            parts[-1].append(item)
    return [tuple(part) for part in parts if part]
