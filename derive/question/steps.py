r"""Steps of gradient descent that a question asks for: each is the request of a message, with a step size.

«and the new weights» is read as «and the parameter message», and that message is then scaled: θ_new = θ − η ∂ℓ/∂θ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from derive.axes import unused
from derive.card import Card
from derive.errors import DeriveError, OpenError, Problem, UnsupportedError
from derive.expr import Entry, Idx, Partial, eq
from derive.module import Module, Update
from derive.notation import read, write
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, Symbol, SymbolTable, latex_of, name_of
from derive.question.letters.naming import bare_letters, written_letters
from derive.question.posed_request import items
from derive.question.sentences.tokens import asks, in_english, sentences
from derive.question.words.lexicon import named
from derive.question.words.prose import GAP, Prose
from derive.question.words.reading import question_prose
from derive.records import dataclass
from derive.sections import lines_of
from derive.statement import Statement

_MAY_ASK = re.compile(r"updat|new |next |step|descent|iteration", re.IGNORECASE)
_LETTERS = rf"{GAP}(?: ?, ?{GAP})*(?: ?,? and {GAP})?"
_NOUN = (r"(?:trainable |network )?(?P<noun>weights?,? and (?:the )?bias(?:es)?|weight (?:matrix|vector)|bias vector|"
         r"weights?|parameters?|bias(?:es)?|kernel|filter|coefficients?)")
_WHICH = (rf"(?:(?:the |all |of |its |their |both |values? of )*(?:{_NOUN}(?: (?P<beside>{_LETTERS}))?|"
          rf"(?P<letters>{_LETTERS})))")
_STEP = (r"(?:(?:one|a|the|this|that|single|full|first|gradient|descent|training|sgd|update|optimi[sz]ation)[ -])+"
         r"(?:step|update|iteration)(?: of (?:(?:plain|vanilla|stochastic|steepest|full batch|batch)[ -])*"
         r"(?:gradient[ -]descent|descent|sgd|training))?")
_AFTER = rf"(?:be )?after (?:{_STEP}|the update)"
_RULE = r"updates?(?: (?:rules?|steps?|equations?|formulas?))?"
_FORMS = tuple(map(re.compile, (  # what is asked for, then orders
    rf"(?:the |all |of |its |their |both )*(?:new|updated|next) {_WHICH}(?: {_AFTER})?",
    rf"{_WHICH} {_AFTER}",
    rf"(?:the |an? |one )*(?:(?:gradient|sgd|descent|weight|parameter)[ -])*{_RULE} (?:of|for) {_WHICH}",
    rf"(?:the |an? )*(?:(?:gradient|sgd|descent|weight|parameter)[ -])+{_RULE}",
    r"(?:the |an? )*update (?:rule|step|equation|formula)s?",
    rf"(?:perform|take|do|make|carry out|apply) {_STEP}(?: (?:on|for|of|to) {_WHICH})?",
    rf"update {_WHICH}(?: (?:by|with|using|through|in) {_STEP})?")))
_ORDERS = _FORMS[-2:]
_NUMBER = rf"{GAP}|\d+(?: \d+)?"
_RATE = rf"(?:learning rate|step size|step length)(?: of| is| equal to)? ?(?P<rate>{_NUMBER})"
_WITH = re.compile(rf" ?,? ?(?P<open>\()?(?:(?:with|using|for|at|where|and) )?(?:(?:the|an?) )?{_RATE}(?(open)\))")
_BARE = re.compile(rf" ?,? ?(?P<open>\()?(?:with|using|for|where) (?P<rate>{GAP})(?(open)\))")
_OPENS = re.compile(rf"(?:^|[.?!;:,¶){GAP}]|\b(?:and|also|then|finally|next|hence|as well as|derive|compute|find|give|"
                    r"state|determine|calculate|obtain|evaluate|report|express|write(?: down)?)) ?$")
_NEAR = 24  # characters in which such a word stands
_WHAT = re.compile(r"\bwhat (?:is|are|will|would) $")
ENDS = re.compile(r" ?(?:[.,;:?!¶)]|(?:and|for|given|when|if|at|where|as well as|in terms of|using)\b|$)")
_GIVEN = re.compile(r"(?P<letter>\\?[A-Za-z]+)\s*(?:=\s*(?P<number>\d+(?:\.\d+)?|\d+\s*/\s*\d+|"
                    r"\\[td]?frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\}))?")
_USUAL = ("eta", "alpha", "gamma", "mu")
_ALL = frozenset(("weights", "weight", "parameters", "parameter"))
_UNFIT = ("a step of gradient descent is read as in “and the parameters after one step of gradient descent”, “and the "
          "new $W$”")
_ARROW = re.compile(r"(?P<letter>.+?)\s*\\(?:leftarrow|gets)\s*(?P=letter)\s*-\s*(?P<rate>\\?[A-Za-z]+)\s*"
                    r"(?:\\,|\\cdot)?\s*(?P<slope>\\[td]?frac\s*\{\s*\\partial.+)", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """θ ← θ − η ∂ℓ/∂θ as it is asked for: each θ, or a noun for them; the LaTeX of η, and its number."""

    letters: tuple[str, ...]  # by their names
    noun: str
    rate: str
    number: Fraction | None
    line: int | None
    words: str


def apart(card: Card) -> tuple[Card, tuple[Step, ...]]:
    """The card that asks for messages where it asks for what a step makes of their letters, and these steps.

    Raises :class:`UnsupportedError` where a step is asked for in a way that is not understood.
    """
    if _MAY_ASK.search(card.question) is None:
        return card, ()
    try:
        prose = question_prose(card)
    except DeriveError:
        return card, ()
    if not in_english(prose.text):
        return card, ()
    found = [*_phrases(prose)]
    _refuse_others(prose, found)
    if not found:
        return card, ()
    question = card.question
    rate, number = _rate(prose, found)
    steps = []
    for phrase in reversed(found):
        first, last = in_source(prose, phrase.start, phrase.stop)
        kept = "\n" * question.count("\n", first, last)
        question = question[:first] + _message(phrase, prose) + kept + question[last:]
    for phrase in found:
        own = tuple(name for formula in phrase.letters for name in _names(formula) or ())
        steps.append(Step(own, phrase.noun, rate, number, prose.plain.line(phrase.start),
                          prose.plain.quote(phrase.start, phrase.stop)))
    return with_question(card, question), tuple(steps)


def with_question(card: Card, question: str) -> Card:
    """The card with another question in place of its own."""
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :])


def stated(statement: Statement) -> tuple[Statement, tuple[Step, ...]]:
    r"""The statement that asks for ∂ℓ/∂W where it has the step ``W \leftarrow W - \eta \frac{∂ℓ}{∂W}``, and these."""
    found = [(n, text, _ARROW.fullmatch(text.strip())) for n, text in enumerate(statement.derive or ())]
    if not any(match for _, _, match in found):
        return statement, ()
    steps = tuple(Step((name_of(m["letter"]),), "", m["rate"], None, statement.line("derive", n), text)
                  for n, text, m in found if m)
    asked = dict.fromkeys(m["slope"] if m else text for _, text, m in found)
    return replace(statement, derive=tuple(asked)), steps


# --- where a step is asked for ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Phrase:
    """Where it stands in the prose, whether it is an order, whose letters it has, and where η is told in it."""

    start: int
    stop: int
    order: bool
    noun: str
    letters: tuple[Formula, ...]
    rate: tuple[int, int] | None


def opens(text: str, at: int) -> bool:
    """What is asked for may begin here: in front, behind a sign, a formula, “and”, a verb of asking."""
    return _OPENS.search(text[max(0, at - _NEAR) : at].rstrip(" ") + " " if at else "") is not None


def _phrases(prose: Prose) -> Iterator[_Phrase]:
    text, end = prose.text, 0
    for tokens in sentences(prose):
        first, last = tokens[0].start, tokens[-1].stop
        asking = asks(tokens)
        for start in (t.start for t in tokens):
            if start < end:
                continue
            near = max(first, start - _NEAR)
            what = _WHAT.search(text[near:start])
            if what is None and not opens(text, start):
                continue
            for form in _FORMS:
                phrase = _phrase(form.match(text, start, last + 1), prose, form in _ORDERS)
                if phrase is not None and (asking or phrase.order) and ENDS.match(text, phrase.stop):
                    end = phrase.stop
                    yield phrase if what is None else replace(phrase, start=near + what.start(), order=True)
                    break


def _phrase(match: re.Match[str] | None, prose: Prose, order: bool) -> _Phrase | None:
    if match is None:
        return None
    groups, stop = match.groupdict(), match.end()
    spans_ = [match.span(name) for name in ("letters", "beside") if groups.get(name)]
    letters = [gap.formula for a, b in spans_ for gap in prose.gaps if a <= gap.start < b]
    if not all(map(_names, letters)):
        return None
    rate = _WITH.match(prose.text, stop) or _BARE.match(prose.text, stop)
    if rate is not None and (rate.re is _WITH or _is_rate(prose, rate.start("rate"))):
        return _Phrase(match.start(), rate.end(), order, groups.get("noun") or "", tuple(letters), rate.span("rate"))
    return _Phrase(match.start(), stop, order, groups.get("noun") or "", tuple(letters), None)


def _names(formula: Formula) -> tuple[str, ...]:
    """The letters that a formula merely lists, by their names; none of ∂ℓ/∂w."""
    return tuple(map(name_of, written_letters(formula) or bare_letters(formula)))


def _is_rate(prose: Prose, at: int) -> bool:
    gap = next((g for g in prose.gaps if g.start == at), None)
    found = _GIVEN.fullmatch(gap.formula.latex.strip(" .,")) if gap is not None else None
    return found is not None and name_of(found["letter"]) in _USUAL


def _rate(prose: Prose, phrases: list[_Phrase]) -> tuple[str, Fraction | None]:
    """(the LaTeX of η, "" where it has none; its number), in a phrase or elsewhere in the question."""
    places = [p.rate for p in phrases if p.rate] or [m.span("rate") for m in re.finditer(_RATE, prose.text)]
    places += [(g.start, g.start + 1) for g in prose.gaps if not places and _is_rate(prose, g.start)]
    said = {_said(prose, *place) for place in places} - {("", None)}
    letters = {s for s, _ in said} - {""}
    said |= {own for g in prose.gaps if _is_rate(prose, g.start)
             and (own := _said(prose, g.start, g.start + 1))[0] in letters}
    numbers = {n for _, n in said} - {None}
    if len(letters) > 1 or len(numbers) > 1:
        raise UnsupportedError(Problem("several step sizes are told: one is read, for all letters",
                                       line=prose.plain.line(phrases[0].start), key="derive"))
    return next(iter(letters), ""), next(iter(numbers), None)


def _said(prose: Prose, start: int, stop: int) -> tuple[str, Fraction | None]:
    gap = next((g for g in prose.gaps if g.start == start), None)
    if gap is None:
        return "", Fraction(prose.text[start:stop].replace(" ", "."))
    latex = gap.formula.latex.strip(" .,")
    found = _GIVEN.fullmatch(latex)
    if found is not None:
        return found["letter"], _number(found["number"])
    return "", _number(latex) if re.fullmatch(r"\d+(?:\.\d+)?", latex) else None


def _number(text: str | None) -> Fraction | None:
    if text is None:
        return None
    parts = re.findall(r"\d+(?:\.\d+)?", text)
    return Fraction(parts[0]) / Fraction(parts[1]) if len(parts) > 1 else Fraction(parts[0])


def in_source(prose: Prose, start: int, stop: int) -> tuple[int, int]:
    """Where it begins and ends in the source, formulas with both their signs."""
    origin = (*prose.plain.origin, len(prose.plain.source))
    source, last = prose.plain.source, origin[stop - 1] + 1
    if prose.text[stop - 1] == GAP:
        gap = next(g for g in prose.gaps if g.start == stop - 1)
        last = source.index(gap.formula.latex, origin[stop - 1]) + len(gap.formula.latex)
        last += 2 if source.startswith(r"\)", last) else 1
    return origin[start], last


def _message(phrase: _Phrase, prose: Prose) -> str:
    """«the parameter message», «the gradient of the loss with respect to $w$»: what is scaled by the step."""
    letters = " and ".join(f"${formula.latex.strip()}$" for formula in phrase.letters)
    what = f"the gradient of the loss with respect to {letters}" if letters else "the parameter message"
    begins = prose.text[: phrase.start].strip()[-1:] in ("", ".", "?", "¶")
    return ("Derive " if begins else "derive ") + what if phrase.order else what


def _refuse_others(prose: Prose, found: list[_Phrase]) -> None:
    """Raise :class:`UnsupportedError` for a step in what is asked that no form reads, and for steps of other kinds."""
    for span in named(prose.text, "numbers.other_step") if found else ():
        said = prose.plain.quote(span.start, span.stop)
        raise UnsupportedError(Problem(f"“{said}”: {_UNFIT}, and no other step", line=prose.plain.line(span.start),
                                       key="derive"))
    for tokens in sentences(prose):
        asked = [*items(tokens)] if asks(tokens) else [tokens] if _is_order(tokens[0].text) else []
        places = {n for item in asked for t in item for n in range(t.start, t.stop)}
        for span in named(prose.text, "numbers.trained"):
            if span.start in places and not any(p.start <= span.start < p.stop for p in found):
                said = prose.plain.quote(span.start, span.stop)
                raise UnsupportedError(Problem(f"“{said}”: {_UNFIT}", line=prose.plain.line(span.start), key="derive"))


def _is_order(word: str) -> bool:
    return word in ("perform", "take", "do", "make", "carry", "apply", "update", "run")


# --- whose letters it is ---------------------------------------------------------------------------------------------


def with_steps(module: Module, steps: tuple[Step, ...]) -> Module:
    """The layer with the steps that are asked for, whose messages are asked for, too.

    Raises :class:`OpenError` for a letter that it does not have, or where a noun does not say which one is meant.
    """
    if not steps:
        return module
    rate = name_of(steps[0].rate) if steps[0].rate else next(
        (name for name in _USUAL if module.table.written(latex_of(name)) is None), "")
    if not rate or rate in (*module.given, *module.defined):
        raise OpenError(Problem(f"`{steps[0].rate or 'η'}` is a letter of the layer and that of the step size, too: "
                                "write another for the step size", line=steps[0].line, key="derive"), found=module)
    of, updates = _lowered(module), dict[str, Update]()
    for step in steps:
        for wrt in _meant(step, module):
            updates.setdefault(wrt, Update(wrt, of, rate, step.number))
    table = module.table.extended([Symbol(rate, latex_of(rate), Kind.TENSOR)])
    for update in updates.values():
        table = table.extended([_symbol(update, table, steps[0])])
    said = tuple(f"a step of gradient descent (line {s.line}: “{s.words}”)" for s in steps)
    module = replace(module, table=table, updates=tuple(updates.values()), readings=(*module.readings, *said))
    for update in module.updates:
        module = _asking(module, update)
    return module


def _lowered(module: Module) -> str:
    """The output that is one number and whose derivatives are asked for, else the loss that the card does not have."""
    scalar = not module.definition(module.output)[0].indices
    named_ = any(isinstance(w.of, Entry) and w.of.tensor == "loss" for w in module.wanted)
    return module.output if scalar and not named_ else "loss"


def _meant(step: Step, module: Module) -> tuple[str, ...]:
    """The letters of the layer that are updated."""
    own = tuple(next((n for n in module.given if name in (n, _written(module, n))), "") for name in step.letters)
    for name, found in zip(step.letters, own, strict=True):
        if not found:
            raise OpenError(Problem(f"“{step.words}”: `{name}` is no letter that the layer is given",
                                    line=step.line, key="derive"), found=module)
    several = step.noun not in _ALL and len(module.parameters) > 1 and " and " not in step.noun
    if (own and " and " in step.noun and len(own) == 1) or (not own and (several or not module.parameters)):
        raise OpenError(Problem(f"“{step.words}” does not say which letters: write them, as in “the new $W$ and $b$”",
                                line=step.line, key="derive"), found=module)
    return own or module.parameters


def _written(module: Module, name: str) -> str:
    symbol = module.table.named(name)
    return name if symbol is None else name_of(symbol.latex)


def _symbol(update: Update, table: SymbolTable, step: Step) -> Symbol:
    r"""W^{\text{new}}, where the notation has such a letter, else W_{\text{new}}, \tilde{W}_1."""
    of = table.named(update.wrt)
    assert of is not None
    entry = tuple(Idx(axis) for axis in of.axes)
    base, mark, script = of.latex.partition("_")
    for latex in (rf"{of.latex}^{{\text{{new}}}}", rf"{of.latex}_{{\text{{new}}}}", rf"\tilde{{{base}}}{mark}{script}"):
        symbol = Symbol(update.new, latex, Kind.TENSOR, of.axes, (), of.sizes)
        if table.written(latex) is not None:
            continue
        try:
            own = table.extended([symbol])
            same = eq(Entry(update.new, entry), Entry(update.wrt, entry))
            if read(write(same, own), own) is same:
                return symbol
        except DeriveError:
            continue
    raise UnsupportedError(Problem(f"the new value of `{of.latex}` has no letter: write {of.latex} without scripts",
                                   line=step.line, key="derive"))


def _asking(module: Module, update: Update) -> Module:
    """The module that is asked for ∂ℓ/∂θ, too."""
    symbol = module.table.named(update.wrt)
    if module.wanted:
        if any(isinstance(w.of, Entry) and isinstance(w.wrt, Entry) and (w.of.tensor, w.wrt.tensor) == (
                update.of, update.wrt) for w in module.wanted):
            return module
        axes_ = symbol.axes if symbol is not None else ()
        letters = axes_ if len({*axes_}) == len(axes_) else unused(module.table, "ijklmn", len(axes_))
        added = Partial(Entry(update.of, ()), Entry(update.wrt, tuple(map(Idx, letters))))
        parts = (*module.parts, *module.parts[-1:])
        return replace(module, wanted=(*module.wanted, added), parts=parts)
    trained, scalar = update.wrt in module.parameters, update.of != "loss"
    kinds = {"parameters"} if trained else {"vjp", "jacobian"} if scalar else {"vjp"}
    if kinds & {*module.asked}:
        return module
    return replace(module, asked=(*module.asked, min(kinds)), parts=(*module.parts, *module.parts[-1:]))
