r"""Derivatives that a solution tells in words: «the Jacobian is $I - p \mathbf 1^\top$», «the gradient is $x$»."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.expr import Entry, Partial
from derive.module import Module
from derive.notation.symbols import Kind, Symbol

_IS = r"(?:is|are|equals|becomes|reads|is\s+(?:equal\s+to|given\s+by|then|thus|therefore|just|simply))"
_ENDS = r"(?=\s*(?:[.,;:)\n]|\Z|(?:and|or|where|with|for|if|when|while|which|so|in)\b))"  # not «is $n$-dimensional»
_VALUE = rf"\$(?P<value>[^$=<>]+)\${_ENDS}"
_BARE = re.compile(r"\\(?:le|ge|leq|geq|lt|gt|ne|neq|in|to|approx|propto|sim|cdots?)(?![A-Za-z])"
                   r"|^\s*(?:\\?[A-Za-z]+|\d+)\s*$")  # a relation, a letter, a number
_SLOPE = re.compile(rf"\$\s*(?P<slope>\\[dt]?frac\s*\{{\s*\\partial[^$=<>]*|\\nabla[^$=<>]*)\$\s+{_IS}\s+{_VALUE}")
_BY = re.compile(
    r"\b(?:gradient|(?:partial\s+)?derivative)\s+(?:of\s+(?:\$(?P<of>[^$=]+)\$|the\s+(?:loss|cost|error))\s+)?"
    rf"(?:with\s+respect\s+to|w\.?\s?r\.?\s?t\.?|by)\s+(?:the\s+\w+\s+)?\$(?P<by>[^$=]+)\$\s+{_IS}\s+{_VALUE}",
    re.IGNORECASE)
_GRADIENT = re.compile(rf"\b(?:gradient|derivative)\s+{_IS}\s+{_VALUE}", re.IGNORECASE)
_JACOBIAN = re.compile(rf"\bJacobian(?:\s+matrix)?(?:\s+{_IS}|:)?\s+{_VALUE}", re.IGNORECASE)
# of a part, by another letter, or transposed
_OTHER_JACOBIAN = re.compile(r"\bJacobian(?:\s+matrix)?\s+(?:of\b|with\s+respect\b|w\.?\s?r\b|by\b|for\b)"
                             r"|\btranspos\w+\s+(?:of\s+)?(?:the\s+)?Jacobian|\b(?:convention|layout)\b", re.IGNORECASE)
_NABLA = re.compile(r"\\nabla\s*(?P<of>\\[A-Za-z]+|(?<=\s)[A-Za-z])(?![A-Za-z])"  # ∇f(x)
                    r"(?:\s*\(\s*(?P<by>\\?[A-Za-z]+)\s*\))?")
_OF_JACOBIAN = re.compile(
    rf"\bJacobian(?:\s+matrix)?\s+(?:of\s+\$(?P<of>[^$=]+)\$\s+)?(?:with\s+respect\s+to|w\.?\s?r\.?\s?t\.?)\s+"
    rf"(?:(?:the\s+)?(?:\w+\s+)?\$(?P<by>[^$=]+)\$|the\s+(?P<word>\w+))\s+{_IS}\s+\$(?:(?P<name>[A-Z](?:_\w)?)\s*=)?"
    rf"(?P<value>[^$=<>]+)\${_ENDS}", re.IGNORECASE)
_NAMED = re.compile(rf"\b(?:gradient|derivative)\s+{_IS}\s+\$(?P<name>\\?[a-z](?:_\w)?)\s*="
                    rf"(?P<value>[^$=<>]+)\${_ENDS}", re.IGNORECASE)
_LAYOUT = re.compile(r"\btranspos|\b(?:convention|layout)\b", re.IGNORECASE)
_LETTER = re.compile(r"\$(?P<edge>\$?)\s*(?:\\mathbf\s*)?\{?J\}?\s*(?:_\{?\s*(?P<i>\w)\s*,?\s*(?P<j>\w)\s*\}?)?"
                     r"\s*(?=&?\s*=)")


def told(text: str, question: str, module: Module) -> str:
    """The text with these as equations; lines stay."""
    pair, scalar = _jacobian(module), _gradient(module)
    output = module.table.named(module.output)
    loss = output.latex if output is not None and not output.axes else ""
    text = _SLOPE.sub(_equation(lambda m: m["slope"].strip()), text)
    text = _NABLA.sub(lambda m: _by_letter(m, loss, module), text)
    text = _BY.sub(_equation(lambda m: rf"\frac{{\partial {m['of'] or loss}}}{{\partial {m['by'].strip()}}}"
                             if m["of"] or loss else ""), text)
    if scalar is not None:
        text = _NAMED.sub(_named(lambda _: rf"\frac{{\partial {loss}}}{{\partial {scalar.latex}}}"), text)
        text = _GRADIENT.sub(_equation(lambda _: rf"\frac{{\partial {loss}}}{{\partial {scalar.latex}}}"), text)
    if output is not None and len(output.axes) == 1 and not _LAYOUT.search(text):
        text = _OF_JACOBIAN.sub(_named(lambda m: _of_jacobian(m, output, module)), text)
    if pair is None or _OTHER_JACOBIAN.search(text):
        return text
    of, wrt = pair
    text = _JACOBIAN.sub(_equation(lambda _: rf"\frac{{\partial {of.latex}}}{{\partial {wrt.latex}}}"), text)
    if re.search(r"(?<![A-Za-z\\])J(?![A-Za-z])", question) or "jacobian" not in f"{question}{text}".lower():
        return text
    return _LETTER.sub(lambda m: rf"${m['edge']}\frac{{\partial {of.latex}{_below(m['i'])}}}"
                                 rf"{{\partial {wrt.latex}{_below(m['j'])}}} ", text)


def _by_letter(found: re.Match[str], loss: str, module: Module) -> str:
    """∇_x f for ∇f(x), and for ∇f where one derivative is asked for."""
    letters = {s.latex: s for s in module.table.of_kind(Kind.TENSOR) if s.name in module.given}
    one = letters.get(found["by"] or "") or _gradient(module)
    return rf"\nabla_{{{one.latex}}} {loss}" if one is not None and loss and found["of"] == loss else found[0]


def _of_jacobian(found: re.Match[str], output: Symbol, module: Module) -> str:
    """Of the output, or of a letter that is told, by a letter or the bias; "" where these are no vectors."""
    vectors = {s.latex: s for s in module.table.of_kind(Kind.TENSOR) if len(s.axes) == 1}
    words = {"bias": "b", "input": module.inputs[0] if len(module.inputs) == 1 else ""}
    of = vectors.get((found["of"] or output.latex).strip())
    by = vectors.get((found["by"] or words.get((found["word"] or "").lower(), "")).strip())
    return rf"\frac{{\partial {of.latex}}}{{\partial {by.latex}}}" if of is not None and by is not None else ""


def _named(head: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    """«The gradient is $g = …$»: a claim, and what the letter is from there on."""
    def one(found: re.Match[str]) -> str:
        left, name = head(found), found["name"]
        if not left:
            return found[0]
        before = found[0][:found[0].rindex("$", 0, found.start("value") - found.start())]
        named = f", ${name} = {found['value']}$" if name else ""
        return f"{before}${left} = {found['value']}${named}" + "\n" * (found[0].count("\n") - before.count("\n"))

    return one


def _below(index: str | None) -> str:
    return f"_{{{index}}}" if index else ""


def _equation(head: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    def one(found: re.Match[str]) -> str:
        left = head(found)
        if not left or _BARE.search(found["value"]):
            return found[0]
        before = found[0][:found.start("value") - 1 - found.start()]
        if found[0].startswith("$"):  # the slope itself goes into the equation
            before = ""
        return f"{before}${left} = {found['value']}$" + "\n" * (found[0].count("\n") - before.count("\n"))

    return one


def _wanted(module: Module) -> set[tuple[str, str]]:
    found = {(w.of.tensor, w.wrt.tensor) for w in module.wanted if isinstance(w, Partial) and isinstance(
        w.of, Entry) and isinstance(w.wrt, Entry)}
    return found or {(module.output, name) for name in module.inputs}


def _jacobian(module: Module) -> tuple[Symbol, Symbol] | None:
    """Of a vector by a vector, where one is asked for."""
    pairs = [(of, wrt) for a, b in _wanted(module) if (of := module.table.named(a)) and (wrt := module.table.named(b))
             and len(of.axes) == len(wrt.axes) == 1]
    return pairs[0] if len(pairs) == 1 else None


def _gradient(module: Module) -> Symbol | None:
    """By what the only derivative of the output, a number, is asked for."""
    output, wanted = module.table.named(module.output), [*_wanted(module)]
    one = wanted[0] if len(wanted) == 1 and wanted[0][0] == module.output else None
    return module.table.named(one[1]) if one is not None and output is not None and not output.axes else None
