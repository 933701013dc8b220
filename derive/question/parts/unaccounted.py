"""Parts, letters and labels that the words name and that no formula computes: «followed by a sigmoid»."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from derive.errors import CardError, Problem
from derive.expr import Expr
from derive.module import Module
from derive.notation.rules.kinds import equates
from derive.notation.symbols import name_of
from derive.notation.tree import names_in
from derive.question.letters.naming import Mention, bare_letters, lettered, mentions
from derive.question.parts.recognised import LOSSES
from derive.question.parts.shown import SHOWN, Formulas
from derive.question.requests.verbs import discussed
from derive.question.sentences.acts import in_brackets, is_background
from derive.question.words.lexicon import ends, is_near, named, only
from derive.question.words.prose import BREAK, GAP, Prose

_NESTED = re.compile(r"\s*\\?[A-Za-z]+\s*\([^()]*\\?[A-Za-z]+\s*\([^()]*\)")  # ℓ(φ(s), y)


_OBJECTIVE = re.compile(r"\s*([A-Z]|\\ell|\\math\w+\s*\{\s*\w\s*\})\s*\(([^()]*)\)\s*")  # F(w, b)
_STATED = re.compile(r"\\partial|\\in(?![a-z])")  # of ∂L/∂y, of a shape
_ALLOWED = re.compile(r"\b(?:may|can) (?:use|write|introduce|abbreviate)\b")  # a letter for the answer
_TAKEN = ("letter.target", "letter.weight", "letter.bias")  # what some formula must take
_NORM = re.compile(r"\s*(?:L|\\ell)_\{?[12]\}?\s*")  # $L_2$ regularisation
_CELLS = frozenset("rnn lstm gru attention".split())  # of which a question may give one stage
_INSIDE = re.compile(r"\b(?:in|inside|(?:stage|part|step|half|gates?|end) of)\s+(?:an?|the|this)\s+(?:\w+\s+)?\Z")
_NEAR = 150  # characters between a name and the formula that is what it names
_FAR = 500  # characters of its sentence that are read on either side of a part's name


def refuse_other_output(prose: Prose, letters: Iterable[str], declared: Iterable[str]) -> None:
    """Raise :class:`CardError` for «its output $h$», «the target $t$», «the bias $b$» that no formula has."""
    letters, declared = {*letters}, {*declared}
    for mention in mentions(prose, bare_letters):
        at = next((g.start for g in prose.gaps if g.formula is mention.formula), 0)
        allowed = _ALLOWED.search(prose.text[prose.sentence(at)[0] : at])
        called = () if mention.before.endswith("time") or allowed else named(mention.before, "letter")  # «at time $t$»
        for latex in mention.letters if called and called[-1].of("letter.output", *_TAKEN) else ():
            known = letters if called[-1].of(*_TAKEN) else letters | declared
            labelled = called[-1].of("letter.weight", "letter.bias")  # W of W_{xh}
            has = name_of(latex) in known or (labelled and any(k.startswith(f"{name_of(latex)}_") for k in known))
            ranges = labelled and "=" in mention.formula.latex  # «weights $w_k$ and $v_k$, $k = 1, …, K$»
            behind = prose.text[at + 1 :].lstrip(" -")
            norm = _NORM.fullmatch(mention.formula.latex) and behind.startswith(("regulari", "penal", "norm"))
            if not has and not norm and not ranges and not _STATED.search(mention.formula.latex):
                raise CardError(Problem(f"`{latex}` is named ({mention.said}), and no formula has it: write the "
                                        "forward formulas of all that is named", line=mention.formula.line))


def refuse_other_labels(prose: Prose, known: Iterable[str]) -> None:
    """Raise :class:`CardError` for «the weights $W_h$» beside formulas with W_g and no W_h."""
    known = {*known}
    families = {name.partition("_")[0] for name in known if _LABELLED.fullmatch(name)}
    for gap in prose.gaps:
        for latex in lettered(gap.formula):
            name = name_of(latex)
            if _LABELLED.fullmatch(name) and name not in known and name.partition("_")[0] in families - known:
                raise CardError(Problem(f"`{latex}` is named, and no formula has it: write the forward formulas of all "
                                        "that is named", line=gap.formula.line))


_LABELLED = re.compile(r"[A-Za-z]+_[A-Za-z]")  # W_h, not w_1


def refuse_objective(prose: Prose, known: Iterable[str], given: Iterable[str]) -> None:
    """Raise :class:`CardError` for «we minimise $F(w, b)$» of the layer's own letters, where no formula computes F.

    With ∂F/∂w in the question it is a loss further on, of which nothing more need be known.
    """
    known, given = {*known}, {*given}
    for gap in prose.gaps:
        found = _OBJECTIVE.fullmatch(gap.formula.latex)
        letters = [name_of(part) for part in found[2].split(",") if part.strip()] if found else []
        if found is None or name_of(found[1]) in known or not letters or not {*letters} <= given:
            continue
        if not any(re.search(rf"\\(?:partial|nabla)[\s{{]*{re.escape(found[1])}", f.latex) for f in prose.formulas):
            latex = gap.formula.latex.strip()
            raise CardError(Problem(f"`{latex}` is named, and no formula computes it: write it, e.g. `{latex} = …`",
                                    line=gap.formula.line))


def refuse_unaccounted(prose: Prose, values: Iterable[Expr], said: Iterable[Mention], given: Iterable[str],
                       described: bool = False) -> None:
    """Raise :class:`CardError` for a part that the words name and that none of the formulas computes.

    A dropout is shown by its mask: one of the letters ``given``, and called so.  ``given`` has the layer's letters.
    With ``described`` words may name the formulas as they like, unless the layer goes on through the part.
    """
    formulas, given = Formulas.of(values), {*given}
    for gap in (g for g in prose.gaps if not equates(g.formula)):
        before, letters = prose.text[: gap.start], {*map(name_of, bare_letters(gap.formula))}
        followed = not letters & given and ends(before, "goes.followed", over=("between.article",))
        if followed or (_NESTED.match(gap.formula.latex) and ends(before, "letter.loss", over=("goes.is",))):
            raise CardError(Problem(f"`{gap.formula.latex.strip()}`: what does it compute? Write its formula",
                                    line=gap.formula.line))
    masked = any(given & {*m.letters} and named(f"{m.before} {m.after.partition('dropout')[0]}", "goes.mask")
                 for m in said)
    places = [(span.concept.partition(".")[2], span.start, span.stop)
              for span in named(prose.text, "part", "unnamed.cases", "unnamed.activation")]
    for name, start, stop in places:
        shown = SHOWN.get(name)
        own = name in LOSSES and _is_lettered(prose, stop, given)
        if ends(prose.text[:start], "goes.plus", over=("goes.adjective",)):
            raise _unwritten(prose, start, stop)  # «$L = …$ plus an L2 penalty»
        if masked if name == "dropout" else not own and (shown is None or shown(formulas)):
            continue
        if name == "cases" and _is_drawn(prose, start, given) or name in _CELLS and _INSIDE.search(prose.text[:start]):
            continue
        if name == "negative_log_likelihood" and _stands_behind(prose, stop):
            continue  # of any distribution
        told = is_background(prose, start) if described else in_brackets(prose, start)
        if not (told or discussed(prose.text, start)) and (
                name == "cases" or own or _goes_on(prose, start, stop, described and name not in _ADDED)):
            raise _unwritten(prose, start, stop)


def _unwritten(prose: Prose, start: int, stop: int) -> CardError:
    quoted = prose.plain.quote(start, stop)
    return CardError(Problem(f"“{quoted}” is named, and no formula computes it: write the forward formulas of all that "
                             "the output goes through", line=prose.plain.line(start)))


def _is_drawn(prose: Prose, start: int, given: Collection[str]) -> bool:
    """«$m_i = 0$ with probability $p$ and $m_i = 1$ otherwise», of a mask that the layer is given; «$t_{nk} = 1$ if the
    sample belongs to the class $k$ and $t_{nk} = 0$ otherwise», of a label."""
    first, last = prose.sentence(start)
    gap = next((g for g in prose.gaps if start <= g.start < last), None)
    head = next(names_in(gap.formula.tree or ()), "") if gap is not None else ""
    words = prose.text[first:start].split()
    return ("probability" in words or "belongs" in words and "class" in words) and name_of(head) in given


def _is_lettered(prose: Prose, stop: int, known: Collection[str]) -> bool:
    """«the hinge loss $H$»: it has a letter of its own, and no formula has that."""
    gap = next((gap for gap in prose.gaps if gap.start >= stop), None)
    letters = {*map(name_of, bare_letters(gap.formula))} if gap is not None and not equates(gap.formula) else set()
    between = prose.text[stop : gap.start].strip() if gap is not None else ""
    return bool(letters) and letters.isdisjoint(known) and between in ("", "loss", "error", "cost")


def _stands_behind(prose: Prose, stop: int) -> bool:
    """«… is $E = …$», «… of the counts, constants dropped, is» in front of a displayed formula."""
    at = next((n for n in range(stop, len(prose.text)) if prose.text[n] in (GAP, BREAK)), stop)
    inline = next((gap for gap in prose.gaps if gap.start == at), None)
    if at > stop and only(prose.text, stop, at, "naming.is") and (inline is None or equates(inline.formula)):
        return True
    between = prose.text[stop : prose.text.find(BREAK, stop)] if BREAK in prose.text[stop : stop + _NEAR] else "."
    return not {*between} & {*".?!¶:"} and ends(between, "naming.is") and not named(between, "part", "operation")


def refuse_other_layers(prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for a part beside the windows, unless «of the pooling layer» is asked."""
    asks = {prose.sentence(verb.start) for verb in named(prose.text, "ask.verb")}
    of_pooling = (pool for pool in named(prose.text, "geometry.pool", "geometry.whole", "geometry.adaptive")
                  if ends(prose.text[: pool.start], "goes.of_the", most=1))
    if asks.isdisjoint(prose.sentence(pool.start) for pool in of_pooling):
        letters = (symbol.name for symbol in module.table.symbols)
        refuse_unaccounted(prose, [equation.terms[1] for equation in module.equations], (), letters)


