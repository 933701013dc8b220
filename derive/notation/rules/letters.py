r"""Letters of their own: layers numbered above, a log-likelihood or a probability that an equation defines."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.symbols import is_capital, latex_of
from derive.records import dataclass, replace


def _above(item: tr.Item) -> tuple[str, tr.Items] | None:
    """z and l of z^l_j, a and l − 1 of a^{l-1}."""
    if not isinstance(item, tr.Scripted) or not item.sups or not tr.is_token(item.base, "NAME"):
        return None
    above = item.sups[0]
    return (item.base.text.partition("_")[0], above) if tr.is_step(above) else None


def layers(formulas: list[Formula]) -> list[Formula]:
    """Superscripts that number layers as part of the letter's name.

    Of letters, l numbers layers where an equation defines some z^l, an l − 1 or l + 1 stands
    above too, and l is no subscript; so does τ, which stands as a value too, where each p_i^τ is
    defined.  Of digits, those of letters that an equation defines so, or that some 0 or 1 stands
    above: nobody writes a first power.
    """
    found = [(f, i) for f in formulas for top in f.tree or () for i in tr.inside(top)]
    raised = [(f, i, *above) for f, i in found if isinstance(i, tr.Scripted) and (above := _above(i)) is not None]
    heads = {(above[0], _text(above[1])) for part in trees.all_statements(formulas) if len(part) > 1 and (
        tr.is_token(part[1], "IN", "REL") and str(part[1]) in ("=", "in")) and (above := _above(part[0])) is not None}
    below = {n for _, i, _, _ in raised for s in i.subs for n in tr.names_in(s)}
    steps = {str(above[0]) for _, _, _, above in raised if len(above) == 3}
    runs = (run for f in formulas for run in trees.all_runs(f.tree or ()) if len(run) > 1)
    values = {n for run in runs if not tr.has(run, "REL", "IN", "COMMA") for i in run if (n := trees.letter(i))} - {"T"}
    values -= {_text(above) for _, i, base, above in raised if (base, _text(above)) not in heads or not i.subs}
    numbering = {c for c in (steps | values) - below if any(c in script for _, script in heads)}
    listed = {base for f, _, base, _ in raised if tr.has(f.tree or (), "DOTS")}  # x^1, \dots, x^m: samples
    firsts = {base for _, _, base, above in raised if _text(above) in ("0", "1")}
    digits = firsts | {base for base, script in heads if script.isdigit()}
    if not any(script.isdigit() for _, script in heads) or not firsts - listed:
        digits = set()
    numbered = digits - {base for _, _, base, above in raised if _text(above)[0].isalpha()} - listed - {"e"}

    def named(item: tr.Item) -> tr.Item:
        above = _above(item)
        own = above is not None and (str(above[1][0]) in numbering or (
            above[0] in numbered and _text(above[1]).isdigit()))
        if not own or above is None or not isinstance(item, tr.Scripted) or not isinstance(item.base, tr.Token):
            return item
        base = replace(item.base, text=f"{item.base.text}^({_text(above[1])})")
        rest = replace(item, base=base, sups=item.sups[1:])
        return rest if rest.subs or rest.sups or rest.primes else base

    return trees.changed(formulas, lambda tree: trees.each(tree, named)) if numbering or numbered else formulas


def _text(items: tr.Items) -> str:
    return "".join(map(str, items))


def sizes(formulas: list[Formula]) -> list[Formula]:
    r"""C' is a letter of its own where it says how many: of \mathbb{R}^{C'}, c = 1, \dots, C', \sum_{c=1}^{C'}."""
    found = {name for f in formulas for top in f.tree or () for i in tr.inside(top) for name in map(_primed, _last(i))}

    def named(item: tr.Item) -> tr.Item:
        name = _primed(item)
        return trees.name(name, item) if name and name in found else item

    return trees.changed(formulas, lambda tree: trees.each(tree, named)) if found - {""} else formulas


def _last(item: tr.Item) -> tr.Items:
    """What says how many: the sizes of a set of arrays, the end of a range, what stands above a sum."""
    if isinstance(item, tr.Command) and item.type == "RANGE":
        return item.arguments[-1]
    if not isinstance(item, tr.Scripted):
        return ()
    counted = tr.is_token(item.base, "BIG") or tr.is_group(item.base, "LSET", "LBRACK")
    return [i for above in item.sups for i in above] if counted or str(item.base).endswith("_bb") else ()


def _primed(item: tr.Item) -> str:
    """The name of C'."""
    if not isinstance(item, tr.Scripted) or not item.primes or item.subs or item.sups:
        return ""
    return f"{item.base}{'_prime' * item.primes}" if tr.is_token(item.base, "NAME") else ""


