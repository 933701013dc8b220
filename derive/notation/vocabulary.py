"""What each command, sign and word of a formula is to the reader: tables."""

from __future__ import annotations

import re

from derive.notation import tree as tr

SIGNS = {
    "+": "PLUS", "-": "MINUS", "−": "MINUS", "*": "STAR", "∗": "STAR", "⋆": "STAR", "/": "SLASH", "·": "TIMES",
    "⋅": "TIMES", "×": "TIMES", "(": "LPAREN", ")": "RPAREN", "[": "LBRACK", "]": "RBRACK", "{": "LBRACE",
    "}": "RBRACE", "_": "SUB", "^": "SUP", "'": "PRIME", "′": "PRIME", ",": "COMMA", ";": "SEMI", ":": "COLON",
    ".": "DOT", "|": "BAR", "&": "AMP", "∈": "IN", "∋": "NI", "∂": "PARTIAL", "∞": "INFTY", "∑": "sum", "∏": "prod",
    "⌊": "LFLOOR", "⌋": "RFLOOR", "⌈": "LCEIL", "⌉": "RCEIL", "∧": "AND", "⇔": "IFF", "⟺": "IFF", "∖": "SETMINUS",
    "…": "DOTS", "⋯": "DOTS", "∀": "FORALL", "‖": "NBAR", "⟨": "LANGLE", "⟩": "RANGLE", "⊙": "ODOT", "∇": "NABLA",
    "⊤": "TOP", "←": "ARROW", "!": "BANG",
}
RELATIONS = {
    "=": "=", "<": "<", ">": ">", "≤": "≤", "≥": "≥", "≠": "≠", "⩽": "≤", "⩾": "≥", "le": "≤", "leq": "≤",
    "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">",
    "coloneqq": "=", "triangleq": "=", "doteq": "=", "leqq": "≤", "geqq": "≥", "ll": "<", "gg": ">",
}
_ARROWS = "rightarrow to mapsto longrightarrow longmapsto Leftarrow longleftarrow".split()
COMMANDS = {
    "cdot": "TIMES", "times": "TIMES", "ast": "STAR", "star": "STAR", "lbrace": "LSET", "rbrace": "RSET",
    "lfloor": "LFLOOR", "rfloor": "RFLOOR", "lceil": "LCEIL", "rceil": "RCEIL", "lvert": "LBAR", "rvert": "RBAR",
    "vert": "BAR", "mid": "MID", "in": "IN", "ni": "NI", "owns": "NI", "partial": "PARTIAL", "infty": "INFTY",
    "setminus": "SETMINUS", "smallsetminus": "SETMINUS", "backslash": "SETMINUS", "iff": "IFF",
    "Leftrightarrow": "IFF", "Longleftrightarrow": "IFF", "land": "AND", "wedge": "AND", "bmod": "BMOD",
    "mod": "BMOD", "prime": "PRIME", "frac": "FRAC", "dfrac": "FRAC", "tfrac": "FRAC", "cfrac": "FRAC",
    "sqrt": "SQRT", "underset": "UNDER", "dots": "DOTS", "ldots": "DOTS", "cdots": "DOTS", "dotsc": "DOTS",
    "colon": "COLON", "forall": "FORALL", "lbrack": "LBRACK", "rbrack": "RBRACK", "cr": "CR",
    "atop": "CR", "newline": "CR",
    "Vert": "NBAR", "lVert": "LNORM", "rVert": "RNORM", "langle": "LANGLE", "rangle": "RANGLE", "odot": "ODOT",
    "circ": "ODOT", "nabla": "NABLA", "intercal": "TOP", "transpose": "TOP",
    "leftarrow": "ARROW", "gets": "ARROW", **dict.fromkeys(_ARROWS, "ARROW"), "parallel": "NBAR",
    "bullet": "BULLET", "diag": "NAME", "underbrace": "BRACE", "overbrace": "BRACE",
    "lparen": "LPAREN", "rparen": "RPAREN", "top": "TOP", "arg": "ARG",
}
WORDS = {"conv": "CONV", "co": "CONV", "mod": "BMOD"}  # in \operatorname{…} and \mathrm{…}

