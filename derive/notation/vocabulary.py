"""What each command and sign of LaTeX is to the reader: tables only."""

from __future__ import annotations

SIGNS = {
    "+": "PLUS", "-": "MINUS", "−": "MINUS", "*": "STAR", "∗": "STAR", "⋆": "STAR", "/": "SLASH", "·": "TIMES",
    "⋅": "TIMES", "×": "TIMES", "(": "LPAREN", ")": "RPAREN", "[": "LBRACK", "]": "RBRACK", "{": "LBRACE",
    "}": "RBRACE", "_": "SUB", "^": "SUP", "'": "PRIME", "′": "PRIME", ",": "COMMA", ";": "SEMI", ":": "COLON",
    ".": "DOT", "|": "BAR", "&": "AMP", "∈": "IN", "∋": "NI", "∂": "PARTIAL", "∞": "INFTY", "∑": "sum", "∏": "prod",
    "⌊": "LFLOOR", "⌋": "RFLOOR", "⌈": "LCEIL", "⌉": "RCEIL", "∧": "AND", "⇔": "IFF", "⟺": "IFF", "∖": "SETMINUS",
    "…": "DOTS", "⋯": "DOTS", "∀": "FORALL", "‖": "NBAR", "⟨": "LANGLE", "⟩": "RANGLE", "⊙": "ODOT", "∇": "NABLA",
    "⊤": "TOP",
}
RELATIONS = {
    "=": "=", "<": "<", ">": ">", "≤": "≤", "≥": "≥", "≠": "≠", "⩽": "≤", "⩾": "≥", "le": "≤", "leq": "≤",
    "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">",
    "coloneqq": "=", "triangleq": "=", "doteq": "=", "leqq": "≤", "geqq": "≥",
}
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
    "lparen": "LPAREN", "rparen": "RPAREN", "top": "TOP", "arg": "ARG",
}
BIG = {"max": "max", "min": "min", "sum": "sum", "prod": "prod", "argmax": "argmax", "argmin": "argmin",
       "median": "median"}
FUNCTIONS = {"exp": "exp", "log": "log", "ln": "log", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh", "sin": "sin",
             "cos": "cos", "abs": "abs", "sign": "sign", "sgn": "sign"}
WORDS = {**BIG, "conv": "CONV", "co": "CONV", "mod": "BMOD"}  # in \operatorname{…} and \mathrm{…}

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
           "LCEIL": "RCEIL", "LBAR": "RBAR", "BEGIN": "END", "LNORM": "RNORM", "LANGLE": "RANGLE"}
SHOWN = {"LPAREN": "(", "LBRACK": "[", "LBRACE": "{", "LSET": r"\{", "LFLOOR": r"\lfloor", "LCEIL": r"\lceil",
         "LBAR": "|", "BEGIN": r"\begin", "LNORM": r"\|", "LANGLE": r"\langle"}
