"""Every language of the sheets says what English says: the same macros of the same facts, every card's sheet, no English."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import derive
from derive.calculus.one_window import scope_tables
from derive.cli import main
from derive.errors import CardError
from derive.handout import MODES, Head, Item, document
from derive.notation import read, write
from derive.numeric.arithmetic import precision
from derive.render import FORMATS, render
from derive.render.pdf import compile_latex, engine
from derive.sheet import Bullets, Claim, Prose
from derive.verify.pictures import pictures
from derive.verify.report import Verdict
from derive.verify.sheet import parsed_of, scopes_of
from derive.verify.words import words
from derive.words import languages, templates, told, unread, wording
from tests.bank import CARDS, REFUSED, SAMPLE, SAMPLES, named
from tests.verify.test_words import FACTS

OTHERS = [language for language in languages() if language != "en"]
SOLVED = [path for path in (*CARDS, *SAMPLES) if path not in REFUSED and path.parent.name != "declined"]
# what words cards, and phrases that a language tells, are no sheet's
FILES = sorted(path.name for path in (templates() / "en").glob("*.j2")
               if path.name not in ("mistakes.j2", "question.j2") and ".md." not in path.name)
_MACRO = re.compile(r"\{%-? macro (\w+)(\([^)]*\))")
_INNER = {"count", "plural", "counted", "ends"}  # macros that others of their file make their words of
# what is not a sheet's: formulas, code, quotations of the card
_NOT_WORDS = re.compile(r"“[^”]*”|„[^“]*“|\$\$.*?\$\$|\$[^$]*\$|```.*?```|`[^`]*`", re.DOTALL)
_ENGLISH = re.compile(r"\b(the|of|is|are|and|with|for|where|from|not|each|which|that|its|at|an|by the|to the|"
                      r"input|output|window|line|layer|otherwise|if|points?|equations?)\b")
NUMBER, LETTER = re.compile(r"(?<![\d_{,.])\d+(?![\d}])"), re.compile(r"(?<=\$)[a-z](?=[_^$])")  # of no index
POOLING, RELU, CURVE = str(SAMPLE), r"y_k = \max(0, s_k)", r"y = \max(0, x)"


@cache
def solved(layer: str, language: str) -> derive.Solution:
    """A card, by its path, or a formula."""
    if layer.endswith(".md"):
        return derive.solve(layer, language=language)
    return derive.solve(formula=layer, language=language)


def english(text: str) -> list[str]:
    """The lines with English words outside formulas and quotations."""
    return [line for line in _NOT_WORDS.sub("", text).splitlines() if _ENGLISH.search(line)]


def checked(solution: derive.Solution, **changes: object) -> set[Verdict]:
    sheet, messages = replace(solution.sheet, **changes), solution.messages  # type: ignore[arg-type]
    with precision():
        parsed, _ = parsed_of(sheet, scope_tables(messages.module))
        return {c.verdict for c in words(sheet, messages.module, scopes_of(parsed, messages))}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("file", FILES)
def test_a_language_has_each_macro_with_its_facts(file: str, language: str) -> None:
    own, ours = (dict(_MACRO.findall((templates() / folder / file).read_text("utf-8"))) for folder in (language, "en"))
    assert {name: facts for name, facts in ours.items() if name not in _INNER} == {
        name: facts for name, facts in own.items() if name in ours and name not in _INNER}


@pytest.mark.parametrize("language", languages())
def test_the_words_of_a_language_have_been_read(language: str) -> None:
    assert unread(language) == ()


@pytest.mark.some(4)  # of those that are solved in English, too: what is derived is kept
@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_the_sheet_of_every_card_holds_in_every_language(path: Path, language: str) -> None:
    solution = derive.solve(path, language=language)
    assert [f"{c.name}: {c.counterexample or c.evidence}" for c in solution.report.failures] == []
    text = str(render(solution, "md", "full"))
    sheet = text.partition("<!-- derive: generated")[2].partition("Related Concepts")[0]
    assert sheet and english(sheet) == []


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("format", [f for f in FORMATS if f not in ("pdf", "anki", "md")])
@pytest.mark.parametrize("card", ["ssu_batch4_004", "neuron_cz", "max_pooling_numbers", "lstm_by_name"])
def test_a_format_has_no_english(card: str, format: str, language: str) -> None:
    path = SAMPLE if card == "ssu_batch4_004" else named(card)
    said, text = solved(str(path), language).sheet, str(render(solved(str(path), language), format, "full"))
    assert said.title.partition("$")[0] in text
    assert not re.search(r">(Question|Solution|Answer|Derivation|proved|tested)<|\\section\{(Question|Solution)", text)
    assert format != "html" or f'<html lang="{language}">' in text


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("mode", MODES)
def test_a_handout_is_in_the_language_of_its_cards(mode: str, language: str) -> None:
    cards = [derive.Card.read(named(name)) for name in ("max_pooling_numbers", "neuron_cz")]
    items = [Item(card, derive.solve(card, language=language), language) for card in cards]
    title = str(wording(language, "handout").title(mode))
    assert title in document(items, Head(), mode) and title not in document([items[0], Item(cards[1])], Head(), "space")
    body = document(items, Head(), mode).partition(r"\begin{document}")[2]
    assert re.search(r"the value|Typical|No solution|\bName\b", body) is None


@pytest.mark.skipif(engine() is None, reason="no TeX with the packages of a sheet")
@pytest.mark.parametrize("language", OTHERS)
def test_tex_sets_a_sheet(language: str) -> None:
    assert compile_latex(str(render(solved(POOLING, language), "tex"))).pdf


@pytest.mark.parametrize("language", OTHERS)
def test_the_words_inside_formulas_are_read_again(language: str) -> None:
    solution = solved(RELU, language)
    cases = next(m for m in solution.sheet.formulas() if r"\begin{cases}" in m.latex)
    table = solution.messages.module.table
    assert table.language == language and read(write(cases.expr, table), table) == cases.expr
    assert str(wording(language, "formulas").otherwise()) in cases.latex


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize(("layer", "macro", "name", "value"), FACTS, ids=[f"{f[1]}-{f[2]}" for f in FACTS])
def test_a_fact_that_does_not_hold_is_refuted(layer: str, macro: str, name: str, value: object, language: str) -> None:
    """The checks go by the facts of a sentence, not by its words."""
    sheet = solved(layer, language).sheet
    claims = [c for c in sheet.claims if c.macro == macro] or [Claim(macro, {}, "")]
    wrong = tuple(replace(c, facts={**c.facts, name: value}) for c in claims)
    kept = tuple(c for c in sheet.claims if c.macro != macro)
    assert Verdict.REFUTED in checked(solved(layer, language), claims=(*kept, *wrong))


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("layer", [POOLING, RELU])
def test_no_sentence_can_be_another_one(layer: str, language: str) -> None:
    """Each paragraph with one word left out is refuted, or says as much without it."""
    solution = solved(layer, language)
    assert checked(solution) == set()
    for n, block in enumerate(solution.sheet.answer):
        if isinstance(block, Prose):
            other = re.sub(r"(?<=\s)\w{4,}\b", "", block.text, count=1)
            changed = (*solution.sheet.answer[:n], Prose(other), *solution.sheet.answer[n + 1 :])
            assert other == block.text or checked(solution, answer=changed) == {Verdict.REFUTED}, other


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("layer", [POOLING, CURVE, str(named("lstm_by_name")), str(named("overlapping_max_pooling"))])
def test_a_number_or_letter_of_a_picture_s_words_is_checked(layer: str, language: str) -> None:
    solution = solved(layer, language)
    assert all(c.verdict is Verdict.TESTED for c in pictures(solution.sheet, solution.module))
    for figure in solution.sheet.figures():
        text = figure.scene.description
        for found in (LETTER if figure.scene.name == "graph" else NUMBER).finditer(text):
            other = text[: found.start()] + ("7" if found[0].isdigit() else "q") + text[found.end() :]
            wrong = replace(figure, scene=replace(figure.scene, description=other))
            blocks = tuple(wrong if b == figure else b for b in solution.sheet.details)
            checks = pictures(replace(solution.sheet, details=blocks), solution.module)
            assert other == text or Verdict.REFUTED in {c.verdict for c in checks}, other


@pytest.mark.parametrize("language", OTHERS)
def test_a_phrase_is_told_with_what_stands_in_it(language: str) -> None:
    assert told("en", "input `x` (line 9: “the input”)") == "input `x` (line 9: “the input”)"
    assert told("cs", "input `x` (line 9: “the input”)") == "vstup `x` (řádek 9: “the input”)"
    assert told(language, "“by ring identity”") == "“by ring identity”"
    assert told(language, "what nobody has said") == "what nobody has said"


CARD = "---\nid: card\n%s---\n# Question\nDerive the backward message of $y_k = \\max(0, x_k)$.\n"


@pytest.mark.parametrize(("key", "given", "usual", "language"), [
    ("", None, None, "en"), ("", None, "cs", "cs"), ("language: cs\n", None, None, "cs"),
    ("language: en\n", None, "cs", "en"), ("language: cs\n", "en", "cs", "en"), ("", "cs", None, "cs")])
def test_the_language_is_that_which_is_given_or_the_card_s_or_the_usual_one(
        key: str, given: str | None, usual: str | None, language: str) -> None:
    solution = derive.solve(derive.Card.parse(CARD % key), language=given, usual_language=usual)
    assert solution.sheet.language == language


def test_a_czech_question_alone_has_an_english_sheet() -> None:
    assert derive.solve(named("neuron_cz")).sheet.language == "en"


@pytest.mark.parametrize("key", ["language: xx\n", "languge: cs\n", "language: 3\n"])
def test_a_language_that_there_is_not_is_an_error_at_its_line(key: str) -> None:
    with pytest.raises(CardError, match=r"card\.md:3: unknown (language|key)"):
        derive.solve(derive.Card.parse(CARD % key, "card.md"))


def test_the_commands_take_a_language_and_settings(tmp_path: Path) -> None:
    (tmp_path / "card.md").write_text(CARD % "", "utf-8")
    run = CliRunner()

    def said(*arguments: str) -> str:
        found = run.invoke(main, [*arguments, str(tmp_path / "card.md")])
        assert found.exit_code == 0, found.output
        return found.output

    assert "Odvození" not in said("show") and "Odvození" in said("show", "--language", "cs")
    assert "Jacobiho matice" in said("evaluate", "--random", "1", "--language", "cs")
    (tmp_path / "derive.toml").write_text('language = "cs"\n', "utf-8")
    assert "Odvození" in said("show") and "Odvození" not in said("show", "--language", "en")
    said("solve", "--format", "md", "--no-cache", "-o", str(tmp_path / "out"))
    assert "# Řešení" in (tmp_path / "out" / "card.md").read_text("utf-8")
    said("handout", "-o", str(tmp_path / "exam.tex"))
    assert "Zadání" in (tmp_path / "exam.tex").read_text("utf-8")


def test_the_closing_counts_are_those_of_the_report() -> None:
    solution = solved(POOLING, "cs")
    said = " ".join(i for b in solution.sheet.closing if isinstance(b, Bullets) for i in b.items)
    for word, verdict in (("Dokázáno", Verdict.PROVED), ("Otestováno", Verdict.TESTED)):
        assert f"{word}: {len([c for c in solution.report.checks if c.latex and c.verdict is verdict])} rovnic" in said
