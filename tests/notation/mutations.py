"""Single-token changes of a formula: another relation, sign, index, number or operator."""

from collections.abc import Iterator

from derive.notation.formulas import Source
from derive.notation.tokens import tokenise

RELATIONS = {"=": "=", "≠": r"\ne", "<": "<", "≤": r"\le", ">": ">", "≥": r"\ge"}
OPERATORS = {"max": r"\min", "min": r"\max", "sum": r"\prod", "prod": r"\sum", "argmax": r"\arg\min", "argmin": r"\arg\max"}
LETTERS = ("i", "j", "k", "l", "q", "r", "x", "f", "z")


def mutations(latex: str) -> Iterator[tuple[str, str]]:
    """(what was changed, the changed formula); two changes of each token, others where it stands elsewhere."""
    for token in tokenise(Source(latex)):
        others = _others(token.type, token.text)
        for new in (others * 2)[(start := token.start % max(1, len(others))) : start + min(2, len(others))]:
            shown = latex[token.start : token.end]
            gap = " " if new[-1:].isalpha() and new.startswith("\\") else ""
            yield f"{shown} at {token.start} → {new}", latex[: token.start] + new + gap + latex[token.end :]


def _others(kind: str, text: str) -> list[str]:
    match kind:
        case "REL":
            return [sign for op, sign in RELATIONS.items() if op != text]
        case "PLUS":
            return ["-"]
        case "MINUS":
            return ["+"]
        case "NUMBER":
            return [f"{text}1"] if "." in text else [str(int(text) + 1), str(abs(int(text) - 2) + 3)]
        case "BIG":
            return [OPERATORS[text]]
        case "NAME":
            return [letter for letter in LETTERS if letter != text]
        case "IN":
            return [r"\ni", "=", r"\ne"]
        case "PRIME":
            return ["''", ""]
    return []
