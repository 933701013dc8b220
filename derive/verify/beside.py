"""What sentences say of the displays that they lead to: of what these are, by what, which terms stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import dropwhile, islice, permutations, product, takewhile
from typing import Any, TypeGuard

import derive.expr as ex
from derive.affine import Affine
from derive.calculus.derivation import derivative, holding, lettered
from derive.reductions import REDUCTIONS
from derive.sheet import Block, Claim, Heading, Math, Prose
from derive.words import SENTENCE

Said = Any  # what is known of a layer, see derive.verify.said
Shown = list[Math]
FORMULA = re.compile(r"\$[^$]+\$")


def texts(blocks: list[Block]) -> list[tuple[int, str]]:
    """The places of sentences and headings."""
    return [(n, block.text) for n, block in enumerate(blocks) if isinstance(block, (Heading, Prose))]


def runs(claim: Claim, layer: Said) -> Iterator[tuple[Shown, Shown]]:
    """At each place of its sentences the displays right before them, and those next to come in their section."""
    sentences = SENTENCE.split(claim.words)
    own = [s for s in sentences if "$" in s] or sentences
    blocks = layer.blocks
    for n, text in layer.texts if claim.words else ():
        if all(s in text for s in own):
            section = takewhile(lambda other: not isinstance(other, Heading), islice(blocks, n + 1, None))
            behind = section if isinstance(blocks[n], Heading) else takewhile(_is_math, dropwhile(
                lambda other: not _is_math(other), section))
            yield [*filter(_is_math, takewhile(_is_math, reversed(blocks[:n])))], [*filter(_is_math, behind)]


def _is_math(block: Block) -> TypeGuard[Math]:
    return isinstance(block, Math)


def lefts(shown: Shown) -> list[tuple[ex.Expr | None, ex.Expr]]:
    """(t, u) for ∂t/∂u = …, and for δ_u = …: of what, if it says so, and by what each display is."""
    found: list[tuple[ex.Expr | None, ex.Expr]] = []
    for rel in (r for m in shown for r in ex.conditions(m.expr) if isinstance(r, ex.Rel)):
        first = rel.terms[0]
        if isinstance(first, ex.Partial):
            found.append((first.of, first.wrt))
        elif isinstance(first, ex.Entry):
            found.append((None, ex.Entry(first.tensor.removeprefix("delta_"), first.indices)))
    return found


def stands(layer: Said, text: str, shown: Shown) -> bool:
    """Each formula of the words stands in the displays, if only as the letter of its tensor or of its gradient."""
    nodes = {n for m in shown for n in ex.walk(m.expr)}
    entries = [ex.Entry(n.tensor.removeprefix("delta_"), n.indices) for n in nodes if isinstance(n, ex.Entry)]
    known = nodes | {*entries} | {ex.Entry(e.tensor, ()) for e in entries}
    return all(layer.nodes[f] in known or {*_factors(layer.nodes[f])} <= known
               for f in FORMULA.findall(text) if f in layer.nodes)


def _factors(node: ex.Node) -> tuple[ex.Node, ...]:
    return node.factors if isinstance(node, ex.Mul) else (node,)


def _first(layer: Said, shown: Shown) -> tuple[str, str]:
    """Of what and by what the first display is, as it stands in sentences."""
    of, wrt = (*lefts(shown), (None, ex.ZERO))[0]
    return "" if of is None else layer.text(of), layer.text(wrt)


def by(layer: Said, shown: Shown) -> set[str]:
    """The tensors by which the displays are."""
    return {wrt.tensor for _, wrt in lefts(shown) if isinstance(wrt, ex.Entry)}


def _terms(shown: Shown) -> tuple[ex.Expr, ...]:
    """The sides of the first display."""
    first = ex.conditions(shown[0].expr)[0]
    return first.terms if isinstance(first, ex.Rel) else ()


def _sides(shown: Shown) -> tuple[bool, bool]:
    """Whether a sum stands behind the first equals sign, and behind the last."""
    _, second, *rest = _terms(shown)
    sums = [any(isinstance(n, ex.Reduce) and n.op == "sum" for n in ex.walk(t)) for t in (second, *rest)]
    return sums[0], sums[-1]


def using(tensor: str, layer: Said) -> set[str]:
    """The tensors in whose definitions one stands, and through which it acts on the output."""
    module = layer.module
    return {t for t in module.defined if tensor in module.sources(t) and t in layer.reached(module.output)}


def _users(layer: Said, users: list[str], shown: Shown) -> bool:
    """All through which the tensor of the display acts are named, but for those where that cancels or is 0."""
    told = [(*layer.named([c.facts["here"]]), layer.named([c.facts["of"]])) for c in layer.sheet.claims
            if c.macro == "cancels"]
    own = layer.named(users)
    return all(own <= using(wrt.tensor, layer) and all(
        t in own or (wrt.tensor, {t}) in told or _local(t, wrt, layer) is ex.ZERO for t in using(wrt.tensor, layer))
        for _, wrt in lefts(shown[:1]) if isinstance(wrt, ex.Entry))


def _in_order(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    """The ways are named as the tensors are evaluated, the order of their terms; joined where there are some."""
    named = [t for text in said["users"] for t in layer.named([text])]
    return said["joined"] == (len(_terms(shown)) > 2) and named == [t for t in layer.module.defined if t in named]


def _local(tensor: str, wrt: ex.Entry, layer: Said) -> ex.Node:
    of, _ = layer.module.definition(tensor)
    return derivative(of, wrt, holding(of, layer.module)).after


def _through(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    """No way leads past what is named, from what the derivative is of to what it is by."""
    (of,), (wrt,), named = *map(layer.named, ([said["of"]], [said["wrt"]])), layer.named(said["through"])
    heads, table = [layer.module.definition(t)[0] for t in layer.module.defined], layer.module.table
    whole = {layer.text(h if (s := table.named(h.tensor)) and s.above else ex.Entry(h.tensor, ())) for h in heads}
    if not {*said["through"]} <= whole or not named <= {*layer.module.defined} - {of, wrt}:
        return False
    if _first(layer, shown) != (said["of"], said["wrt"]):
        return False
    ways = {n.of.tensor for n in ex.walk(_terms(shown)[1]) if isinstance(n, ex.Partial) and isinstance(n.of, ex.Entry)}
    if ways and not named <= ways:  # the display goes another way
        return False
    module, found = layer.module, {*layer.module.sources(of)} - ({wrt} if said["direct"] else set())
    if of == wrt or not found:
        return True
    seen: set[str] = set()
    while ways := found - seen - named:
        seen |= ways
        found |= {s for t in ways if t in module.defined for s in module.sources(t)}
    return wrt not in seen


def _definitions(layer: Said, shown: Shown) -> list[ex.Node]:
    """All that stands in the definitions of what is differentiated, and in those of the reductions in them."""
    found: list[ex.Node] = []
    for of in {t for t, _ in lefts(shown) if isinstance(t, ex.Entry) and t.tensor in layer.module.defined}:
        entry, value = layer.module.definition(of.tensor)
        found += ex.walk(ex.subst(value, dict(zip(entry.indices, of.indices, strict=True))))
    taken = {n.op for n in found if isinstance(n, ex.Reduce)}
    return found + [n for op in taken if (body := REDUCTIONS[op].definition) is not None for n in ex.walk(body)]


def _elementwise(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    found = [n.name for n in _definitions(layer, shown) if isinstance(n, ex.Fn)]
    return not found or said["name"] in found and said["card"] == (layer.module.function(said["name"]) is not None)


def _power(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    """A power with that exponent stands in the definition."""
    exponent, known = layer.nodes.get(said["exponent"]), [
        n.exponent for n in _definitions(layer, shown) if isinstance(n, ex.Pow)]
    return isinstance(exponent, ex.Expr) and any(
        lettered(ex.eq(exponent, exponent)) == lettered(ex.eq(e, e)) for e in known)  # under Σ_k or ∏_k another letter


def _quotient(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    """A product with a denominator stands in the definition, or one without."""
    below = [any(isinstance(f, ex.Pow) and isinstance(f.exponent, ex.Num) and f.exponent.value < 0 for f in n.factors)
             for n in _definitions(layer, shown) if isinstance(n, ex.Mul)]
    return said["quotient"] in below or not below and not said["quotient"]


def _term(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    """With what is said of the variables of a sum its term holds the letter: Σ_i W_i x_i by x_j, where i = j."""
    wrt = layer.nodes.get(said["wrt"])
    if not said["only"]:
        return True
    if not isinstance(wrt, ex.Entry) or wrt not in {by for _, by in lefts(shown)}:
        return False
    told = [layer.nodes.get(f) for f in FORMULA.findall(said["only"])]
    pairs = [n.terms for n in told if isinstance(n, ex.Rel) and len(n.terms) == 2]
    values: dict[ex.Node, list[ex.Node]] = {}  # Σ_i x_{ii} by x_{jk}: i = j, i = k
    for variable, value in pairs:
        values.setdefault(variable, []).append(value)
    return len(pairs) == len(told) and any(
        _is_met(entry, wrt, dict(zip(own, values.items(), strict=True)), body)
        for variables, body in _sums(layer, shown) if said["one"] == (len(values) == len(variables))
        for own in permutations(variables, len(values))
        for entry in body if isinstance(entry, ex.Entry) and entry.tensor == wrt.tensor)


def _is_met(entry: ex.Entry, wrt: ex.Entry, chosen: dict[ex.Node, tuple[ex.Node, list[ex.Node]]],
            body: list[ex.Node]) -> bool:  # fmt: skip
    """The entry below a sum is the letter, with (name, values) chosen for the variables of the sum.

    Each value is needed for that, or follows from a bracket: of [j = 2 i + k] that k is j − 2 i.
    """
    bound = [d for d, index in enumerate(entry.indices) if ex.free_indices(index) & {*chosen}]
    ways = [dict(zip(chosen, way, strict=True)) for way in product(*(each for _, each in chosen.values()))]
    met = [[w for w in ways if Affine.of(ex.subst(entry.indices[d], w)) == Affine.of(wrt.indices[d])] for d in bound]
    needed = {(v, w[v]) for d, found in zip(bound, met, strict=True) for w in found
              for v in ex.free_indices(entry.indices[d]) & {*chosen}}
    stated = {(v, one) for v, (_, each) in chosen.items() for one in each}
    return bool(bound) and all(met) and all(_follows(*pair, chosen, body) for pair in stated - needed)


def _follows(v: ex.Node, one: ex.Node, chosen: dict[ex.Node, tuple[ex.Node, list[ex.Node]]],
             body: list[ex.Node]) -> bool:  # fmt: skip
    """A bracket below the sum says that the variable has this value; another variable of the sum may have any name."""
    equal = [c for n in body if isinstance(n, ex.Bracket) for c in ex.conditions(n.cond)
             if isinstance(c, ex.Rel) and c.ops == ("=",)]
    known: dict[ex.Node, ex.Node] = {own: name for own, (name, _) in chosen.items()} | {v: one}
    for cond in equal:
        own = sorted(ex.free_indices(cond) - {*known}, key=str)
        for names in product([None, *ex.free_indices(one)], repeat=len(own)):
            named = known | {a: b for a, b in zip(own, names, strict=True) if b is not None}
            left, right = (Affine.of(ex.subst(term, named)) for term in cond.terms)
            if left == right:
                return True
    return False


def _sums(layer: Said, shown: Shown) -> Iterator[tuple[tuple[ex.Idx, ...], list[ex.Node]]]:
    """The variables of each sum, with those of sums in it, and what stands below."""
    for node in _definitions(layer, shown):
        variables: tuple[ex.Idx, ...] = ()
        while isinstance(node, ex.Reduce):
            binder, node = ex.opened(node)
            variables += binder.variables
        if variables:
            yield variables, [*ex.walk(node)]


def _asked(shown: Shown) -> Shown:
    """The displays but for those of the tensors between."""
    return [m for m in shown if m.name != "between"]


def _messages(layer: Said, said: Mapping[str, Any], shown: Shown) -> bool:
    """One message or several, as are displayed, unless tensors between or windows part them; parameters' alone."""
    several, windowed = len(by(layer, shown)) > 1, bool(layer.module.fields)
    counted = said["several"] == several or said["staged"] or (
        windowed and said["several"] <= (len(layer.module.given) > 1))
    alone = said["staged"] and by(layer, _asked(shown)) <= layer.roles["parameter"]
    return bool(counted and (alone or not said["alone"]))


