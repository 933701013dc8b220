"""Which letters a piece of prose speaks of: «the weights $W$ and the bias $b$», «$t$ is the target»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from derive.notation.formulas import Formula
from derive.notation.symbols import SymbolTable
from derive.question.prose import GAP, Gap, Prose
from derive.records import dataclass
from derive.specify.roles import letter_of

_LEFT = re.compile(r"\\in\b|[=<>:]|\\(?:geq?|leq?|neq?|sim|coloneqq|gt|lt)(?![a-zA-Z])|\\(?:q?quad|dots|ldots)\b")
_BRACES = re.compile(r"^\s*(?:\\left)?(?:\(|\\\{|\\lbrace)(.*?)(?:\\right)?(?:\)|\\\}|\\rbrace)\s*$", re.DOTALL)
_TUPLE = re.compile(r"[^=,]*=\s*((?:\\left\s*)?(?:\(|\\\{|\\lbrace).*)", re.DOTALL)
_PART = re.compile(r",(?![^{]*\})|\\text\s*\{\s*(?:and|a)\s*\}|\\(?:quad|;|,)")
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
_COMMAND = r"\\(?:mathbf|boldsymbol|bm|pmb|vec|mathrm)\s*\{?\s*(\\?[A-Za-z]+)\s*\}?"
_PLAIN = r"\\[A-Za-z]+(?:\s*\{\s*\w\s*\}|\s+[A-Za-z])?|[A-Za-z]"
_BARE = re.compile(rf"\s*(?:{_COMMAND}|({_PLAIN}))\s*(?:_\s*(?:\{{[^{{}}]*\}}|\w))?\s*")
_NAME = re.compile(rf"\s*(?:{_COMMAND}|\\?[A-Za-z]+)\s*")


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


def _shares_noun(prose: Prose, previous: Gap, gap: Gap, noun: str) -> bool:
    """The noun in front of $w$ goes on for the $v$ of «weights $w$, $v$»."""
    between = prose.text[previous.start + 1 : gap.start]
    listed = _JOINED.fullmatch(between) is not None and "=" not in previous.formula.latex
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
    parts = _listed(formula.latex)
    found = [_BARE.fullmatch(part) for part in parts]
    return tuple(m[1] or m[2] for m in found if m) if all(found) else ()


_IN_BRACES = r"\{\s*(?:\\(?:text|mathrm)\s*\{[A-Za-z]+\}|[(\[]\w+[)\]])\s*\}"
_LABELLED = re.compile(
    rf"(.*?)\s*((?:_\s*(?:\{{\s*[\dA-Z]\s*\}}|[\dA-Z])|[_^]\s*{_IN_BRACES}|\^\s*[(\[]\w[)\]]))?\s*")


def written_letters(formula: Formula) -> tuple[str, ...]:
    r"""The letters that a formula merely lists, with their labels: W_1 of $W_1 \in \mathbb{R}^{m}$."""
    parts = _listed(formula.latex)
    found = []
    for part in parts:
        match = _LABELLED.fullmatch(part)
        letter = _BARE.fullmatch(match[1]) if match else None
        if match is None or letter is None:
            return ()
        found.append((letter[1] or letter[2]) + re.sub(r"\s", "", match[2] or ""))
    return tuple(found)


def letters_of(formula: Formula, table: SymbolTable) -> tuple[str, ...]:
    """The tensors and sizes that a formula merely names: W and b of $W, b$ and of $W \\in \\mathbb{R}^n$."""
    parts = _listed(formula.latex)
    found = [name for part in parts if (name := letter_of(part, table)) is not None]
    return tuple(dict.fromkeys(found)) if len(found) == len(parts) else ()


def _listed(latex: str) -> list[str]:
    r"""W and b of $W, b$, of $\{W, b\}$, and of $\theta = (W, b)$."""
    members = collected(latex)
    if members:
        return members
    left = _LEFT.split(latex, maxsplit=1)[0]
    braced = _BRACES.match(left)
    return [part for part in _PART.split(braced[1] if braced else left) if part.strip()]


def collected(latex: str) -> list[str]:
    r"""The letters of \theta = (W, b): one name for several tensors; empty for any other formula."""
    match = _TUPLE.fullmatch(latex.rstrip(" .,;"))
    braced = _BRACES.match(match[1]) if match and _NAME.fullmatch(latex.partition("=")[0]) else None
    parts = [part for part in _PART.split(braced[1]) if part.strip()] if braced else []
    return parts if len(parts) > 1 and all(_BARE.fullmatch(part) for part in parts) else []
