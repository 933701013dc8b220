"""Which letters a prose speaks of, and what they are: «the weights $W$ and the bias $b$», «$t$ is the target»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem
from derive.formulas import SPELT
from derive.notation import read_formula
from derive.notation.formulas import Formula
from derive.notation.rules.columns import roles
from derive.notation.rules.kinds import equates
from derive.notation.rules.letters import of_loss
from derive.notation.rules.lists import collected
from derive.notation.rules.trees import letter, sides, statements
from derive.notation.symbols import Kind, SymbolTable, latex_of, lexicon, name_of
from derive.notation.tree import (
    Command,
    Item,
    Items,
    Scripted,
    Token,
    base_of,
    inside,
    is_group,
    is_token,
    names_in,
    normal,
    unwrap,
)
from derive.notation.vocabulary import kind
from derive.question.words.lexicon import begins, ends, is_near, named, only, up_to
from derive.question.words.prose import GAP, Gap, Prose
from derive.records import dataclass
from derive.specify.roles import Role, roles_given, tensor_of

_LAST = re.compile(r"\band\b|\bor\b|\bits (?=[a-z])|\bthe (?=[a-z ]*$)|\ba (?=[a-z]{2})")
_PAUSES = str.maketrans(",&()", "    ")
_STOPS = ".?!;¶∎"
_FAR = 500  # characters that a noun may stand before its letter
_ORDINAL = re.compile(r"-?\s?(?:th|st|nd|rd)\b")  # «the matrix whose $i$-th row is …» names no i
_ADJECTIVE = 12  # characters of «parameter» and a blank
_LONGEST_LIST = 50  # letters of one list


@dataclass(frozen=True)
class Mention:
    """Letters with the words in front of them and those that say what they are, and where."""

    letters: tuple[str, ...]
    before: str
    after: str
    said: str
    formula: Formula


def mentions(prose: Prose, called: Callable[[Formula], tuple[str, ...]]) -> Iterator[Mention]:
    """The places where the prose names letters; ``called`` says which a formula names."""
    before, start = "", 0
    for n, gap in enumerate(prose.gaps):
        if not (n and _shares_noun(prose, prose.gaps[n - 1], gap, before)):
            before = _noun(prose, gap)
            start = gap.start - len(before)
        found = called(gap.formula)
        if found and not _ORDINAL.match(prose.text, gap.start + 1):
            after = _predicate(prose, n)
            said = _own(prose, after).strip() if after else ""
            stop = after[1] if after and said else gap.start + 1
            yield Mention(found, before.strip(), said, prose.said(start, stop), gap.formula)
    for formula in prose.formulas:
        for own, words in roles(formula.tree or ()):
            said = f"is {words.text.strip(' ()')}"
            yield Mention((latex_of(own.text),), "", said, said, formula)


def _own(prose: Prose, said: tuple[int, int]) -> str:
    """What is said, without the noun of the next letter: not the target of «the cross-entropy with a target $t$»."""
    words = prose.text[slice(*said)]
    return up_to(words, "preposition.with") if prose.text[said[1] : said[1] + 1] == GAP else words


def _shares_noun(prose: Prose, previous: Gap, gap: Gap, noun: str) -> bool:
    """The noun in front of $w$ goes on for the $v$ of «weights $w$, $v$»."""
    between = prose.text[previous.start + 1 : gap.start]
    several = any(span.stop == len(noun.rstrip()) for span in named(noun, "naming.several"))
    bare = r"\in\mathbb" not in previous.formula.latex.replace(" ", "")
    # «both matrices are $n \times n$ and $\sigma$ is …»
    size = any(shape.fullmatch(previous.formula.latex) for shape in (_SHAPE, _SPACE))
    return not size and _joins(between) and not equates(previous.formula) and ("and" in between or bare or several)


def _joins(between: str) -> bool:
    """«, and the»: nothing but what joins letters of a list."""
    words = between.translate(_PAUSES)
    return only(words, 0, len(words), "naming.and", "naming.article")


def _lists(between: str) -> bool:
    """«, and the output gate»: also up to three words of their own."""
    rest = between.strip().removeprefix(",")
    words = [w for w in rest.split() if not named(w, "naming.and", "naming.article")]
    plain = all(word.replace("-", "").replace("_", "").isalnum() for word in words)
    return len(words) <= 3 and plain and not named(rest, "naming.apart")


@lru_cache(maxsize=1024)  # several passes ask what a letter is
def _predicate(prose: Prose, n: int) -> tuple[int, int] | None:
    """Where it is said what the list is in which gap n stands: «$W$ and the bias $b$ are trainable»."""
    for joins, verb in ((_joins, "naming.is"), (_lists, "naming.are")):
        last = _end_of_list(prose, n, joins)
        between = [prose.text[a.start + 1 : b.start] for a, b in itertools.pairwise(prose.gaps[n : last + 1])]
        ands = [at for at, words in enumerate(between) if {"and", "a"} & {*words.translate(_PAUSES).split()}]
        if ands and ands[-1] < len(between) - 1:
            continue  # «$x \in \mathbb{R}^n$, and $W$, $b$ are trainable»: of W and b
        at = prose.gaps[last].start + 1
        if last > n and _said(prose.text, at, "naming.one"):
            continue  # «$W \in \mathbb{R}^{m \times n}$, and $t$ is a target»: of t alone
        found = _said(prose.text, at, verb)
        if found and prose.text[slice(*found)].strip() and not _of_the_next(prose.text, at, found):
            return found
    return _noun_alone(prose, n)


def _end_of_list(prose: Prose, n: int, joins: Callable[[str], bool]) -> int:
    last, most = n, min(len(prose.gaps), n + _LONGEST_LIST)
    while last + 1 < most and joins(prose.text[prose.gaps[last].start + 1 : prose.gaps[last + 1].start]):
        last += 1
    return last


def _said(text: str, at: int, verb: str) -> tuple[int, int] | None:
    """What follows a verb, both at this place: «, here also is trainable»; or an apposition, «, the bias»."""
    stop = min((n for n in (text.find(sign, at) for sign in _STOPS) if n >= 0), default=len(text))
    words = text[at:stop]
    begins = {span.start: span for span in named(words, "naming")}
    first = len(words) - len(words.lstrip(" ").removeprefix("("))
    if verb == "naming.is" and words[:1] == " " and first in begins:
        behind = begins.get(begins[first].stop + 1, begins[first]) if begins[first].of("naming.also") else begins[first]
        if begins[first].of("naming.article") or behind.of("naming.fixed"):
            return at + first, stop
    n = len(words) - len(words.lstrip(" ,)"))
    while n in begins and begins[n].of("naming.also"):
        n = begins[n].stop + 1
    if verb == "naming.is" and words[n : n + 2] in ("- ", "– ", ": "):
        return at + n + 2, stop
    verbs = [s for s in named(words, verb) if s.start == n and words[s.stop : s.stop + 1] == " "]
    return (at + verbs[0].stop + 1, stop) if verbs else None


def _of_the_next(text: str, at: int, said: tuple[int, int]) -> bool:
    """«from $x$ a filter $w$ computes»: without a verb or a preposition, what is said is said of w."""
    apposed = not text[at : said[0]].strip(" (") and not named(text[slice(*said)], "naming.further")
    return apposed and text[said[1] : said[1] + 1] == GAP


def _noun_alone(prose: Prose, n: int) -> tuple[int, int] | None:
    """What is said behind letters whose verb stands with those before: «and $c$, $b$ bias vectors»."""
    at = prose.gaps[_end_of_list(prose, n, _joins)].start + 1
    stop = min((n for n in (prose.text.find(sign, at) for sign in _STOPS) if n >= 0), default=len(prose.text))
    noun = next(iter(named(prose.text[at:stop], "naming.noun")), None)
    if noun is None or len(prose.text[at : at + noun.start].split()) > 3 or prose.text[at : at + 1] != " ":
        return None
    start, here = prose.sentence(prose.gaps[n].start)[0], prose.gaps[n].start
    verbs = [s for g in prose.gaps[:n] if g.start >= start and (s := _said(prose.text, g.start + 1, "naming.verb"))]
    return (at + 1, stop) if any("and" in prose.text[s[0] : here].split() for s in verbs) else None


@lru_cache(maxsize=1024)
def _noun(prose: Prose, gap: Gap) -> str:
    """The words between the last pause and the formula: «a trainable bias »."""
    start = max(gap.start - _FAR, *(prose.text.rfind(sign, 0, gap.start) + 1 for sign in _STOPS + ":,()"))
    listed = prose.text[: max(0, start - 1)]
    plural = next((s for s in named(listed[-_FAR:], "naming.several") if s.stop == len(listed[-_FAR:])), None)
    if plural is not None and prose.text[start - 1 : gap.start].strip() == ",":
        return f"{listed[len(listed[:-_FAR]) + plural.start :]} "  # «two inputs, $x$ and $y$»
    last = _LAST.split(prose.text[max(0, start) : gap.start])[-1]
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
    found = [labelled(normal(part[0])) if len(part) == 1 else None for part in _listed(formula)]
    return tuple(name for name in found if name) if all(found) else ()


def computed_letters(formulas: Iterable[Formula]) -> frozenset[str]:
    r"""The letters left of an equality sign, without their indices and with their labels."""
    heads = (run[0] for f in formulas for part in statements(f.tree or ()) if len(run := sides(part)) > 1)
    return frozenset(name for head in heads if len(head) == 1
                     for name in (_bare(head), labelled(normal(head[0]))) if name)


def lettered(formula: Formula) -> tuple[str, ...]:
    r"""The letters that a formula merely lists, as they are written: W_h and b_h of $W_h, b_h$."""
    parts = _listed(formula) if bare_letters(formula) else []
    return tuple(formula.part(tuple(part), False).latex.strip() for part in parts)


def labelled(item: Item) -> str | None:
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
    r"""W and b of $W, b$, of $\{W, b\}$, of $\theta = (W, b)$ and of $W, b \in \mathbb{R}$; a of $0 < a < 1$."""
    tree = formula.tree or ()
    if len(tree) > 2 and is_token(tree[0], "NUMBER") and is_token(tree[1], "REL"):
        tree = tree[2:]
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


_RANKS = {"rank.matrix": 2, "rank.vector": 1, "rank.scalar": 0}
_SINGLE = ("role.constant", "rank.scalar")
_INDEXED = re.compile(r"\s*\\?[A-Za-z]+\s*_\s*(?:[a-z]|\{\s*[a-z]\s*\})\s*")  # h_t
_MANY = re.compile(r"\b(?:vectors|matrices)\W*$")
_NUMBERED = re.compile(r"\s*\\?[A-Za-z]+\s*_\s*\{?\d\}?(?:\s*,\s*\\?[A-Za-z]+\s*_\s*\{?\d\}?)*\s*(?:(?:>|\\geq?).*)?")


_SPACE = re.compile(r"\s*\\mathbb\s*(?:\{\s*R\s*\}|R)\s*\^.*", re.DOTALL)
_HAS_SHAPE = re.compile(  # «$X$ has shape $(N, D)$», «$W$ is a matrix of size $m \\times n$», «`b` is `(H,)`»
    rf"{GAP}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){GAP})*\s*,?\s*"
    rf"(?:(?:(?:is|are|has|have|with|of|an?|the|array|matrix|tensor|batch)\s+)*(?:dimensions?|size|shape)\s+|(?:is|are)\s+)(?={GAP})"
)
_SHAPED = re.compile(rf"\ban?\s+(?={GAP}\s+(?:matrix|array|tensor)\s+({GAP}))")  # «an $N \\times D$ matrix $X$»
_LISTED = re.compile(r"\(?\s*(\w+(?:\s*(?:,|\\times)\s*\w+)*)\s*,?\s*\)?")


def with_shapes_said(written: Sequence[Formula], prose: Prose) -> list[Formula]:
    r"""The formulas, with $X \in \mathbb{R}^{N \times D}$ in place of the $(N, D)$ that words call the shape of X.

    Raises :class:`CardError` for a shape spelt as programs do of which it is not clear what has it.
    """
    gaps, found = {gap.start: gap for gap in prose.gaps}, list(written)
    places = {m.end(): range(m.start(), m.end()) for m in prose.matches(_HAS_SHAPE)}
    places |= {m.end(): range(*m.span(1)) for m in prose.matches(_SHAPED)}
    for gap in prose.gaps:
        place, own = gap.formula, [gaps[at] for at in reversed(places.get(gap.start, ())) if at in gaps]
        own = [*itertools.takewhile(lambda g: _is_whole(g, prose), own)]
        if _SPACE.fullmatch(place.latex):
            found = [replace(f, latex=rf"{f.latex} \in {place.latex}", tree=None) if any(
                f == g.formula for g in _in_space(gap, prose)) else f for f in found]
            continue
        shape = _LISTED.fullmatch(place.latex.strip())
        code = SPELT.match(prose.plain.source, prose.plain.origin[gap.start])
        if own and shape is not None and re.search(r"[,(]|\\times", place.latex):
            sizes = r" \times ".join(re.split(r"\s*(?:,|\\times)\s*", shape[1]))
            stated = [replace(place, latex=rf"{f.latex} \in \mathbb{{R}}^{{{sizes}}}", tree=None)
                      for f in (g.formula for g in own)]
            found = [new for f in found for new in (stated if f == place else (f,))]
        elif code and code["shape"] and not named(prose.text[slice(*prose.sentence(gap.start))], "request.gradient"):
            raise CardError(Problem(f"`{place.latex}`: of what is this the shape? Write it as in "
                                    r"`X \in \mathbb{R}^{N \times D}`", line=place.line, key="shapes"))
    return found


def _in_space(space: Gap, prose: Prose) -> list[Gap]:
    r"""x and w of «let $x$ and $w$ be vectors in $\mathbb{R}^4$»; $v_1, v_2, v_3$ of «values … in $\mathbb{R}^4$»."""
    own: list[Gap] = []
    start, at = prose.sentence(space.start)[0], space.start
    for gap in reversed([g for g in prose.gaps if start <= g.start < space.start]):
        between = prose.text[gap.start + 1 : at]
        lists = only(between, 0, len(between), "between.and", "between.pause")
        if equates(gap.formula) or not (lists if own else ends(between, "sized.within") and only(
                between, 0, len(between), "sized.within", "naming", "rank", "small")):
            break
        own.append(gap)
        at = gap.start
    return own


def _is_whole(gap: Gap, prose: Prose) -> bool:
    """A letter without indices: $W_1$, `W_x` in code, but not $a_{cij}$."""
    code = SPELT.match(prose.plain.source, prose.plain.origin[gap.start])
    if code:
        return code["letter"] is not None
    names = () if equates(gap.formula) else written_letters(gap.formula)
    return len(names) == 1 and name_of(names[0]) == name_of(gap.formula.latex.strip())


def rows_said(prose: Prose) -> bool:
    """Whether the words call vectors rows, or spell shapes as programs do, where a vector is added to each row."""
    spelt = any(found["shape"] for found in SPELT.finditer(prose.plain.source))
    return spelt or bool(named(prose.text, "rank.rows"))


def softmax_said(prose: Prose) -> str:
    """«rows» or «columns», of what a softmax is taken by the sentences that name it; empty where they say neither."""
    here = {prose.sentence(span.start) for span in named(prose.text, "part.softmax")}
    along = [span for span in named(prose.text, "along") if prose.sentence(span.start) in here]
    found = {span.concept.partition(".")[2] for span in along}
    return found.pop() if len(found) == 1 else ""




def ranks_said(prose: Prose) -> dict[str, int]:
    """name ↦ number of axes; of «vectors $h_t$» under ``h_`` that of each, which the subscript numbers."""
    ranks: dict[str, int] = {}
    for mention in mentions(prose, bare_letters):
        verb = next((s for s in named(mention.before, "naming.is") if mention.before[s.stop :].strip()), None)
        before = mention.before if verb is None else mention.before[verb.stop :]  # not «vectors are irrelevant for $s$»
        for text in (up_to(mention.after, "preposition.by", "preposition.with", "preposition.of"), before):
            rank = max((_RANKS[span.concept] for span in named(text, *_RANKS)), default=None)
            if rank is not None:
                for latex in mention.letters if rank or not _is_entry_beside(mention, prose.formulas) else ():
                    ranks.setdefault(name_of(latex), rank)
                    if rank and _INDEXED.fullmatch(mention.formula.latex) and _MANY.search(text):
                        ranks.setdefault(f"{name_of(latex)}_", rank)
                break
        words = f"{mention.before} {mention.after}"
        entries = {*map(name_of, mention.letters)} == {"e"} and "_" in mention.formula.latex.partition("=")[0]
        if entries and words.strip() and not named(words, "rank.unit"):
            ranks.setdefault("e", 1)  # a distribution $e_i$ is no unit vector
        if named(f"{mention.before} {mention.after}", *_SINGLE) and _NUMBERED.fullmatch(mention.formula.latex) and not (
                _is_entry_beside(mention, prose.formulas)):
            ranks |= dict.fromkeys(map(name_of, mention.letters), 0)
        if named(words, "rank.pointer"):  # «the true class $c$» of p_c
            ranks |= {name: 0 for name in map(name_of, mention.letters) if name == mention.formula.latex.strip() and
                      _only_below(name, prose.formulas)}
    for gap in prose.gaps:  # «the label $y \in \{1, \dots, K\}$»
        letter, _, behind = gap.formula.latex.partition(r"\in")
        if _OF_NUMBERS.fullmatch(behind) and _LETTER.fullmatch(letter):  # y \in \{-1, 1\}
            ranks.setdefault(name_of(letter.strip()), 0)
        head = _LETTER.match(gap.formula.latex)  # «the perceptron loss $L = …$»
        defined = head is not None and _EQUALS.match(gap.formula.latex, head.end()) is not None
        if head is not None and defined and ends(prose.text[: gap.start], "letter.loss"):
            ranks.setdefault(name_of(head[1]), 0)
        if behind.lstrip().startswith(r"\{") and ends(prose.text[: gap.start], "rank.pointer") and _only_below(
                name_of(letter.strip()), [f for f in prose.formulas if f is not gap.formula]):
            ranks[name_of(letter.strip())] = 0
    return ranks


def _is_entry_beside(mention: Mention, formulas: Iterable[Formula]) -> bool:
    r"""The scalar $h_0$ beside a bold h, which is a vector."""
    names = {*map(name_of, mention.letters)}
    bold = {base.text for f in formulas for top in f.tree or () for i in inside(top)
            if isinstance(base := base_of(i), Token) and base.bold}
    return _NUMBERED.fullmatch(mention.formula.latex) is not None and bool(names & bold)


def _only_below(name: str, formulas: Iterable[Formula]) -> bool:
    """The letter stands in subscripts, and nowhere else but by itself."""
    trees = [f.tree or () for f in formulas]
    written = [tree for tree in trees if not all(is_token(i, "NAME", "REL") for i in tree)]  # not j ≠ t
    places = [i for tree in written for item in tree for i in inside(item)]
    subs = (sub for one in places if isinstance(one, Scripted) for sub in one.subs)
    low = {id(i) for sub in subs for item in sub for i in inside(item)}
    own = [id(i) in low for i in places if is_token(i, "NAME") and str(i) == name]
    return bool(own) and all(own)


_LETTER = re.compile(r"\s*(\\?[A-Za-z]+(?:_\{?\\?[A-Za-z]+\}?)?)\s*")
_OF_NUMBERS = re.compile(r"\s*\\(?:\{|lbrace)\s*[-+]?\d+(?:\s*,\s*[-+]?\d+)+\s*\\(?:\}|rbrace)\s*")
_EQUALS = re.compile(r"\s*(?:\([^=]*\)\s*)?:?=")
_SHAPE = re.compile(r"\s*[A-Za-z](?:\s*\\times\s*(?:[A-Za-z]|\d+))+\s*")


_OF_SIZE = re.compile(r"\b(?:batch|mini-?batch|samples?|(?:data ?|training )?sets?|vectors?|sequences?|groups?|lists?)"
                      r" of (?:size|length|dimension)\s*\Z")


def sizes_said(prose: Prose) -> Iterator[str]:
    """The LaTeX of letters that are sizes: «$n$ is the number of samples», «$K$ classes», «$N \\times p$».

    Not $n_s$ where s runs: a number of each s.
    """
    run = {index for f in prose.formulas for index in _run(f.tree or ())}
    computed = {head for f in prose.formulas for part in statements(f.tree or ()) if (head := _computed(part))}
    for gap in prose.gaps:
        latex = gap.formula.latex
        sizes = latex.split(r"\times") if _SHAPE.fullmatch(latex) else ()
        yield from (size.strip() for size in sizes if size.strip().isalpha())
        letter = _LETTER.fullmatch(latex)
        rest = prose.text[gap.start + 1 : gap.start + 80]
        before = prose.text[max(0, gap.start - 60) : gap.start]
        if letter is None or name_of(letter[1]) in computed | run or ends(before, "sized.one") or (
                name_of(letter[1]).rpartition("_")[2] in run and "_" in letter[1]):
            continue
        if re.search(r"\bsteps? of size\s*\Z", before):
            continue  # of an Euler step, or of a descent
        if _is_size(rest) or begins(rest, 0, "sized.things") or ends(before, "sized.number", most=5) or ends(
                before, "sized.dimension", most=3) or ends(before, "sized.of_what", "sized.by") or (
                _OF_SIZE.search(before)):
            yield letter[1]


def _run(items: Items) -> Iterator[str]:
    """What runs: s of s = 1, …, S and of a sum from s = 1 on."""
    for item in (below for top in items for below in inside(top)):
        if isinstance(item, Command) and item.type == "RANGE":
            yield from (str(base_of(name)) for name in item.arguments[0])
        elif isinstance(item, Scripted) and is_token(item.base, "BIG") and item.subs:
            sub = unwrap(item.subs[0])
            yield from (str(sub[0]),) if len(sub) > 1 and is_token(sub[1], "REL", "IN") else ()


def _computed(part: Items) -> str | None:
    """S of S = Q K^⊤; nothing of N = 10."""
    runs = sides(part)
    plain = len(runs) > 1 and len(runs[0]) == 1 and any(True for run in runs[1:] for _ in names_in(run))
    head = letter(base_of(runs[0][0])) if plain else None
    return name_of(head) if head else None


_KINDS = ("sized.kind", "sized.number", "sized.dimension", "sized.of_what")


def _is_size(words: str) -> bool:
    """«, is the total number of samples»"""
    verb = next((s for s in named(words, "sized.is") if not words[: s.start].strip(" ,")), None)
    return verb is not None and any(verb.stop <= s.start and is_near(words[verb.stop : s.start], 3)
                                    for s in named(words, *_KINDS))


_NOUNS = {"parameters": "role.parameter", "constants": "role.constant", "inputs": "role.input"}
_POSITIVE = re.compile(r">|\\(?:gt|geq?)(?![a-z])")
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
    again = [s.stop for s in named(mention.after, "slot.then_it")]  # «is shared by all units and it is a parameter»
    said = up_to(mention.after[max(again, default=0) :], "preposition.by", "preposition.with", "preposition.at")
    if ends(mention.before, "excepted.roles"):
        return None  # «all but $W$ are parameters»
    for text, whole, behind in ((said, mention.after, True), (mention.before, mention.before, False)):
        positive = "threshold" in text and _POSITIVE.search(mention.formula.latex) and not named(text, "role.trained")
        if named(text, "role.fixed") or positive:
            return "constants"  # a neuron's threshold, which is learnt, has either sign
        if any(span.start < len(text) for span in named(whole, "role.trained")):
            return "parameters"
        none = [at for s in named(text, "bias.no") for at in range(s.start, s.stop)]  # «without bias maps $x$»
        nouns = [(s.start, role) for role, noun in _NOUNS.items() for s in named(text, noun) if s.start not in none]
        if nouns:
            return (min if behind else max)(nouns)[1]
    return None


_USUAL = frozenset("W U w b theta Theta".split())
_BESIDE = frozenset("V v c a gamma beta".split())  # parameters, too, beside them, but for queries and keys
_FED = frozenset("x X y Y t T z h s r d epsilon varepsilon eta lambda tau".split())  # inputs, targets, what is set


_THAT_IS = re.compile(r"\s*[,(]?\s*(?:i\s?e\b|that is\b|namely\b|tj\b|to je\b|tedy\b)")


_THESE = re.compile(rf"\s*[,:(]\s*(?=[{GAP}])")


def asked_as_parameters(prose: Prose, table: SymbolTable) -> Iterator[Mention]:
    r"""W and b of «the parameter messages $\partial L/\partial W$ and $\partial L/\partial b$».

    γ and β of «the parameter messages, i.e. the derivatives with respect to $\gamma_k$ and $\beta_k$», and of «with
    respect to the parameters, $\partial L/\partial\gamma$ and $\partial L/\partial\beta$».
    """
    for noun in named(prose.text, "request.message", "request.gradient", "request.parameter"):
        before = prose.text[max(0, noun.start - _ADJECTIVE) : noun.start]
        alone = noun.of("request.parameter") and _THESE.match(prose.text, noun.stop)
        if not alone and (noun.of("request.parameter") or not ends(before, "request.parameter")):
            continue
        at, by = noun.stop, _by_which(prose, noun.stop)
        for gap in (g for g in prose.gaps if g.start >= (by or noun.stop)):
            own = of_loss(gap.formula.tree or ())
            if own is None and by is None or not _joins(prose.text[by or at : gap.start]):
                break
            found = letters_of(gap.formula.part(own[2:], False) if own is not None else gap.formula, table)
            by = by and gap.start + 1
            yield Mention(found, "parameters", "", prose.said(noun.start, gap.start + 1), gap.formula)
            at = gap.start + 1


def _by_which(prose: Prose, start: int) -> int | None:
    """Where the letters begin in «, i.e. the derivatives with respect to $W$»."""
    _, stop = prose.sentence(start)
    by = next((s for s in named(prose.text, "wrt") if start <= s.start < stop), None)
    between = prose.text[start : by.start] if by is not None else ""
    told = _THAT_IS.match(between) and named(between, "request.gradient", "request.jacobian")
    return by.stop if by is not None and told else None


def with_asked_parameters(roles: Mapping[str, Role], letters: Collection[str]) -> dict[str, Role]:
    """The roles where derivatives by these letters are asked for beside the backward message: $W$, $c$ beside $x$."""
    own = {name for name, role in roles.items() if role.role == "inputs"}
    rest = own - {*letters}
    usual = {name for name in own if name.partition("_")[0] in _USUAL}
    if not rest or rest & usual or not usual or any(roles[name].said for name in own - rest):
        return dict(roles)
    said = "its derivative is asked for beside the backward message"
    return {name: Role("parameters", said) if name in own - rest else role for name, role in roles.items()}


def has_usual_parameters(roles: Mapping[str, Role]) -> bool:
    """Of letters that no word says anything of some are called as weights and biases are, and not all."""
    usual = {name for name, role in roles.items() if not role.said and name.partition("_")[0] in _USUAL}
    return bool(usual) and usual != {*roles}


def with_usual_parameters(roles: Mapping[str, Role]) -> dict[str, Role]:
    """The roles where parameter messages are asked for: letters that no word says anything of are parameters where they
    are called as weights and biases are, W, U, w, b, θ; all of them where some are called inputs and none a parameter.

    Raises :class:`CardError` where there are none, or nothing else.
    """
    bare = {name for name, role in roles.items() if not role.said}
    said_of = {role.role for role in roles.values() if role.said}
    known = "inputs" in said_of and "parameters" not in said_of
    usual = bare if known else {name for name in bare if name.partition("_")[0] in _USUAL}
    bases = {name.partition("_")[0] for name in roles}
    usual |= {name for name in bare if usual and name.partition("_")[0] in _BESIDE and not bases & {"Q", "K", "q", "k"}}
    if not usual or usual == {*roles}:
        raise CardError(Problem("the parameter messages are asked for, and no letter is said to be a parameter: list "
                                "them under `parameters` in the front matter", key="parameters"))
    doubtful = sorted(name for name in bare - usual if name.partition("_")[0] not in _FED)
    if doubtful:
        letters = ", ".join(f"`{name}`" for name in doubtful)
        are = "is a parameter" if len(doubtful) == 1 else "are parameters"
        raise CardError(Problem(f"the parameter messages are asked for, and nothing says whether {letters} {are}: list "
                                "all of them under `parameters` in the front matter", key="parameters"))
    said = "nothing else is said of it, and parameter messages are asked for"
    return {name: Role("parameters", said) if name in usual else role for name, role in roles.items()}