def _of_many(layer: Said, shown: Shown) -> bool:
    """Of more outputs than have derivatives in the displays the numbers stand in the sheet."""
    of = {of for of, _ in lefts(shown) if isinstance(of, ex.Entry)}
    numbers = (n.terms for m in layer.sheet.formulas() if m.name == "example_forward" for n in ex.conditions(m.expr)
               if isinstance(n, ex.Rel))
    sizes = {left.tensor: sum(map(len, value.rows)) for left, value in numbers
             if isinstance(left, ex.Entry) and isinstance(value, ex.Matrix)}
    return any(0 < sum(o.tensor == tensor for o in of) < size for tensor, size in sizes.items())


# what the displays must be to which sentences lead
LEADS: dict[str, Callable[[Said, Mapping[str, Any], Shown], bool]] = {
    "chain": _through,
    "stage_used": lambda layer, said, shown: _first(layer, shown)[1] == said["here"],
    "stage_message": lambda layer, said, shown: _first(layer, shown)[1] == said["here"]
    and _users(layer, said["users"], shown) and (not said["collapsed"] or _sides(shown) == (True, False)),
    "stages_alike": lambda layer, said, shown: by(layer, shown) == layer.named(said["here"]),
    "cancels": lambda layer, said, shown: _first(layer, shown) == (said["of"], said["here"]),
    "rule_direct": lambda layer, said, shown: _first(layer, shown) == (said["of"], said["wrt"]),
    "rule_folded": lambda layer, said, shown: said["of"] in {layer.text(of) for of, _ in lefts(shown) if of},
    "rule_sum": _term, "rule_elementwise": _elementwise, "rule_power": _power, "rule_product": _quotient,
    "inserted": lambda layer, said, shown: _users(layer, said["users"], shown) and _in_order(layer, said, shown)
    and (not said["joined"] or len(_terms(shown)) > 2 and said["shared"] == isinstance(
        _terms(shown)[-1], (ex.Mul, ex.Cases))),
    "answer_derivatives": lambda layer, said, shown: by(layer, _asked(shown))
    <= layer.named(said["letters"]) <= by(layer, layer.answer)  # some come behind the gradients between
    and (said["kind"] == "named" or not any(of == ex.Entry("loss", ()) for of, _ in lefts(shown))),
    "answer_messages": _messages,
    "example_forward": lambda layer, said, shown: said["several"] == (
        sum(len(ex.conditions(m.expr)) for m in shown) > 1),
    "example_derivatives": lambda layer, said, shown: said["several"] == _of_many(layer, shown),
    "example_given": lambda layer, said, shown: said.get("upstream", True) == any(
        isinstance(n, ex.Entry) and n.tensor.startswith("delta_") for m in shown for n in ex.walk(m.expr)),
}


def amiss(claim: Claim, layer: Said, checked: Callable[[str], bool]) -> Iterator[str]:
    """What of a claim is not so of the displays beside it: by its macro, and else by each formula in its facts."""
    if claim.macro in LEADS:
        # the same words may be said of several displays: what is there is one of these
        alike = [c for c in layer.sheet.claims if c.macro == claim.macro and c.words == claim.words]
        yield from ("the display" for _, after in runs(claim, layer) if after and not any(
            LEADS[claim.macro](layer, c.facts, after) for c in alike))
        return
    lists = {name: [value] if isinstance(value, str) else value for name, value in claim.facts.items()
             if isinstance(value, (str, list, tuple)) and not checked(name)}
    found = {name: [t for t in value if isinstance(t, str) and "$" in t] for name, value in lists.items()}
    for before, after in runs(claim, layer) if any(found.values()) else ():
        yield from (name for name, own in found.items() if (before or after) and not all(
            stands(layer, text, [*before, *after]) for text in own))
