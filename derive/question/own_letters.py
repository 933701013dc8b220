"""Letters of their own: a bias in column 0 of the weights, layers numbered above, a whole log-likelihood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from derive.expr import ONE, ZERO, Add, Entry, Idx, Node, Reduce, transform, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import Symbol, SymbolTable

Column = tuple[str, int]  # tensor, axis


def with_biases(nodes: Iterable[Node], table: SymbolTable) -> tuple[list[Node], SymbolTable]:
    """The formulas with w_{0,j} for w_{j0}, where the other columns of w are summed from 1 on or beside it."""
    nodes = list(nodes)
    columns = dict.fromkeys(_columns(nodes))
    if not columns:
        return nodes, table

    def named(node: Node) -> Node | None:
        for tensor, axis in columns if isinstance(node, Entry) else ():
            if node.tensor == tensor and len(node.indices) > axis and node.indices[axis] is ZERO:  # type: ignore[attr-defined]
                rest = (*node.indices[:axis], *node.indices[axis + 1:])  # type: ignore[attr-defined]
                return Entry(f"{tensor}_0", rest)
        return None

    return [transform(node, named) for node in nodes], table.extended(_symbol(c, table) for c in columns)


def _columns(nodes: list[Node]) -> Iterator[Column]:
    entries = [e for node in nodes for e in walk(node) if isinstance(e, Entry) and len(e.indices) > 1]
    summed = {(e.tensor, d) for node in nodes for r in walk(node) if isinstance(r, Reduce)
              for v, low in zip(r.binder.variables, r.binder.lower, strict=True) if low is ONE
              for e in walk(r.body) if isinstance(e, Entry) for d, i in enumerate(e.indices) if i is v}
    summed |= {place for node in nodes for a in walk(node) if isinstance(a, Add) for place in _beside(a)}
    for e in entries:
        for d, i in enumerate(e.indices):
            if i is ZERO and (e.tensor, d) in summed and all(isinstance(o, Idx) for o in e.indices if o is not i):
                yield e.tensor, d


def _beside(node: Add) -> Iterator[Column]:
    """w's column in Σ_i w_{ji} x_i + w_{j0}: with limits unsaid the sum takes every i, and no bias is counted twice."""
    sums = [r for t in node.terms for r in walk(t) if isinstance(r, Reduce) and r.op == "sum"]
    for entry in (t for t in node.terms if isinstance(t, Entry)):
        yield from ((entry.tensor, d) for r in sums for e in walk(r.body) if isinstance(e, Entry)
                    for d, i in enumerate(e.indices) if e.tensor == entry.tensor and i in r.binder.variables)


def _symbol(column: Column, table: SymbolTable) -> Symbol:
    tensor, axis = column
    of = table.named(tensor)
    assert of is not None
    return Symbol(f"{tensor}_0", f"{of.latex}_0", of.kind, (*of.axes[:axis], *of.axes[axis + 1:]))


_FACE = r"\\(?:mathbf|boldsymbol|bm|vec|mathrm|hat|tilde|bar)"
_LETTER = rf"(?:{_FACE}\s*\{{\s*\\?[A-Za-z]+\s*\}}|{_FACE}\s+[A-Za-z]|\\[A-Za-z]+|[A-Za-z])"
_BELOW = r"\s*_\s*(?:\{[^{}]*\}|\\[A-Za-z]+|\w)"
_ABOVE = r"\s*\^\s*(?:\{\s*([A-Za-z0-9]+(?:\s*[+-]\s*\d)?)\s*\}|([A-Za-z0-9]))"
_RAISED = re.compile(rf"(?<![\\A-Za-z])(?P<letter>{_LETTER})(?P<below>{_BELOW})?{_ABOVE}(?P<after>{_BELOW})?")
_STEP = re.compile(r"([A-Za-z])\s*[+-]\s*\d")
_HEAD = re.compile(r"(?:^|[,;&]|\\\\|\\q?quad|\\begin\{\w+\})\s*$")
_DEFINED = re.compile(r"\s*&?\s*(?::?=|\\in(?![A-Za-z]))")


def with_layers(formulas: Iterable[Formula]) -> list[Formula]:
    """The formulas with brackets around the superscripts that number layers.

    Of letters, l numbers layers where an equation defines some z^l, an l − 1 or l + 1 stands
    above too, and l is no subscript.  Of digits, those of letters that an equation defines so,
    or that some 0 or 1 stands above: nobody writes a first power.
    """
    found = list(formulas)
    raised = [(f, match) for f in found for match in _RAISED.finditer(f.latex)]
    heads = {(_base(m), _script(m)) for f, m in raised if _is_head(f.latex, m)}
    steps = {step[1] for _, m in raised if (step := _STEP.fullmatch(_script(m)))}
    below = {c for _, m in raised for c in re.findall(r"[A-Za-z]", (m["below"] or "") + (m["after"] or ""))}
    layers = {letter for letter in steps - below if any(letter in script for _, script in heads)}
    digits = {_base(m) for _, m in raised if _script(m) in ("0", "1")} | {b for b, s in heads if s.isdigit()}
    listed = set(_listed(found))  # the 1 of x^1, \dots, x^m is no layer's number, and says nothing of σ^2
    if not any(s.isdigit() for _, s in heads) or not any(
            _script(m) in ("0", "1") and _base(m) not in listed for _, m in raised):
        digits = set()
    lettered = {_base(m) for _, m in raised if _script(m)[0].isalpha()} | listed
    numbered = digits - lettered - {"e"}
    if not layers and not numbered:
        return found

    def bracketed(match: re.Match[str]) -> str:
        script = _script(match)
        own = script[0] in layers if script[0].isalpha() else _base(match) in numbered and script.isdigit()
        if not own:
            return match[0]
        return f"{match['letter']}{match['below'] or ''}^{{({script})}}{match['after'] or ''}"

    return [replace(f, latex=_RAISED.sub(bracketed, f.latex)) for f in found]


