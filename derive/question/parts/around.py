"""Layers that words name in front of the card's own formulas and behind them: their formulas, and their letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.expr import Add, Entry, Expr, Mul, Pow, Reduce, walk
from derive.layers.lettering import free as free_letter
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates
from derive.notation.symbols import SymbolTable, name_of
from derive.question.letters.claims import Doubts
from derive.question.letters.naming import Mention, sizes_said
from derive.question.parts.chain import Chain
from derive.question.parts.network import Network, network
from derive.question.parts.order import Placed, placed
from derive.question.parts.recognised import Part, role_of
from derive.question.parts.shown import can_show, shown
from derive.question.parts.unwritten import (
    SIGNATURE,
    entries_of,
    last_of,
    own_function,
    refuse_mixed,
    refuse_unaccounted_words,
    units_of,
)
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose
from derive.specify.definitions import Definition, Definitions


def placed_parts(prose: Prose, written: Sequence[Formula], defined: Definitions, table: SymbolTable,
                 doubts: Doubts) -> tuple[list[Formula], list[Mention]]:
    """The formulas of parts that words put in front of the card's formulas and behind them, and what their letters are.

    Nothing where the words put none there, or do not say of each part which it follows.
    """
    chain = Chain(prose)
    last, functions = last_of(defined), [f for _, f in defined.functions.values()]
    tensors = [d.formula for d in defined.tensors.values()]
    if len(tensors) == 1 and SIGNATURE.match(tensors[0].latex):
        functions, last = tensors, None  # f(s) = …, of a number
    if not (chain.asked and chain.parts) or defined.aliases or defined.known or last is None and len(functions) != 1:
        return [], []
    own = functions if last is None else tensors
    output = own_function(own[0]).name if last is None else _latex(table, last.entry.tensor)
    values = [*(d.value for d in defined.tensors.values()), *(f.body for f, _ in defined.functions.values())]
    taken = _taken(chain, defined) if last is not None else []
    source = _latex(table, taken[0]) if len(taken) == 1 else ""
    around = placed(prose, chain.parts, own, (output, source), source)
    stated = any(loss.formula in own for loss in chain.losses.values())
    if around is None or stated or any(computed_by(p, values) for p in chain.parts):
        return [], []
    if any(p.loss for p in chain.parts) and chain.letter("target") is None:  # «minimise the quantile loss»
        return [], []
    chain.understood += around.places
    if last is None:
        at = min(start for start, _ in around.places)
        chain.parts = [*around.before, Part("own", at, at + 1), *around.behind]
        found = [network(chain, written, [own_function(own[0])], several=bool(named(prose.text, "several")))]
    else:
        found = [*_around(chain, around, written, defined, table, last)]
    chain.parts, chain.continued = [*around.before, *around.behind], True
    formulas, used = [f for n in found for f in n.formulas], [f for n in found for f in n.used]
    refuse_mixed(around.behind, chain)
    with doubts.over("forward"):
        equations = [f for f in written if equates(f)]  # a letter that merely stands in the words is accounted for
        refuse_unaccounted_words(chain, [*formulas, *equations], [*used, *equations],
                                 [*sizes_said(prose), *units_of(chain)])
    return formulas, [m for n in found for m in n.mentions]


def _around(chain: Chain, around: Placed, written: Sequence[Formula], defined: Definitions, table: SymbolTable,
            last: Definition) -> Iterator[Network]:
    """The parts in front of the card's formulas, which give the one letter that is called nothing else, and behind."""
    taken = {s.latex for s in table.symbols}
    if around.before:
        yield _in_front(chain, around.before, written, defined, table)
        taken |= {c for p in around.before for c in p.letters.values()} | {"x", "u", "v", "r"}
    if around.behind:
        chain.parts, chain.continued = around.behind, True
        symbol = table.named(last.entry.tensor)
        rank = len(last.entry.indices) or (len(symbol.axes) if symbol else 0)
        yield network(chain, written, [], source=_latex(table, last.entry.tensor), rank=rank, taken=taken)


def _in_front(chain: Chain, parts: Sequence[Part], written: Sequence[Formula], defined: Definitions,
              table: SymbolTable) -> Network:
    """The parts that give the one letter of the card's formulas that is called nothing else."""
    free = _taken(chain, defined)
    entries = {n.tensor: len(n.indices) for d in defined.tensors.values() for n in entries_of(d.value)}
    if len(free) != 1:
        raise chain.unclear(parts[-1], f": is its output {' or '.join(f'`{name}`' for name in free)}? Write its "
                            "forward formula")
    taken = {s.latex for s in table.symbols}
    given, last = _latex(table, free[0]), parts[-1]
    if last.name == "linear" and not entries[free[0]] and last.options.get("units") != "1":
        if not last.letters.get("weight", "W").islower():
            raise chain.unclear(last, f": `{given}` is one number; has it one unit? Write e.g. “with weights $w$”, or "
                                "the forward formulas")
        last = replace(last, options={**last.options, "units": "1"})
    chain.parts = [*parts[:-1], replace(last, letters={**last.letters, "output": given})]
    source = chain.letter("input") or "x"
    source = source if source not in taken else free_letter(("x", "u", "v", "r"), taken)
    return network(chain, written, [], several=bool(entries[free[0]]), source=source, taken=taken - {given})


def _taken(chain: Chain, defined: Definitions) -> list[str]:
    """The letters that the card's formulas take, and that are called no weight, target or the like."""
    roles = (None, "input", "output", "preactivation")
    spoken = {name_of(c) for m in chain.spoken if role_of(m) not in roles for c in m.letters}
    entries = dict.fromkeys(n.tensor for d in defined.tensors.values() for n in entries_of(d.value))
    return [name for name in entries if name not in defined.tensors and name not in spoken]


def _latex(table: SymbolTable, name: str) -> str:
    symbol = table.named(name)
    return symbol.latex if symbol else name


def computed_by(part: Part, values: Sequence[Expr]) -> bool:
    """Whether a formula may be that of the part: a linear one weighs in a sum, a squared error squares a difference."""
    if part.name in ("squared_error", "mean_squared_error"):
        return any(isinstance(n, Pow) and isinstance(n.base, Add) for value in values for n in walk(value))
    if part.name != "linear":
        return shown(part.name, values) or part.loss and not can_show(part.name)
    sums = (n.body for value in values for n in walk(value) if isinstance(n, Reduce))
    return any(isinstance(body, Mul) and sum(isinstance(f, Entry) for f in body.factors) > 1 for body in sums)