def words(formulas: list[Formula]) -> list[Formula]:
    r"""MSE of MSE = …, CE of CE(p, t) = …, net of net_j = …: one name, where an equation defines it by that word."""
    heads = [trees.sides(part) for part in trees.all_statements(formulas)]
    found = {word for head, *rest in heads if rest and (word := _word(head, formulas))}
    for word in sorted(found, key=len, reverse=True):
        formulas = trees.replaced(formulas, lambda run, n, word=word: _joined(run, n, word))  # type: ignore[misc]
    return formulas


def _word(head: trees.Run, formulas: list[Formula]) -> str:
    """The letters of which a head consists, side by side, but for indices and arguments; of two both are capitals."""
    called = len(head) > 1 and tr.is_group(tr.base_of(head[-1]), "LPAREN")
    word = "".join(str(tr.base_of(i)) for i in (head[:-1] if called else head))
    if not word.isalpha() or _joined(head, 0, word) is None or len(word) == 2 and not word.isupper():
        return ""
    return word if called or len(word) > 2 or not _alone(word, formulas) else ""


def _alone(word: str, formulas: list[Formula]) -> bool:
    """Whether a letter of the word stands somewhere without the others."""
    runs = [run for f in formulas for run in trees.all_runs(f.tree or ())]
    inside = {id(item) for run in runs for n in range(len(run)) if _joined(run, n, word)
              for item in run[n : n + len(word)]}
    return any(str(tr.base_of(item)) in word for run in runs for item in run
               if id(item) not in inside and tr.is_token(tr.base_of(item), "NAME"))


def _joined(run: trees.Run, n: int, word: str) -> tuple[tr.Items, int] | None:
    """The letters of the word, which begin at n with nothing between them, as one name with the scripts of the last."""
    own = run[n : n + len(word)]
    bases = [tr.base_of(i) for i in own]
    if len(own) < 2 or [*map(str, bases)] != [*word] or not all(tr.is_token(i, "NAME") for i in (*own[:-1], bases[-1])):
        return None
    if any(one.end != after.start for one, after in itertools.pairwise(bases)):
        return None
    last = own[-1]
    name = replace(trees.name(word, own[0]), end=bases[-1].end)
    return ((replace(last, base=name) if isinstance(last, tr.Scripted) else name,), len(word))


def gradients(formulas: list[Formula]) -> list[Formula]:
    r"""∂L/∂W for dW: as some dO = ∂L/∂O says, with the loss of another ∂L/∂y of the card, or with the L of L = …"""
    parts = [trees.sides(part) for part in trees.all_statements(formulas)]
    said = (above for head, *sides in parts for side in sides if (own := _differential(head)) is not None and (
        above := of_loss(side)) is not None and trees.spelt([own]) == trees.spelt(above[-1:]))
    shown = (above for head, *_ in parts if (above := of_loss(head)) is not None)
    defined = ((trees.sign("PARTIAL", "partial", head[0]), head[0], head[0]) for head, *rest in parts
               if rest and len(head) == 1 and trees.letter(head[0]) in _LOSSES)
    pattern = next(itertools.chain(said, shown, defined), None)
    differentials = {trees.spelt([own]) for two in parts for run in two if (own := _differential(run)) is not None}
    if pattern is None or trees.spelt(pattern[1:2]) in differentials:  # dL = … dZ: the total differential
        return formulas
    partial, loss, _ = pattern

    def named(part: trees.Run) -> trees.Run:
        own = _differential(part)
        return part if own is None else (
            tr.Command("FRAC", ((partial, loss), (partial, own)), part[0].start, part[1].end),)

    return trees.in_statements(named)(formulas)


_LOSSES = ("L", "L_cal", "ell", "J", "E", "C")


def quotients(formulas: list[Formula]) -> list[Formula]:
    r"""∂ℓ/∂a for dℓ/da, where no other d stands on the card."""
    def quotient(part: trees.Run) -> trees.Run:
        above, _, below = (part[:2], part[2:3], part[3:]) if tr.is_token(part[2], "SLASH") else ((), (), ())
        two = _differential(above), _differential(below)
        if two[0] is None or two[1] is None:
            return part
        partial = [tr.Token("PARTIAL", "partial", run[0].start, run[0].end) for run in (above, below)]
        return (tr.Command("FRAC", ((partial[0], two[0]), (partial[1], two[1])), part[0].start, part[-1].end),)

    def first(part: trees.Run) -> trees.Run:
        head = trees.sides(part)[0]
        own = quotient(head) if len(head) == 5 else head
        return part if own is head else (*own, *part[len(head) :])

    others = {name for part in trees.all_statements(formulas) for run in trees.sides(part)
              if not (len(run) == 5 and quotient(run) is not run) for name in tr.names_in(run)}
    return formulas if "d" in others else trees.in_statements(first)(formulas)


def _differential(run: trees.Run) -> tr.Item | None:
    """W of dW."""
    two = len(run) == 2 and trees.letter(run[0]) == "d" and tr.is_token(tr.base_of(run[1]), "NAME")
    return run[1] if two else None