# Operators beyond sums, maxima and derivatives: refused by name, whatever font they are in.
OPERATORS = {
    **dict.fromkeys(("E_bb", "E", "EE"), "an expectation"),
    **dict.fromkeys(("P_bb", "P", "Pr", "Prob"), "a probability"),
    **dict.fromkeys(("V_bb", "Var", "var", "Variance"), "a variance"),
    **dict.fromkeys(("Std", "std"), "a standard deviation"), "mean": "a mean",
    **dict.fromkeys(("Cov", "cov"), "a covariance"), **dict.fromkeys(("Corr", "corr"), "a correlation"),
    **dict.fromkeys(("tr", "Tr", "trace"), "a trace"), "det": "a determinant", "rank": "a rank", "KL": "a divergence",
    **dict.fromkeys(("int", "iint", "iiint", "oint"), "an integral"), "dim": "a dimension", "ker": "a kernel",
    **dict.fromkeys(("lim", "limsup", "liminf"), "a limit"), "sup": "a supremum", "inf": "an infimum",
    **dict.fromkeys(("pm", "mp"), "two signs at once"),
}
LETTERS_TOO = frozenset("EP")  # operators only where a bracket follows wherever they stand

# Layout: read over, some with one argument of their own.
LAYOUT = frozenset(
    """left right bigl bigr Bigl Bigr biggl biggr Biggl Biggr big Big bigg Bigg limits nolimits displaystyle textstyle
    scriptstyle mathop mathbin mathrel mathord mathopen mathclose notag nonumber boldsymbol bm mathbf pmb vec mathsf
    mathit bf rm substack boxed hfill strut allowbreak nobreak thinspace enspace negthinspace centering mathstrut
    ensuremath mathnormal""".split()
)
LAYOUT_WITH_ARGUMENT = frozenset("tag label hspace vspace phantom hphantom vphantom color eqref cite intertext".split())
TEXT = frozenset("text mbox textrm textit textnormal mathrm operatorname textbf hbox textsf".split())
ENVIRONMENTS = frozenset(
    """cases dcases aligned align align* split gathered gather gather* equation equation* multline multline* pmatrix
    bmatrix matrix array smallmatrix subarray alignedat""".split()
)
ALIGNED = frozenset("aligned align align* split gathered gather gather* equation equation* multline multline*".split())
CLOSING = {"LPAREN": "RPAREN", "LBRACK": "RBRACK", "LBRACE": "RBRACE", "LSET": "RSET", "LFLOOR": "RFLOOR",
           "LCEIL": "RCEIL", "LBAR": "RBAR", "BEGIN": "END", "LNORM": "RNORM", "LANGLE": "RANGLE",
           "LOPEN": "ROPEN", "LSHUT": "RSHUT"}
SHOWN = {"LPAREN": "(", "LBRACK": "[", "LBRACE": "{", "LSET": r"\{", "LFLOOR": r"\lfloor", "LCEIL": r"\lceil",
         "LBAR": "|", "BEGIN": r"\begin", "LNORM": r"\|", "LANGLE": r"\langle", "LOPEN": "(", "LSHUT": "["}
_KINDS: dict[str, tuple[str, ...]] = {
    "IF": ("if", "when", "where", "for", "whenever", "with", "provided", "provided that", "given", "given that",
           "such that", "in case", "pokud", "když", "pro", "kde", "jestliže", "je-li", "jsou-li", "platí-li",
           "je li", "pokud je", "v případě"),
    "ELSE": ("otherwise", "else", "elsewhere", "or else", "in all other cases", "in other cases",
             "in every other case", "everywhere else", "if not",
             "for all other", "for all others", "for other", "in the other case", "in all others",
             "for all other values",
             "in any other case", "or otherwise", "jinak", "v ostatních případech", "ve všech ostatních případech"),
    "AND": ("and", "and also", "and if", "and where", "a", "a zároveň"),
    "IFF": ("iff", "if and only if", "exactly when", "exactly if", "právě když"),
    "ALL": ("for all", "for every", "for each", "for any", "pro všechna"),
    "IN": ("in", "is in", "lies in", "belongs to", "is an element of"),
}
_SUCH_THAT = ("s.t", "st", "such that", "subject to", "with", "where", "for which", "with the property that")
_KIND_OF = {phrase: kind for kind, phrases in _KINDS.items() for phrase in phrases}
_BARE = "|".join(p for p in _KIND_OF if p == "if" or (p.isascii() and p.isalpha() and len(p) > 2))
WORD = re.compile(rf"(?<![^\s&])(?:{_BARE})(?=\s)")  # x_k if x_k > 0
_LARGEST = "max|maximum|maximal|largest|greatest|biggest|highest"
_SMALLEST = "min|minimum|minimal|smallest|least|lowest"
_EXTREMAL = re.compile(
    rf"(?:is|was|equals|has|attains|achieves|being)\s+(?:the|a|one of the)?\s*(?:(?P<max>{_LARGEST})|(?:{_SMALLEST}))"
    r"(?:\s+(?:element|entry|value|input|pixel|number))?\s+(?:in|of|within|over|inside|among|on|from)"
    r"(?:\s+(?:its|the|all|that|this|values|entries|elements|inputs|in|of|pooling|receptive|field|window|region|patch|"
    r"neighbou?rhood|set|coordinates))*"
)


