r"""Letters of which one entry, or one copy, is something else: I that is the identity, x_1 = 1, one of many layers."""

from __future__ import annotations

from collections.abc import Iterator

from derive.errors import Problem, RequestError
from derive.expr import Entry, Idx, walk
from derive.module import Module
from derive.notation import tree as tr
from derive.notation.inference import LOSSES
from derive.notation.rules import trees
from derive.notation.rules.kinds import Said, entry_set, kind_of
from derive.notation.symbols import name_of
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose

Found = tuple[int | None, str]


def refuse_single(prose: Prose, module: Module) -> None:
    """Raise :class:`RequestError` for what the formulas do not hold: the identity, an entry that is set, the copies, a
    loss that is a number."""
    for line, problem in (*_identity(prose, module), *_set_entries(prose, module), *_repeated(prose, module),
                          *_losses(prose, module)):
        raise RequestError(Problem(problem, line=line, key="shapes"))


def _identity(prose: Prose, module: Module) -> Iterator[Found]:
    """I of $(I + W) x$, and what words call the identity, as an input."""
    indexed = {name_of(str(i.base)) for f in prose.formulas for run in trees.all_runs(f.tree or ()) for i in run
               if isinstance(i, tr.Scripted) and i.subs and tr.is_token(i.base, "NAME") and not (
                   str(i.base) == "I" and len(i.subs[0]) == 1 and tr.is_token(i.subs[0][0], "NAME"))}
    stated = {n for f in prose.formulas if kind_of(f) is Said.DECLARATION for n in tr.names_in(f.tree or ())}
    called = {name_of(str(g.formula.latex.strip())) for span in named(prose.text, "rank.identity") for g in prose.gaps
              if 0 <= g.start - span.stop < 3}
    for name in module.given:
        if name in called or (name.partition("_")[0] == "I" and name not in indexed | stated):
            yield None, (f"`{name}` comes out as an input: if it is the identity, write `x + W x` for `(I + W) x`; "
                         rf"else state its shape, as in `{name} \in \mathbb{{R}}^{{m \times n}}`")


def _set_entries(prose: Prose, module: Module) -> Iterator[Found]:
    """x of $x_1 = 1$, of which the derivatives by all entries would be given; no x_0 before the first x_{t-1}."""
    shifted = {n.tensor for e in module.equations for n in walk(e) if isinstance(n, Entry)
               and any(not isinstance(i, Idx) for i in n.indices)}
    for formula in prose.formulas:
        name = name_of(str(tr.base_of(formula.tree[0]))) if formula.tree else ""
        subs = tr.scripted(formula.tree[0]).subs if formula.tree else ()
        numbered = bool(subs) and all(tr.is_token(i, "NUMBER") for i in subs[0])
        asked = {n.tensor for w in module.wanted for n in walk(w) if isinstance(n, Entry)} or module.given
        set_ = numbered and entry_set(formula.tree or ()) is not None and name not in shifted
        if set_ and name in module.given and name in asked:
            yield formula.line, (f"`{formula.latex.strip()}` fixes one entry of `{name}`: write the formulas with it, "
                                 f"or list `{name}` under `inputs`")


def _repeated(prose: Prose, module: Module) -> Iterator[Found]:
    """«applied to each of $T$ time steps», of a formula y = W x + b for one of them."""
    heads = [part[0] for part in trees.all_statements(prose.formulas) if len(part) > 2 and tr.is_token(part[1], "REL")]
    output, _ = module.definition(module.output)
    whole = len(output.indices) < 2 and any(name_of(trees.letter(head) or "") == module.output for head in heads)
    places = named(prose.text, "samples.everywhere") if whole else ()
    for span in named(prose.text, "samples.shared"):
        _, end = prose.sentence(span.start)
        where = next((w for w in places if span.stop <= w.start < end), None)
        if where is not None:
            yield prose.plain.line(span.start), (
                f"“{prose.plain.quote(span.start, where.stop)}”: the formula is of one of them; write it with their "
                r"index, as in `y_t = W x_t + b`, `t = 1, \dots, T`, and the shapes")


def _losses(prose: Prose, module: Module) -> Iterator[Found]:
    """L of ∂L/∂W as a vector, because a letter in it is one."""
    entry, _ = module.definition(module.output)
    of = any(isinstance(w.of, Entry) and w.of.tensor == module.output for w in module.wanted)
    plain = next((f for f in prose.formulas for part in trees.statements(f.tree or ()) if len(part) > 1 and tr.is_token(
        part[1], "REL") and name_of(trees.letter(part[0]) or "") == module.output), None)  # not ℓ(s, c) = …
    if module.output in LOSSES and entry.indices and of and plain is not None:
        yield plain.line, f"`{module.output}` comes out as a vector, and its gradient is asked for: state the shapes"