def of_loss(run: trees.Run) -> tuple[tr.Item, tr.Item, tr.Item] | None:
    """∂, L and O of ∂L/∂O, written as a fraction or with a slash."""
    if len(run) == 1 and isinstance(run[0], tr.Command) and run[0].type == "FRAC":
        run = (*tr.unwrap(run[0].arguments[0]), *tr.unwrap(run[0].arguments[1]))
    run = tuple(item for item in run if not tr.is_token(item, "SLASH"))
    written = len(run) == 4 and tr.is_token(run[0], "PARTIAL") and tr.is_token(run[2], "PARTIAL")
    return (run[0], run[1], run[3]) if written and trees.letter(run[1]) is not None else None


def compounds(formulas: list[Formula]) -> list[Formula]:
    r"""\ell for \log L(w), p for p(y = 1 \mid x): what an equation defines, where nothing else has the letter.

    Of p(y = 1 \mid x) = \hat{p} = σ(…) the other letter is the name, and the probability is left out.
    """
    formulas = _named(formulas)
    for head in _heads(formulas):
        formulas = _replaced(formulas, lambda own, at, spelt=head.spelt: (  # type: ignore[misc]
            (own.name(at),) if own.spelt == spelt else None))
    return formulas


@dataclass(frozen=True)
class _Compound:
    """The items of log L(w), p(y = 1 | x) or P(c_n | x_n), the letter for it, and what is equal for equal ones."""

    items: trees.Run
    letter: str
    spelt: str

    def name(self, at: tr.Item) -> tr.Item:
        """p; p_n of what is about c_n and x_n."""
        own = trees.name(self.letter, at)
        index = sorted(trees.indices(self.items)) if self.letter == "p" else []
        return trees.indexed(own, *(trees.name(i, at) for i in index)) if index else own

    @staticmethod
    def at(run: trees.Run, n: int) -> _Compound | None:
        """The compound that begins at n."""
        group = run[n + 1] if n + 1 < len(run) else None
        if tr.is_group(group, "LPAREN") and isinstance(run[n], tr.Token) and (
                str(run[n]) in _PROBABILITIES and tr.has(group.items, "MID")):
            return _Compound(run[n : n + 2], "p", trees.spelt(run[n : n + 2]))
        of = trees.letter(run[n + 1]) if n + 1 < len(run) and tr.is_token(run[n], "FN") else None
        if of is None or str(run[n]) != "log" or not is_capital(of) or of.partition("_")[2] not in ("", "cal", "scr"):
            return None
        return _Compound(run[n : n + (2 if trees.called(run, n + 1) is None else 3)], "ell", of)


_PROBABILITIES = ("p", "P", "P_bb", "Pr", r"\Pr")


def _heads(formulas: list[Formula]) -> list[_Compound]:
    """What equations define by such names, where one name has the letter, and nothing else."""
    heads = (two[0] for part in trees.all_statements(formulas) if len(two := trees.sides(part)) > 1 and two[0])
    found = {own.spelt: own for h in heads if (own := _Compound.at(h, 0)) is not None and own.items == h}
    if not found:
        return []
    letters = [own.letter for own in found.values()]
    others = trees.letters(_replaced(formulas, lambda own, at: ()))
    return [own for own in found.values() if letters.count(own.letter) == 1 and own.letter not in others]


def _replaced(formulas: list[Formula], new: Callable[[_Compound, tr.Item], trees.Run | None]) -> list[Formula]:
    """The formulas with other items for compounds; ``new`` gives None for those that stay."""
    def change(run: trees.Run, n: int) -> tuple[tr.Items, int] | None:
        own = _Compound.at(run, n)
        found = None if own is None else new(own, run[n])
        return None if own is None or found is None else (found, len(own.items))

    return trees.replaced(formulas, change)


def _without_probability(part: trees.Run) -> trees.Run:
    """A chain without the probability that a letter beside it names."""
    *heads, value = trees.sides(part)
    own = [_Compound.at(h, 0) if h else None for h in heads]
    named = [h for h, o in zip(heads, own, strict=True) if o is None or o.letter != "p" or o.items != h]
    if not named or len(named) == len(heads):
        return part
    return *(item for h in named for item in (*h, trees.equals(h[-1]))), *value


_named = trees.in_statements(_without_probability)


def short(formulas: list[Formula]) -> list[str]:
    """What the letters of this rule are short for."""
    return [f"${latex_of(own.letter)}{_below(own.name(own.items[0]))}$ is short for ${_written(formulas, own.items)}$"
            for own in _heads(_named(formulas))]


def _below(item: tr.Item) -> str:
    index = "".join(map(str, trees.below(item)))
    return f"_{{{index}}}" if len(index) > 1 else f"_{index}" if index else ""


def _written(formulas: list[Formula], items: trees.Run) -> str:
    formula = next(f for f in formulas if {*items} <= {i for top in f.tree or () for i in tr.inside(top)})
    return formula.source.latex[items[0].start : items[-1].end].strip()
