"""Notes for Obsidian and Quarto: what stands in them, and that nothing of a question acts."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from typing import Any

import pytest

from derive.card import Card
from derive.decks import html
from derive.errors import CardError, VerificationError
from derive.render import SUFFIXES, files, notes, render
from derive.render.guard import guard, in_callout, in_divisions
from derive.render.notes import Writer
from derive.render.obsidian import _Notes
from tests.bank import CARDS, REFUSED, solved
from tests.render.example import CARD, SHEET, Solution

SHOWN = {"obsidian": in_callout, "spaced-repetition": in_callout, "qmd": in_divisions}
HOSTILE = r"""<script>alert(1)</script> <b onclick="x">b</b> &lt;i&gt; {{< include /etc/passwd >}} `{{< include a >}}`
{=html} `<b>`{=html} `{python} 1` `= this.file` %%hidden%% ==marked== #tag @cite ^block [x](javascript:alert)
![p](/etc/passwd) ![[../../secret.png]] ![[https://a.b/c.png]] ![[pool.png]]

::: {.callout-tip}
:::

---

```{python}
import os
```

~~~dataviewjs
dv.x ``` {{< include b >}}
~~~

| a \| b | $|x|$ and `c|d` |
|---|---|
| 1 | [[cnn]] and [[page|label]] |

1986\. A year
?
Q::A
$a$ 5 \(b\)5 \(c\)\(d\) $x {{< y}}$

> a) quoted
> # no heading
"""


def text(format: str, solution: Solution | None = None, detail: str = "full") -> str:
    return str(render(solution or Solution(), format, detail))


@pytest.mark.parametrize("format", SHOWN)
@pytest.mark.parametrize("detail", ["full", "short"])
def test_the_formulas_are_those_that_were_checked(format: str, detail: str) -> None:
    made = text(format, detail=detail)
    assert made == text(format, detail=detail)
    guard(made, SHEET, detail, SHOWN[format])
    with pytest.raises(VerificationError, match="vjp: the finished file shows"):
        guard(made.replace(r"\delta_{f,kl} \,", r"\delta_{f,lk} \,"), SHEET, detail, SHOWN[format])
    with pytest.raises(VerificationError, match=r"displays \d formulas"):
        guard(made, SHEET, "short" if detail == "full" else "full", SHOWN[format])


@pytest.mark.parametrize(("format", "module"), [*((f, notes) for f in (*SHOWN, "ipynb")), ("anki", html), ("moodle", html)])
def test_a_changed_formula_inside_a_sentence_is_caught(format: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    solution, right = solved("max_pooling_numbers"), module.formula
    if format == "anki":
        pytest.importorskip("genanki")
    render(solution, format)
    monkeypatch.setattr(module, "formula", lambda latex, display: right(latex, display).replace("(i, j)", "(j, i)"))
    with pytest.raises(VerificationError, match=r"the finished file's sentences have no `.*\(i, j\).*`, which was checked"):
        render(solution, format)


@pytest.mark.parametrize("format", SHOWN)
def test_without_a_card_there_is_no_question(format: str) -> None:
    class Named:
        key = "max_pool"

    made = text(format, Solution(card=None, module=Named()))
    assert "Question" not in made and SHEET.title in made
    assert set(files(Solution(card=None, module=Named()), format)) == {"max_pool-window.svg"}


def hostile() -> Solution:
    return Solution(card=Card.parse(CARD.replace("see `max_pool(x)` [cite: 86].", "see\n\n" + HOSTILE)))


@pytest.mark.parametrize("format", SHOWN)
def test_what_a_question_writes_stays_text(format: str) -> None:
    body = text(format, hostile()).partition("engine: markdown\n---" if format == "qmd" else "\n---\n")[2]
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", body)  # what is escaped stands for itself
    for active in ("<script", "<b ", "{{<", "%%", "==", "@cite", "{python}", "{=html}", "dataviewjs"):
        assert active not in bare, active
    assert re.findall(r"\[[^\]\n]*\]\(([^)]*)\)", bare) == ["batch_004-window.svg"]
    assert [line for line in body.split("\n") if line.startswith(":::")] == [
        line for line in text(format).split("\n") if line.startswith(":::")]
    assert "`= this" not in body and "`{python}" not in body and not re.search(r"^(> )?-{3,}$", body, re.M)


def test_links_of_a_vault_are_kept_for_it_alone() -> None:
    made = text("obsidian", hostile())
    assert r"[[cnn]] and [[page|label]]" in made.replace(r"\|", "|") and "\n## Related Concepts\n\n- [[cnn]]\n" in made
    assert "![[pool.png]]" in made and made.count("![[") == 2  # once more in the card
    assert "[[" not in text("qmd", hostile())


def test_a_note_has_two_callouts_and_the_card_s_own_header() -> None:
    made = text("obsidian")
    assert made.startswith(CARD.partition("\n# Question")[0])
    assert re.findall(r"^> \[!.*", made, re.M) == ["> [!question]- Question (5 points)", f"> [!success]- {SHEET.title}"]
    assert not re.search(r"\n\n\n", made)


def test_a_card_to_be_repeated_has_no_blank_line_inside() -> None:
    made = text("spaced-repetition", hostile())
    (card,) = re.findall(r"^> \[!question\].*?(?=\n\n|\Z)", made, re.S | re.M)
    assert card.count("\n?\n") == 1 and "> [!success]" in card.partition("\n?\n")[2]
    assert "::" not in card and re.findall(r"^#flashcards.*", made, re.M) == ["#flashcards/Statistical_Machine_Learning"]
    guard(made, SHEET, "full", in_callout)


def test_a_quarto_document_opens_its_parts_one_by_one() -> None:
    made = text("qmd")
    assert made.startswith(f'---\ntitle: "{SHEET.title}"\nsubtitle: "Statistical Machine Learning"\n')
    assert re.findall(r"collapse=\"true\"\}\n## (.*)", made) == ["Answer", "The window", "Checked"]
    assert made.count("\n:::\n") == 3 and "engine: markdown\n" in made


@pytest.mark.parametrize(("markdown", "wanted"), [
    ("a_b * c # d | e", r"a\_b \* c \# d \| e"),
    ("- a\n  - b\n- c", "- a\n  - b\n- c"),
    ("3. a\n\n   b\n4. c", "3. a\n\n   b\n\n4. c"),
    ("> a\n\nb", "> a\n\nb"),
    ("iv) a\n(1) b\nA. c", "iv\\) a  \n(1\\) b  \nA\\. c"),
    ("$$\nx\n= y\n$$", "$$\nx = y\n$$"),
    (r"\(a\)\(b\) and \(c\)5", "$a$ $b$ and $c$&#53;"),
    ("a&amp;lt;b", r"a\&lt;b"),
    (r"\(\text{a $x$ b \textbullet}\)", r"$\text{a }{x}\text{ b •}$"),
    ("$a$ *b* **c** ~~d~~", "$a$ *b* **c** ~~d~~"),
    ("<https://a.b> [c](d)", r"`https://a.b` c (`d`)"),
])  # fmt: skip
def test_markdown_rewritten(markdown: str, wanted: str) -> None:
    assert Writer().document(markdown) == wanted


