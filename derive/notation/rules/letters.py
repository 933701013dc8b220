r"""Letters of their own: layers numbered above, a whole log-likelihood, a probability that an equation defines."""

from __future__ import annotations

from dataclasses import replace

from derive.notation import tree as tr
from derive.notation.formulas import Formula
from derive.notation.rules import trees

_STEPS = (["NAME", "PLUS", "NUMBER"], ["NAME", "MINUS", "NUMBER"])


def _above(item: tr.Item) -> tuple[str, tr.Items] | None:
    """z and l of z^l_j, a and l − 1 of a^{l-1}."""
    if not isinstance(item, tr.Scripted) or not item.sups or not tr.is_token(item.base, "NAME"):
        return None
    above = item.sups[0]
    kinds = [i.type if isinstance(i, tr.Token) else "" for i in above]
    return (item.base.text.partition("_")[0], above) if kinds in (["NAME"], ["NUMBER"], *_STEPS) else None


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


_LOGARITHM = "ell"


def likelihoods(formulas: list[Formula]) -> list[Formula]:
    r"""\ell for \log L, where that is what an equation defines and nothing else is called \ell."""
    head = _likelihood(formulas)
    if head is None:
        return formulas
    own = trees.letter(head[1])

    def short(run: trees.Run) -> trees.Run:
        for n, item in enumerate(run[1:], 1):
            if trees.letter(item) == own and _is_log(run[n - 1]):
                rest = run[n + 2 :] if trees.called(run, n) is not None else run[n + 1 :]
                return *run[: n - 1], trees.name(_LOGARITHM, item), *short(rest)
        return run

    return trees.changed(formulas, lambda tree: trees.mapped(tree, short))


def _is_log(item: tr.Item) -> bool:
    return tr.is_token(item, "FN") and item.text == "log"


def _likelihood(formulas: list[Formula]) -> trees.Run | None:
    """log L(w) as it stands left of =; nothing where two are defined, or a letter is called ℓ."""
    heads = [trees.sides(part)[0] for part in trees.all_statements(formulas) if len(trees.sides(part)) > 1]
    found = [h for h in heads if len(h) > 1 and _is_log(h[0]) and (own := trees.letter(h[1])) and own[0].isupper()
             and own.partition("_")[2] in ("", "cal", "scr") and len(own.partition("_")[0]) == 1
             and (len(h) == 2 or (len(h) == 3 and tr.is_group(h[2], "LPAREN")))]
    one = len({trees.letter(h[1]) for h in found}) == 1
    return found[0] if one and _LOGARITHM not in trees.letters(formulas) else None


def posteriors(formulas: list[Formula]) -> list[Formula]:
    r"""p for p(y = 1 \mid x), where that is what an equation defines and nothing else is called p.

    Of p(y = 1 \mid x) = \hat{p} = σ(…) the other letter is the name, and the probability is left out.
    """
    formulas = _named(formulas)
    if _posterior(formulas) is None:
        return formulas
    return trees.changed(formulas, lambda tree: trees.mapped(tree, _without_probabilities))


def _without_name(part: trees.Run) -> trees.Run:
    """A chain without the probability that a letter beside it names."""
    *heads, value = trees.sides(part)
    named = [h for h in heads if not (len(h) == 2 and _is_probability(h, 0))]
    if not named or len(named) == len(heads):
        return part
    return *(item for h in named for item in (*h, trees.equals(h[-1]))), *value


_named = trees.in_statements(_without_name)


def _without_probabilities(run: trees.Run) -> trees.Run:
    found: list[tr.Item] = []
    for n, item in enumerate(run):
        if n and _is_probability(run, n - 1):
            found[-1] = trees.name("p", run[n - 1])
        else:
            found.append(item)
    return tuple(found)


def _is_probability(run: trees.Run, n: int) -> bool:
    group = trees.called(run, n) if trees.letter(run[n]) in ("p", "P", "P_bb", "Pr") else None
    return group is not None and run[n + 1] is group and tr.has(group.items, "MID")


def _posterior(formulas: list[Formula]) -> trees.Run | None:
    """The one equation that begins with such a probability, where a letter for it is free."""
    found = []
    for part in trees.all_statements(formulas):
        head = trees.sides(part)[0]
        if len(trees.sides(part)) > 1 and len(head) == 2 and _is_probability(head, 0):
            of = tr.split(head[1].items, "MID")[0] if tr.is_group(head[1], "LPAREN") else []
            if of and trees.letter(of[0]) is not None and (len(of) == 1 or tr.is_token(of[1], "REL")):
                found.append(part)
    rest = trees.changed(formulas, lambda tree: trees.mapped(
        tree, lambda run: [item for n, item in enumerate(run) if not _is_probability(run, n)]))
    taken = "p" in trees.letters(rest)
    return found[0] if len(found) == 1 and not taken else None


def short(formulas: list[Formula]) -> list[str]:
    """What the letters of these rules are short for."""
    head, part = _likelihood(formulas), _posterior(_named(formulas))
    said = [] if head is None else [f"$\\ell$ is short for ${_written(formulas, head)}$"]
    if part is not None:
        said.append(f"$p$ is short for ${_written(formulas, part[:2])}$")
    return said


def _written(formulas: list[Formula], items: trees.Run) -> str:
    formula = next(f for f in formulas if any(i is items[0] for top in f.tree or () for i in tr.inside(top)))
    return formula.source.latex[items[0].start : items[-1].end].strip()
