"""The parts of a formula of a solution: between arrows, without frames, the numbers that it ends in by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from derive.notation.formulas import Formula

ARROW = re.compile(r"\\(?:Long|long)?(?:Left)?(?:R|r)ightarrow(?![A-Za-z])|\\(?:implies|iff|therefore|leadsto)"
                    r"(?![A-Za-z])|[⇒⟹⇔∴]")
_TOKEN = re.compile(r"\\\\|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\[{}]|[{}]")
_BRACKETS = re.compile(r"\\\\|\\begin\{(\w+\*?)\}|\\end\{\w+\*?\}|\\(?:left|right)?[{}]|[{}()\[\]=&,;]"
                       r"|\\q?quad(?![a-z])")
_LIST = re.compile(r"\s*(?:\\(?:left|bigl?|Big)\s*)?(?:\\begin\{[pbv]?(?:small)?matrix\}|[(\[])")  # of numbers: (2, 6)
_NAMES = re.compile(r"=\s*:|\\eqqcolon(?![A-Za-z])(?=[^=]*\Z)")  # what it ends in is a name of it: p - t =: \delta
_ALIGNED = re.compile(r"\s*\\begin\{(align\*?|aligned|split|gather\*?|gathered)\}(.*)\\end\{\1\}\s*", re.DOTALL)
_BESIDE = re.compile(r"\\(?:text|mbox|forall|in|le|ge|leq|geq|lt|gt|ne|neq)(?![A-Za-z])|[<>]")  # it may restrict
_STEP = re.compile(r"\s*(?P<w>[^=]+?)\s*\\(?:leftarrow|gets)(?![A-Za-z])\s*(?P=w)\s*-\s*"
                   r"\\(?:eta|alpha|epsilon|varepsilon|lambda|gamma|mu)(?![A-Za-z])(?:\s|\\,|\\cdot(?![a-z]))*"
                   r"(?P<by>.+?)[\s.,;]*", re.DOTALL)
_LETTER = re.compile(r"[A-Za-z]|\\(?!frac|d?t?frac|cdot|begin|end|left|right|top|quad|[,;:! \\])")


def implied(formula: Formula) -> Iterator[Formula]:
    """What stands between arrows that conclude, each by itself; one in front of a row is left out."""
    depth, cuts, latex = 0, [0], formula.latex
    arrows = [*ARROW.finditer(latex)]
    if not arrows:
        yield formula
        return
    marks = sorted([*arrows, *_TOKEN.finditer(latex)], key=lambda m: m.start())
    for mark in marks:
        if mark[0] == "{" or mark[0].startswith("\\begin"):
            depth += 1
        elif mark[0] == "}" or mark[0].startswith("\\end"):
            depth -= 1
        elif mark in arrows and depth == 0:
            cuts += [mark.start(), mark.end()]
        elif mark in arrows and re.search(r"(?:\\\\|\\begin\{\w+\*?\})[\s&]*$", latex[:mark.start()]):
            latex = latex[:mark.start()] + " " * len(mark[0]) + latex[mark.end():]
    for start, stop in zip(cuts[::2], [*cuts[1::2], len(latex)], strict=True):
        part = re.sub(r"(?:\\quad|\\qquad|\\[;,:! ]|[\s,&])+$", "", latex[start:stop])
        blank = re.match(r"(?:\\quad|\\qquad|\\[;,:! ]|[\s,&])*", part)
        assert blank is not None
        start, part = start + blank.end(), part[blank.end():]
        before = latex[:start]
        column = start - before.rfind("\n") - 1 + (0 if "\n" in before else formula.column)
        if part:
            yield Formula(part, formula.line + before.count("\n"), column, formula.display)


def descended(formula: Formula, loss: str) -> Formula:
    r"""w \leftarrow w - \eta g, a step down the gradient, as \partial L/\partial w = g, where g is no such."""
    step, depth = _STEP.fullmatch(formula.latex), 0
    if step is None or re.search(r"\\(?:partial|nabla)", step["by"]):
        return formula
    for mark in re.finditer(r"[{}()\[\]+=-]", step["by"]):
        depth += (mark[0] in "{([") - (mark[0] in "})]")
        if mark[0] in "+-=" and depth == 0:
            return formula
    return replace(formula, latex=rf"\frac{{\partial {loss}}}{{\partial {step['w']}}} = {step['by']}")


def continued(written: Iterable[Formula]) -> Iterator[Formula]:
    """A formula that opens with «=» goes on with the one before: it has its left side, or that as a whole."""
    head = ""
    for formula in written:
        opens = re.match(r"\s*&?\s*=", formula.latex) is not None
        if not opens:
            head = formula.latex.partition("=")[0]
        joined_ = opens and head and not re.search(r"[&,<>]|\\\\|\\(?:begin|quad|le|ge|in)(?![a-z])", head)
        yield replace(formula, latex=f"{head.strip()} {formula.latex.lstrip(' &')}") if joined_ else formula


def unboxed(formula: Formula) -> Formula:
    r"""\boxed{a = b}, \quad \boxed{c = d} without its frames."""
    chars, latex = [*formula.latex], formula.latex
    for box in re.finditer(r"\\boxed\s*\{", latex):
        depth = 0
        for mark in re.finditer(r"\\[{}]|[{}]", latex[box.end() - 1:]):
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if depth == 0:
                end = box.end() - 1 + mark.start()
                if "=" in latex[box.end():end]:
                    chars[box.start():box.end()], chars[end] = " " * len(box[0]), " "
                break
    return replace(formula, latex="".join(chars)) if "\\boxed" in latex else formula


def numbered(formula: Formula) -> Iterator[Formula]:
    r"""y = Wx + b = (5, -1) as y = Wx + b and y = (5, -1): numbers are what a letter is at those of the example.

    ∂L/∂s = y - t =: δ as that and δ = y - t.
    """
    named = _NAMES.search(formula.latex)
    if named is not None and len(chain := _terms(_chains(formula.latex[:named.start()])[-1])) > 1:
        yield replace(formula, latex=formula.latex[:named.start()])
        yield replace(formula, latex=f"{formula.latex[named.end():].strip(' ,.;')} = {chain[-1]}")
        return
    chains = [_terms(chain) for chain in _chains(formula.latex)]
    peeled = [[n for n, t in enumerate(terms) if n > 1 and _LIST.match(t) and not _LETTER.search(
        re.sub(r"\\(?:begin|end)\{\w+\}|\^\{?(?:\\top|T)\}?|\\[a-z]?frac", "", t))] for terms in chains]
    if not any(peeled):
        yield formula
        return
    for terms, numbers in zip(chains, peeled, strict=True):
        yield replace(formula, latex="=".join(t for n, t in enumerate(terms) if n not in numbers))
        for n in numbers:
            yield replace(formula, latex=f"{terms[0]}={terms[n]}")


def links(latex: str) -> list[str]:
    """a = b and a = c of a chain a = b = c, and of each chain of a list."""
    each = ([t.strip(" \n,.;:&") for t in _terms(chain)] for chain in _chains(latex))
    return [f"{head} = {value}" for head, *values in each for value in values]


def _chains(latex: str) -> list[str]:
    r"""The chains of equations between \quad, and those of the rows of an alignment; all of it where there is more."""
    whole = _ALIGNED.fullmatch(latex)
    depth, cuts, body = 0, [0], whole[2] if whole is not None else latex
    for mark in _BRACKETS.finditer(body):
        depth += _deeper(mark)
        if depth == 0 and mark[0] == "&":
            body = f"{body[:mark.start()]} {body[mark.end():]}"
        elif depth == 0 and mark[0].startswith((r"\\", r"\quad", r"\qquad")):
            cuts += [mark.start(), mark.end()]
    parts = [body[a:b].strip(" \n,.;") for a, b in zip(cuts[::2], [*cuts[1::2], len(body)], strict=True)]
    chains: list[str] = []
    for part in filter(None, parts):
        if part.lstrip().startswith("=") and chains:
            chains[-1] += part
        elif "=" not in part or _BESIDE.search(part):
            return [latex]
        else:
            chains.append(part)
    return chains


def _terms(latex: str) -> list[str]:
    """What stands between the equality signs of a chain of one row; all of it where there is more."""
    depth, cuts = 0, [-1]
    for mark in _BRACKETS.finditer(re.sub(r"(?<!\\)\\[,;:!]", "  ", latex)):
        depth += _deeper(mark)
        if depth == 0 and mark[0] == "=":
            cuts.append(mark.start())
        elif depth == 0 and not _deeper(mark) and latex[mark.end():].strip(". "):
            return [latex]
    return [latex[a + 1:b] for a, b in zip(cuts, [*cuts[1:], len(latex)], strict=True)]


def _deeper(mark: re.Match[str]) -> int:
    if mark[0] in ("{", "(", "[") or mark[1]:
        return 1
    return -1 if mark[0] in ("}", ")", "]") or mark[0].startswith("\\end") else 0
