"""The pictures of the gallery: ``python docs/pictures.py [FOLDER]``; needs a TeX and poppler's pdftoppm.

Each shows the beginning of a sheet, or of a handout, set on a page of its own size so that it can be read where it is
small.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

import derive
from derive.handout import Head, Item
from derive.handout.document import document
from derive.render.pdf import compile_latex, engine

ROOT = Path(__file__).parents[1]
CARDS = ROOT / "cards"
PLACE = ROOT / "output" / "gallery" / "pictures"
SAMPLE = CARDS / "max_pooling_backward.md"
# what the first page shows: the picture's name, the card, and where in its sheet the picture begins
WIDE = ("convolution", "lstm", "attention", "mixture_of_experts", "handout", "marking")  # whose lines need more paper
THUMBNAILS: dict[str, tuple[Path, str]] = {
    "max_pooling": (SAMPLE, r"\section{Solution}"),
    "overlapping_maximum": (CARDS / "pooling/overlapping_max_pooling.md", r"\section{Solution}"),
    "softmax_cross_entropy": (CARDS / "losses/softmax_cross_entropy.md", r"\section{Solution}"),
    "batch_normalisation": (CARDS / "normalisations/batch_normalisation.md", r"\section{Solution}"),
    "attention": (CARDS / "sequences/attention_query.md", r"\section{Solution}"),
    "convolution": (CARDS / "convolutions/strided_convolution.md", r"\section{In code}"),
    "lstm": (CARDS / "sequences/lstm_by_name.md", r"\section{Solution}"),
    "mixture_of_experts": (CARDS / "sequences/mixture_of_linear_experts.md", r"\section{Solution}"),
}
HANDOUTS = {"handout": "space", "marking": "marking"}
_ASKED = [SAMPLE, CARDS / "losses/softmax_cross_entropy.md", CARDS / "activations/swish_neuron.md"]
_GEOMETRY = re.compile(r"\\geometry\{[^}]*\}")
_HERO = r"""\documentclass{article}
\usepackage[paperwidth=240mm,paperheight=%(height)dmm,margin=2mm,nohead,nofoot]{geometry}
\usepackage[T1]{fontenc}\usepackage{lmodern,graphicx,xcolor,fancyvrb}
\pagestyle{empty}\setlength{\parindent}{0pt}\setlength{\fboxsep}{3mm}
\begin{document}
\vfill
\begin{minipage}{93mm}
\begin{Verbatim}[fontsize=\fontsize{9.2}{11.6}\selectfont,frame=single,framesep=3mm,rulecolor=\color{gray}]
%(card)s
\end{Verbatim}
\end{minipage}\hfill
{\Huge$\rightarrow$}\hfill
\begin{minipage}{126mm}\includegraphics[width=126mm]{%(sheet)s}\end{minipage}
\vfill
\end{document}
"""


def main(folder: Path) -> None:
    """Write all pictures into a folder, and the handouts beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    hero(folder / "card_to_answer.png")
    for name, (card, start) in THUMBNAILS.items():
        thumbnail(card, start, folder / f"{name}.png", name in WIDE)
    for name, mode in HANDOUTS.items():
        text = handout(mode)
        (folder.parent / f"{name}.tex").write_text(text, "utf-8")
        (folder / f"{name}.png").write_bytes(png(set_on(text, *_size(True)), 90))


def pages(folder: Path) -> None:
    """The sheets of the pictures as pages, and the handouts where a TeX is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    for card, _ in THUMBNAILS.values():
        (folder / f"{card.stem}.html").write_text(str(derive.render(derive.solve(card), "html")), "utf-8")
    for name, mode in HANDOUTS.items():
        if engine() is not None:
            (folder / f"{name}.pdf").write_bytes(compile_latex(handout(mode)).pdf)


def hero(target: Path) -> None:
    """The card on the left, and what becomes of it on the right."""
    solution = derive.solve(SAMPLE)
    height = 122
    answer = set_on(beginning(str(derive.render(solution, "tex", "answer")), r"\begin{answer}"), 126, height - 8)
    lines = (line for line in SAMPLE.read_text("utf-8").partition("---\n# Solution")[0].splitlines())
    card = "\n".join("\n".join(textwrap.wrap(line, 49, break_long_words=False) or [""]) for line in lines).strip()
    with TemporaryDirectory() as place:
        sheet = Path(place) / "sheet.pdf"
        sheet.write_bytes(answer)
        text = Path(place) / "hero.tex"
        text.write_text(_HERO % {"height": height, "card": card, "sheet": sheet.name}, "utf-8")
        command = ["pdflatex", "-interaction=batchmode", text.name]
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
        target.write_bytes(png(text.with_suffix(".pdf").read_bytes(), 176))


def _size(wide: bool) -> tuple[int, int]:
    return (160, 120) if wide else (112, 84)


def thumbnail(card: Path, start: str, target: Path, wide: bool = False) -> None:
    """The beginning of a sheet, from some line of it on."""
    text = str(derive.render(derive.solve(card), "tex"))
    target.write_bytes(png(set_on(beginning(text, start), *_size(wide)), 90 if wide else 128))


def handout(mode: str) -> str:
    """An exam of three cards, with space to write, or the guide to marking it."""
    cards = [derive.Card.read(path) for path in _ASKED]
    items = [Item(card, derive.solve(card)) if mode != "space" else Item(card) for card in cards]
    return document(items, Head("Neural networks", "", ""), mode, by_course=False, detail="answer")


def beginning(text: str, start: str) -> str:
    """A sheet without what stands between its title and ``start``."""
    begin, end = "\\begin{document}", "\\par}"
    titled = text.index(end, text.index("\\Large\\bfseries")) + len(end)
    head = titled if start.startswith("\\section") else text.index(begin) + len(begin)
    return text[:head] + "\n" + text[text.index(start) :]


def set_on(text: str, width: int, height: int) -> bytes:
    """The first page of a document on paper of this size, in mm."""
    paper = rf"\\geometry{{paperwidth={width}mm,paperheight={height}mm,hmargin=4mm,top=3mm,bottom=3mm}}"
    found, count = _GEOMETRY.subn(paper, text, count=1)
    assert count, "the sheet states no geometry"
    head, begin, body = found.partition("\\begin{document}")
    body = body.replace("\\samepart", "")  # a listing may end in its middle here
    return compile_latex(head + "\\pagestyle{empty}" + begin + body).pdf


def png(pdf: bytes, resolution: int = 140) -> bytes:
    """The first page as a picture."""
    command = ["pdftoppm", "-png", "-r", str(resolution), "-f", "1", "-l", "1", "-"]
    return subprocess.run(command, input=pdf, check=True, capture_output=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else PLACE)
