"""A variant of a card: its choices drawn from a seed and written in, which gives a card like any other."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable

from derive.card import Card
from derive.errors import CardError, Problem
from derive.records import dataclass
from derive.sections import bare, header_end, lines_of
from derive.variants.declared import CODE, FORMULA, OPEN, Declared, declared, declared_lines
from derive.variants.numbers import Numbers, latex, listed

_BRACED = re.compile(r"(?:[_^]|\\(?:mathbf|bm|boldsymbol|mathrm|sqrt|d?frac|d?frac\{[^{}]*\}))$")
_PLAIN = re.compile(r"[A-Za-z][\w.-]*")
_SCALAR = re.compile(r"[-−]?\d+(?:\.\d+)?")
_OPENS = ("=", "(", "[", "{", ",", "&", "<", ">", "$", "\\\\", "\\le", "\\ge", "\\in", "\\to", "|", ":")
_NEAR = 80  # characters in front of a choice that tell what it is


@dataclass(frozen=True)
class Variant:
    """The ``number``-th variant of a card under a seed; ``choices``: (name, what was chosen), in the order of keys."""

    number: int
    choices: tuple[tuple[str, str], ...]
    card: Card

    @property
    def said(self) -> str:
        """``kernel_size = 3, X = …``."""
        return ", ".join(f"{name} = {text}" for name, text in self.choices)

    @property
    def named(self) -> Card:
        """The card under an id of its own, ``pooling_3``: what is written of it is called so."""
        lines, line = lines_of(self.card.text), self.card.key_line("id") or 1
        if not re.match(r"id\s*:\s*[^\s>|]", lines[line - 1]):
            raise CardError(Problem("write the `id` on one line: variants are named after it", self.card.path, line))
        own = f"{self.card.id}_{self.number}"
        own = own if _PLAIN.fullmatch(own) else "'" + own.replace("'", "''") + "'"
        lines[line - 1] = f"id: {own}" + lines[line - 1][len(bare(lines[line - 1])):]
        return Card.parse("".join(lines), self.card.path)


@dataclass(frozen=True)
class _Chosen:
    """A choice as it is written: into formulas and words, ``numeric`` ones in words as formulas; and as it is told."""

    text: str
    told: str
    numeric: bool


def drawn(card: Card, seed: int, number: int, known: Declared | None = None) -> Variant:
    """The variant of this number; the same for the same seed, on every machine.

    ``known`` is what :func:`declared` found.  Lines stay where they are: what was chosen stands as a comment where it
    was declared.  Raises :class:`CardError` for choices that are undeclared, unused or impossible.
    """
    known = known or declared(card)
    found: dict[str, _Chosen] = {}
    for name, choice in sorted(known.choices.items(), key=lambda pair: isinstance(pair[1], Numbers)):
        draw = _source(seed, card.id, number, name)
        if isinstance(choice, Numbers):
            sizes = {n: c.text for n, c in found.items()}
            try:
                rows = choice.drawn(draw, sizes)
            except ValueError as error:
                raise CardError(Problem(f"`vary_{name}`: {error}", card.path, known.lines[name])) from None
            found[name] = _Chosen(latex(rows, len(choice.shape)), listed(rows, len(choice.shape)), True)
        else:
            text = choice[draw(len(choice))]
            found[name] = _Chosen(text, text, False)
    chosen = tuple((name, found[name].told) for name in known.choices)
    return Variant(number, chosen, Card.parse(_written(card, found), card.path))


def _source(seed: int, id: str, number: int, name: str) -> Callable[[int], int]:
    """n ↦ one of 0, …, n − 1.  Each choice has numbers of its own: another key beside it changes none."""
    key = hashlib.sha256(f"{seed}/{id}/{number}/{name}".encode()).digest()
    source = random.Random(int.from_bytes(key, "big"))
    return lambda n: min(int(source.random() * n), n - 1)


def _written(card: Card, found: dict[str, _Chosen]) -> str:
    """The card's text with the choices in it."""
    lines = lines_of(card.text)
    end, of = header_end(lines), declared_lines(card)
    made = []
    for n, line in enumerate(lines[:end], 1):
        if n in of:
            first = of.get(n - 1) != of[n]
            made.append((f"# {of[n]}: {found[of[n]].text}" if first else "#") + line[len(bare(line)):])
        else:
            made.append(_in_header(line, found))
    return "".join(made) + _in_text("".join(lines[end:]), found)


def _in_header(line: str, found: dict[str, _Chosen]) -> str:
    """``kernel_size: '{{kernel_size}}'`` is the choice itself; in a longer text in quotes it stands among the rest."""
    def whole(match: re.Match[str]) -> str:
        text = found[match[2]].text if match[2] in found else ""
        return text if re.fullmatch(r"-?\d+|true|false|same", text) else match[0]

    line = re.sub(rf"(['\"]){OPEN.pattern}\1", whole, line)
    return OPEN.sub(lambda m: found[m[1]].text.replace("'", "''") if m[1] in found else m[0], line)


def _in_text(text: str, found: dict[str, _Chosen]) -> str:
    """Numbers that stand among words become formulas; an argument, as in x^{{n}}, keeps its braces."""
    plain = CODE.sub(lambda m: " " * len(m[0]), text)
    spans = [m.span() for m in FORMULA.finditer(plain)]

    def put(match: re.Match[str]) -> str:
        if match[1] not in found:
            return match[0]
        chosen = found[match[1]]
        if not any(start <= match.start() < stop for start, stop in spans):
            return f"${chosen.text}$" if chosen.numeric else chosen.text
        before, after = plain[max(0, match.start() - _NEAR):match.start()].rstrip(), plain[match.end():].lstrip()
        if _BRACED.search(before):
            return f"{{{chosen.text}}}"
        return f"({chosen.text})" if _bracketed(chosen.text, before, after) else chosen.text

    return OPEN.sub(put, text)


def _bracketed(text: str, before: str, after: str) -> bool:
    """A number that would run into its neighbours: 2{{a}}, x - {{a}} and {{a}}^2 for a = -3."""
    if not _SCALAR.fullmatch(text):
        return False
    negative = not text[0].isdecimal() and (after.startswith("^") or not before.endswith(_OPENS) and bool(before))
    return negative or before[-1:].isdecimal() or before.endswith("}}") or after[:1].isdecimal()