_ADDED = frozenset({"penalty", "dropout"})  # no name of formulas, but what is done besides
_HABITS = ("aside.habit", "aside.told", "elsewhere.told")  # tell of habits, whatever joins the part there
_ELSEWHERE = ("aside.other", "aside.elsewhere", "elsewhere.of")  # of other layers and of special cases


def without_asides(text: str) -> str:
    """The words with blanks for those that tell of other layers: «unlike …», up to the comma or to «we use»."""
    for span in named(text, "aside.other"):
        ends = (n for n in range(span.stop, len(text)) if text[n] in ",;" or text.startswith(" we ", n))
        stop = next(ends, len(text))
        text = text[: span.start] + " " * (stop - span.start) + text[stop:]
    return text


def is_aside(words: str) -> bool:
    """The words tell of other layers, of habits or of special cases."""
    return bool(named(words, *_HABITS, *_ELSEWHERE))


def _goes_on(prose: Prose, first: int, last: int, described: bool) -> bool:
    """The words say that the output of the formulas goes through the part that they name here, ``described`` or not."""
    start, stop = prose.sentence(first)
    start, stop = max(start, first - _FAR), min(stop, last + _FAR)
    told = without_asides(prose.text[start:stop])
    if not told[first - start : last - start].strip():
        return False
    before, after = _without_targets(told[: first - start]), _without_targets(told[last - start :])
    denied = any(is_near(after[: s.start], 3) for s in named(after, "not.no")) or ends(before, "not.no", most=2)
    if denied or "not part of" in after.partition(",")[0] or named(f"{before} ∎ {after}", *_HABITS):
        return False
    if ends(before, "goes.on", "goes.followed", over=("goes.adjective",)) or any(
            is_near(after[: s.start], 2) for s in named(after, "goes.applied")) or named(after, "goes.around"):
        return True
    return not described and not named(f"{before} ∎ {after}", *_ELSEWHERE)


def _without_targets(words: str) -> str:
    """The words without «compared with the target»."""
    for span in reversed(named(words, "aside.none")):
        words = words[: span.start] + words[span.stop :]
    return words