def _base(match: re.Match[str]) -> str:
    return re.sub(rf"{_FACE}|[{{}}\s\\]", "", match["letter"])


def _script(match: re.Match[str]) -> str:
    return (match[3] or match[4] or "").replace(" ", "")


def _is_head(latex: str, match: re.Match[str]) -> bool:
    """z^l_j = … or A^0 ∈ …"""
    opens = _HEAD.search(latex, 0, match.start()) or not latex[: match.start()].strip()
    return opens is not None and opens is not False and _DEFINED.match(latex, match.end()) is not None


def _listed(formulas: Iterable[Formula]) -> Iterator[str]:
    r"""x of x^1, \dots, x^m: numbered samples."""
    for formula in formulas:
        if "dots" in formula.latex:
            yield from (_base(m) for m in _RAISED.finditer(formula.latex))


_CAPITAL = r"(?:\\(?:mathcal|mathrm|mathscr)\s*\{\s*[A-Z]\s*\}|[A-Z](?![A-Za-z]))"
_ARGUMENTS = r"(?:\s*(?:\\left\s*)?\((?:[^()=]|\([^()]*\))*\))?"
_LOGARITHM = rf"\\(?:log|ln)(?![A-Za-z])\s*(?:\\,\s*)?({_CAPITAL}){_ARGUMENTS}"
_LOG_HEAD = re.compile(rf"(?:^|&|\\\\)\s*({_LOGARITHM})\s*&?\s*:?=")
_NAME = r"\ell"


def with_likelihoods(formulas: Sequence[Formula]) -> list[Formula]:
    r"""The formulas with \ell for \log L, where that is what they define and nothing else is called \ell."""
    found = _defined(formulas)
    if found is None:
        return list(formulas)
    letter = re.escape(found[1])
    whole = re.compile(rf"\\(?:log|ln)(?![A-Za-z])\s*(?:\\,\s*)?{letter}(?![A-Za-z_^]){_ARGUMENTS}")
    return [replace(f, latex=whole.sub(lambda _: _NAME + " ", f.latex)) for f in formulas]


_PROBABILITY = (
    r"(?:\\Pr(?![A-Za-z])|\\(?:mathbb|mathrm|operatorname|mathbf)\s*\{\s*[Pp]\s*\}|(?<![A-Za-z\\])[Pp])\s*(?:\\left\s*)?"
    r"\((?P<of>[^()|]*?)(?:\\mid(?![A-Za-z])|\\vert(?![A-Za-z])|\|)[^()=]*?(?:\\right\s*)?\)"
)
_POSTERIOR = re.compile(rf"(?:^|(?<=[,&])|\\\\)\s*{_PROBABILITY}\s*&?\s*:?=\s*(?P<rest>[^=]+(?P<more>=)?)")
_ONE = re.compile(r"\s*(?:[A-Za-z]\s*(?:=\s*[+-]?\d+)?)\s*")
_P = re.compile(r"(?<![A-Za-z\\])p(?![A-Za-z])")


def with_posteriors(formulas: Sequence[Formula]) -> list[Formula]:
    r"""The formulas with p for p(y = 1 \mid x), where that is what they define and nothing else is called p.

    Of p(y = 1 \mid x) = \hat{p} = σ(…) the next letter is the name, and the first side is left out.
    """
    head = _posterior(formulas)
    if head is None:
        return list(formulas)
    if head["more"]:
        whole = head[0][: head.start("rest") - head.start()]
        return [replace(f, latex=f.latex.replace(whole, "", 1)) for f in formulas]
    return [replace(f, latex=re.sub(_PROBABILITY, "p", f.latex)) for f in formulas]


def _posterior(formulas: Sequence[Formula]) -> re.Match[str] | None:
    """The one equation that begins with such a probability, where a letter for it is free."""
    heads = [m for f in formulas for m in _POSTERIOR.finditer(f.latex) if _ONE.fullmatch(m["of"])]
    taken = any(_P.search(re.sub(_PROBABILITY, "", f.latex)) for f in formulas)
    return heads[0] if len(heads) == 1 and (heads[0]["more"] or not taken) else None


def likelihoods_said(formulas: Sequence[Formula]) -> list[str]:
    """What the letter is short for."""
    found, head = _defined(formulas), _posterior(formulas)
    said = [] if found is None else [f"$\\ell$ is short for ${found[0]}$"]
    if head is not None and not head["more"] and (whole := re.search(_PROBABILITY, head[0])):
        said.append(f"$p$ is short for ${whole[0]}$")
    return said


def _defined(formulas: Sequence[Formula]) -> tuple[str, str] | None:
    """log L(w) as it is written left of =, and L; nothing where two are defined, or a letter is called so."""
    heads = [(m[1], m[2]) for f in formulas for m in _LOG_HEAD.finditer(f.latex)]
    taken = any(re.search(r"\\ell(?![A-Za-z])", f.latex) for f in formulas)
    return heads[0] if len({letter for _, letter in heads}) == 1 and not taken else None
