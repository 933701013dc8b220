"""The registry, and what each format makes of a whole sheet."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from derive.card import Card
from derive.errors import CardError, RenderError, VerificationError
from derive.expr import ONE, Entry, eq
from derive.lines import WIDTH, across
from derive.render import FORMATS, SUFFIXES, available, files, pdf, render
from derive.render.guard import displayed, guard
from derive.render.latex import PACKAGES, _rows
from derive.render.pdf import Compiled, compile_latex, engine
from derive.sheet import Bullets, Math, Sheet
from tests.render.example import BAD, CARD, SHEET, Solution, math

needs_tex = pytest.mark.skipif(engine() is None, reason="no TeX with the packages of a sheet")


def text(format: str, solution: Solution | None = None, detail: str = "full") -> str:
    return str(render(solution or Solution(), format, detail))


def test_formats_are_known_by_name() -> None:
    assert FORMATS[:4] == ("md", "tex", "pdf", "html") and {*SUFFIXES} == {*FORMATS}
    assert available()[:2] == ("md", "tex")
    with pytest.raises(CardError, match="unknown format `xyz`; there are `md`, `tex`, `pdf`, `html`, "):
        render(Solution(), "xyz")
    with pytest.raises(CardError, match="unknown format `texx`; did you mean `tex`"):
        render(Solution(), "texx")
    with pytest.raises(CardError, match="unknown detail `ful`; did you mean `full`"):
        render(Solution(), "md", "ful")


@pytest.mark.parametrize("format", FORMATS)
def test_a_refuted_equation_is_not_rendered(format: str) -> None:
    with pytest.raises(VerificationError) as caught:
        render(Solution(report=BAD), format)
    assert str(caught.value) == r"vjp: refuted: `\delta_x = 0` x = (1, 2): 1 and 0"


@pytest.mark.parametrize("format", ["md", "tex", "html"])
@pytest.mark.parametrize("detail", ["full", "short"])
def test_same_solution_same_text_and_all_formulas(format: str, detail: str) -> None:
    first = text(format, detail=detail)
    assert first == text(format, detail=detail)
    wanted = [" ".join(b.latex.split()) for b in SHEET.blocks(detail) if isinstance(b, Math)]
    assert displayed(first) == wanted


@pytest.mark.parametrize("format", ["md", "tex", "html"])
def test_without_a_card_the_sheet_stands_under_its_title(format: str) -> None:
    @dataclasses.dataclass(frozen=True)
    class Named:
        key: str = "max_pool"

    made = text(format, Solution(card=None, module=Named()))
    assert SHEET.title in made
    assert displayed(made) == displayed(text(format))


class TestMarkdown:
    def test_only_the_solution_changes(self) -> None:
        made = text("md")
        question = CARD.partition("---\n# Solution")[0]
        assert made.startswith(question)
        assert made.endswith("\n## Related Concepts\n- [[cnn]]\n")
        assert "by hand" not in made

    def test_displays_stand_apart_on_lines_of_their_own(self) -> None:
        lines = text("md").partition("# Solution")[2].split("\n")
        inside = False
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
            if line == "$$":
                assert (after if inside else before) == ""
                inside = not inside
            else:
                assert "$$" not in line

    def test_no_line_of_a_formula_is_taken_for_markdown(self) -> None:
        sheet = Sheet("t", (math("a\n= b\n- c\n\n+ d\n1. e"),), ())
        body = text("md", Solution(sheet=sheet)).partition("$$\n")[2].split("$$")[-2]
        assert body == "\na = b - c + d 1. e\n"

    def test_a_formula_quoted_from_the_card_is_in_macros_that_github_takes(self) -> None:
        made = text("md", Solution(sheet=Sheet("t", (), (), (Bullets((r"layer ($p = \operatorname*{softmax}(A h)$)",)),))))
        assert r"- layer ($p = \mathrm{softmax}(A h)$)" in made

    def test_a_bar_does_not_end_a_cell(self) -> None:
        assert r"| library | tie rule | gradient of $\vert x\vert $ |" in text("md")

    def test_a_figure_is_a_file_beside_the_card_with_a_text_alternative(self) -> None:
        made = text("md")
        assert "![A window of two cells, x00 and −1.](batch_004-window.svg)" in made
        assert "\n\nThe window of $f_{00}$ & its entries.\n" in made
        beside = files(Solution(), "md")
        assert list(beside) == ["batch_004-window.svg"]
        assert str(beside["batch_004-window.svg"]).startswith("<svg")
        assert files(Solution(), "md", "short") == files(Solution(), "tex") == files(Solution(), "html") == {}

    def test_line_ends_of_the_card_are_kept(self) -> None:
        card = Card.parse(CARD.replace("\n", "\r\n"))
        made = text("md", Solution(card=card))
        assert made.count("\n") == made.count("\r\n")
        assert displayed(made) == displayed(text("md"))


class TestLatex:
    def test_metadata_packages_and_question(self) -> None:
        made = text("tex")
        for package in PACKAGES:
            assert rf"\usepackage{{{package}}}" in made
        assert "pdftitle={Max pooling: the backward message}" in made
        assert "5 points" in made
        assert "(5p)" not in made
        assert "Vrstva s největší hodnotou, 50 \\% of the cells" in made
        assert r"\figurenote{pool.png}" in made
        assert "[cite: 86]" in made

    def test_forms_of_the_same_stand_on_one_line_where_it_holds_them(self) -> None:
        """The last of δ_x leaves room for the first of δ_w alone: both of δ_w stand on the next line."""
        def form(letter: str, latex: str) -> Math:
            return Math(latex, eq(Entry(f"delta_{letter}", ()), ONE), "message", "layer")

        first, second = form("w", r"\delta_{w,k} = \delta_y x_k"), form("w", r"\delta_w = \delta_y x")
        wide, room = r"\delta_x = a", WIDTH - across(first.latex)
        while across(wide + " + a") <= room:
            wide += " + a"
        for blocks, lines in (((form("x", wide), first), [2]), ((form("x", wide), first, second), [1, 2]),
                              ((form("x", r"\delta_x = a"), first, second), [3])):
            assert [len(row["formulas"]) for row in _rows(blocks)] == lines

    def test_a_formula_in_the_title_is_a_formula_in_the_foot_and_words_in_the_metadata(self) -> None:
        made = text("tex", Solution(sheet=Sheet(r"Messages of $\hat{y}_k$ and $\delta_x$", (), ())))
        assert "pdftitle={Messages of ŷk and deltax}" in made
        assert r"\footnotesize Messages of $\hat{y}_k$ and $\delta_x$" in made

    def test_a_refused_macro_names_file_and_line(self) -> None:
        card = Card.parse(CARD.replace("2. What does", "2. What $\\input{a}$ does"), "cards/q.md")
        with pytest.raises(CardError) as caught:
            render(Solution(card=card), "tex")
        number = next(n for n, line in enumerate(card.text.split("\n"), 1) if "\\input" in line)
        assert str(caught.value).startswith(f"cards/q.md:{number}: `\\input` is not a macro")

    def test_a_letter_without_a_font_names_file_and_line(self) -> None:
        card = Card.parse(CARD.replace("PyTorch", "Ж"), "cards/q.md")
        with pytest.raises(RenderError, match=r"^cards/q.md:\d+: the LaTeX sheet cannot set"):
            render(Solution(card=card), "tex")

    def test_front_matter_cannot_reach_tex(self) -> None:
        card = Card.parse(CARD.replace("Statistical Machine Learning", r'"\\input{/etc/passwd} 100%"'))
        assert r"\input" not in text("tex", Solution(card=card))


class TestGuard:
    @pytest.mark.parametrize("format", ["md", "tex"])
    def test_a_changed_formula_is_caught(self, format: str) -> None:
        made = text(format).replace(r"\delta_{f,kl} \,", r"\delta_{f,lk} \,")
        with pytest.raises(VerificationError, match="vjp: the finished file shows"):
            guard(made, SHEET)

    @pytest.mark.parametrize("format", ["md", "tex", "html"])
    def test_a_lost_formula_is_caught(self, format: str) -> None:
        with pytest.raises(VerificationError, match="displays 2 formulas, and 6 were checked"):
            guard(text(format, detail="short"), SHEET)

    def test_displays_of_the_question_do_not_count(self) -> None:
        assert len(displayed(text("md"))) == len(displayed(text("tex"))) == len(displayed(text("html"))) == 6


@cache
def compiled(program: str | None) -> Compiled:
    return compile_latex(text("tex"), program)


@needs_tex
class TestPdf:
    @pytest.mark.parametrize("program", ["pdflatex", "lualatex"])
    def test_compiles_without_overfull_boxes_or_missing_characters(self, program: str) -> None:
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
        if program == "lualatex" and not subprocess.run(["kpsewhich", "luaotfload.sty"], capture_output=True).stdout:
            pytest.skip("LuaLaTeX without its fonts: texlive-luatex")
        made = compiled(program)
        assert made.pdf.startswith(b"%PDF")
        assert made.overfull == []
        assert "Missing character" not in made.log
        assert "undefined" not in made.log

    def test_same_bytes_twice(self) -> None:
        assert render(Solution(), "pdf", "full") == compiled(engine()).pdf

    def test_every_kept_character_can_be_set(self) -> None:
        from derive.render import tex

        letters = [chr(c) for c in range(0xA1, 0x17F) if tex.in_t1(chr(c))]
        content = " ".join(map(tex.text, [*letters, *tex.MATHS, *"–—‘’‚“”„«»‹›¡¿§¶†‡©®™£¥ßȘșȚț€°…•·′\"'`~^\\"]))
        head, _, _ = text("tex").partition(r"\begin{document}")
        made = compile_latex(f"{head}\\begin{{document}}\n{content}\n\\end{{document}}\n")
        assert "Missing character" not in made.log

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            (r"\undefinedmacro", "Undefined control sequence"),
            (r"\input{/etc/passwd}", "etc/passwd"),
            (r"\input{|ls}", "ls"),
            (r"\directlua{os.execute('ls')}", r"`\\directlua` is refused"),
            (r"\immediate\pdfobj stream file {/etc/passwd}", r"`\\pdfobj` is refused"),
            (r"\pdf^^6fbj stream file {/etc/passwd}", r"`\^\^` is refused"),
            (r"\immediate\csname pdfobj\endcsname stream file {/etc/passwd}", "is refused"),
            (r"\immediate\csname pdf\empty obj\endcsname stream file {/etc/passwd}", r"`\\csname` is refused"),
            (r"\csname tex_pdfobj:D\endcsname stream file {/etc/passwd}", "is refused"),
            (r"\begin{pdfobj} stream file {/etc/passwd}", r"`pdfobj` is refused"),
            (r"\begin{pdf\empty obj} stream file {/etc/passwd}", r"`\\begin` is refused"),
            (r"\UseName{pdf\empty obj} stream file {/etc/passwd}", r"`\\UseName` is refused"),
            (r"\catcode`\!=0 !pdf", r"`\\catcode` is refused"),
            (r"\ExplSyntaxOn\pdf_object_unnamed_write:nn{fstream}{{}{/etc/passwd}}", r"`\\ExplSyntaxOn` is refused"),
            (r"\addtocontents{toc}{\string\pdf\empty obj}", r"`\\string` is refused"),
            (r"\pdffiledump offset 0 length 9{/etc/passwd}", r"`\\pdffiledump` is refused"),
            (r"\newread\f\openin\f=/etc/passwd \ifeof\f\errmessage{nothing to read}\fi", "nothing to read"),
        ],
    )
    def test_tex_reads_its_own_folder_only_and_names_its_first_error(self, body: str, message: str) -> None:
        with pytest.raises(RenderError, match=message):
            compile_latex(f"\\documentclass{{article}}\\begin{{document}}a {body}\\end{{document}}")

    def test_shell_commands_do_nothing(self, tmp_path: Path) -> None:
        target = tmp_path / "made"
        compile_latex(f"\\documentclass{{article}}\\begin{{document}}\\immediate\\write18{{touch {target}}}a\\end{{document}}")
        assert not target.exists()

    def test_endless_tex_is_stopped(self) -> None:
        with pytest.raises(RenderError, match="did not finish within 0.5 s"):
            compile_latex(r"\documentclass{article}\begin{document}\def\x{\x}\x\end{document}", seconds=0.5)

    def test_pages_become_pictures(self, tmp_path: Path) -> None:
        if shutil.which("pdftoppm") is None:
            pytest.skip("no pdftoppm")
        (tmp_path / "a.pdf").write_bytes(compiled(engine()).pdf)
        subprocess.run(["pdftoppm", "-r", "20", "-png", "a.pdf", "a"], cwd=tmp_path, check=True)
        assert list(tmp_path.glob("*.png"))


def test_without_a_tex_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "engine", lambda: None)
    assert available() == ("md", "tex", "html")
    with pytest.raises(RenderError, match="apt-get install"):
        render(Solution(), "pdf")