def test_code_keeps_its_marks() -> None:
    assert Writer().document("````\na ``` b\n````") == "````\na ``` b\n````"
    assert Writer().document("`` a`b ``") == "``a`b``" and _Notes().document("[[a|b]] [[c]]") == "[[a|b]] [[c]]"


def test_a_refused_macro_names_file_and_line() -> None:
    card = Card.parse(CARD.replace("2. What does", "2. What $\\input{a}$ does"), "cards/q.md")
    number = next(n for n, line in enumerate(card.text.split("\n"), 1) if "\\input" in line)
    with pytest.raises(CardError, match=rf"^cards/q.md:{number}: `\\input` is not a macro"):
        render(Solution(card=card), "qmd")


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="no Pandoc")
def test_pandoc_reads_each_formula() -> None:
    solution = solved("max_pooling_numbers")
    done = subprocess.run(["pandoc", "-f", "markdown", "-t", "html", "--mathml"], input=str(render(solution, "qmd", "full")),
                          capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout.count('display="block"') >= len(solution.sheet.formulas())


def test_each_format_has_its_ending() -> None:
    assert (SUFFIXES["obsidian"], SUFFIXES["qmd"], SUFFIXES["md"]) == ("obsidian.md", "qmd", "md")


def test_a_title_with_letters_beyond_the_first_plane_is_yaml() -> None:
    import yaml

    made = text("qmd", Solution(sheet=dataclasses.replace(SHEET, title=r'Messages of $\mathbb{I}$: "a"')))
    assert yaml.safe_load(made.split("---\n")[1])["title"] == 'Messages of 𝕀: "a"'


@pytest.mark.some(60)
@pytest.mark.parametrize("name", [path.stem for path in CARDS if path not in REFUSED])
def test_every_card_has_its_notes(name: str) -> None:
    for format, shown in SHOWN.items():
        guard(str(render(solved(name), format)), solved(name).sheet, "standard", shown)