def plain(text: str) -> str:
    """Lower case, single spaces, no punctuation at the ends."""
    return re.sub(r"(?:\s|~)+", " ", text).strip(" ,.;").lower()


def said(item: tr.Item | None) -> str:
    """The words of an item; nothing of what is no text."""
    return plain(item.text) if tr.is_token(item, "TEXT") else ""


def kind(item: tr.Item | None) -> str | None:
    """IF, ELSE, AND, IFF, ALL or IN, where the item is such a word."""
    sign = item.type if isinstance(item, tr.Token) else ""
    return _KIND_OF.get(said(item), {"AND": "AND", "IFF": "IFF", "FORALL": "ALL"}.get(sign))


def opens_range(item: tr.Item) -> bool:
    """«for», «for all», «with», «where»: a range may follow; never «if»."""
    return kind(item) == "ALL" or said(item) in ("for", "with", "where", "pro", "kde")


def defining(item: tr.Item) -> bool:
    """«where», «with»: what follows may be a definition."""
    return said(item) in ("where", "with", "kde", "s")


# nothing new of a function of numbers; who is who
REMARK = re.compile(r"\(?(?:applied )?(?:element|entry|component|coordinate|point)[- ]?wise\)?")
ROLE = re.compile(r"\(?(?:is |are )?(?:kept |held )?(?:fixed|constant|given|known|trainable|learnable|learned)\)?")
_NO_STAGE = re.compile(r"""\b(?:if|for|otherwise|else|where|when|whenever|except|unless|until|not|no|mod|over|rows?
    |columns?
    |\w+wise|fixed|constant|given|known|trainable|learnable|learned|held|kept|only|even|odd|all|each|every|without|with|masked
    |clipped|detached|frozen|stop|stopped|samples?|batch|mean|averaged?|summed|transposed|elements?|entries|pro|kde|kdy|jinak
    |pokud|když|(?!embed|pool|encod|gat|scal|squeez|project|mix|squared\ error)\w+(?:ed|ing))\b""", re.VERBOSE)
_MOST_WORDS = 4  # of what a line is called


# whatever function the line applies
OF_ANY_LINE = frozenset("""activation activations function layer hidden output input gate update reset forget candidate
    cell state unit units neuron neurons response first second third last new""".split())


def words(item: tr.Item) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", said(item)))


def is_stage(item: tr.Item) -> bool:
    """«(update gate)»: what a line computes is called."""
    text = said(item)
    return 0 < len(words(item)) <= _MOST_WORDS and text[0] + text[-1] == "()" and not _NO_STAGE.search(text)


_ALONG = re.compile(r"\(?(?:(?:applied |taken )?(row|column)(?:[- ]?wise| by \1)"
                    r"|(?:(?:over|of|for|to|in|along|on) )?(?:each|every) (row|column)|(?:by|per) (row|column)s?)\)?")


def along(item: tr.Item) -> str | None:
    """rows or columns of «(row-wise)», «over each column»."""
    found = _ALONG.fullmatch(said(item))
    return None if found is None else f"{found[1] or found[2] or found[3]}s"


def such_that(item: tr.Item) -> bool:
    """``:``, ``|`` or «such that» in a set or under a sum."""
    return tr.is_token(item, "COLON", "MID") or said(item) in _SUCH_THAT


def extremal(item: tr.Item | None) -> str | None:
    """'max' or 'min' where the words are «is the largest in its window» and the like."""
    match = _EXTREMAL.fullmatch(said(item))
    return None if match is None else "max" if match["max"] else "min"


def is_divided(group: tr.Item | None) -> bool:
    r"""(p \| q): two distributions."""
    return tr.is_group(group, "LPAREN", "LBRACK") and any(tr.is_token(i, "MID") and i.text == "‖" for i in group.items)


def beyond(shown: str, name: str) -> str:
    """Why an operator is not read."""
    instead = "a formula for each of them" if name in ("pm", "mp") else (
        r"what is computed in entries, such as `\frac{1}{n} \sum_{i=1}^{n} x_i`")
    return f"`{shown}` is {OPERATORS[name]}, which is outside the notation; write {instead}"
