"""LaTeX → tokens with positions, and tidied: layout dropped, bars paired."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from derive import reductions
from derive.functions import SHORT, SPELLINGS
from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import NotationError, Source
from derive.notation.symbols import ACCENTS, ALPHABETS, GREEK, UNICODE_LETTERS, is_capital, name_of
from derive.notation.vocabulary import ALIGNED, CLOSING, COMMANDS, RELATIONS, SIGNS

_COMMAND = re.compile(r"\\(?:([A-Za-z]+)\*?|(.))", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_POWER = re.compile(r"[eE]([-+]?\d+)(?![.\w])")  # of 1e-3
_SPACE = re.compile(r"(?:\s|~|\\[,;:! ]|\\\n|%[^\n]*(?:\n|$))+")
_INDICATOR = re.compile(r"\\(?:mathbb|mathds|mathbbm|mathbf|boldsymbol|bm|bf|mathrm)\s*(?:\{\s*1\s*\}|1)"
                        r"|\\(?:mathbb|mathds)\s*(?:\{\s*I\s*\}|I\b)")
_OPERATOR = re.compile(rf"\s*\{{\s*\\mathrm\s*\{{\s*({'|'.join(reductions.SPELLINGS)})\s*\}}\s*\}}")
_ARGUMENT = re.compile(r"\s*(?:\{\s*(\\?[A-Za-z]+|[^\W\d_])\s*\}|(\\[A-Za-z]+|[^\W\d_]))")
_DEFINED = re.compile(r"\\(?:stackrel|overset)\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*\{\s*:?=\s*\}")
_MODULO = re.compile(r"mod(?![a-z])")
_NOT = re.compile(r"\\not\s*(=|\\in\b)")
_BRACED = re.compile(r"\s*\{([^{}]*)\}")
_OLD_CASES = re.compile(r"\s*(?:\\\{|\\lbrace\b)\s*\\begin\s*\{(array|aligned|matrix)\}(?:\s*\{[^{}]*\})?")
_LETTER = re.compile(f"[A-Za-z{''.join(UNICODE_LETTERS)}]")
_APPLIED_OPERATOR = re.compile(  # tr(A), \mathbf{Var}[x]
    rf"(?<![A-Za-z\\])(?:{'|'.join(sorted(w for w in vocabulary.OPERATORS if w.isalpha() and len(w) > 1))})"
    r"(?=\s*\}?\s*(?:\\left|\\[bB]igg?l?)?\s*[(\[])")

_PLAIN = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{3,}\d?\d?p?(?![A-Za-z])")  # tanh(x), ReLU(x), log p without a backslash
_FUNCTION = re.compile(r"[A-Za-z]{2,}(?:\d|\dp)?$")  # ReLU, expm1, log1p
_APPLIED = re.compile(r"\s*(?:'\s*|\^\s*\\prime\s*)?(?:(?:\\left|\\[bB]igg?l?|\\!)\s*)*\(")
_EQUALS = re.compile(r"\s*(?:_\s*(?:\{[^{}]*\}|\w)\s*)?&?\s*(?::?=|\\coloneqq)")
_EXTREMES = frozenset({"max", "min", "argmax", "argmin"})
SOFTMAX = "softmax"
_WEIGHTS = frozenset("mathbf boldsymbol bm pmb vec mathit mathsf mathnormal".split())
_NOTHING = re.compile(r"\s*\{\s*\}")
_HEAVY = frozenset("mathbf boldsymbol bm pmb bf vec".split())
_LIGHT = re.compile(rf"\s*\{{\s*([A-Za-z{''.join(UNICODE_LETTERS)}]|\\(?:{'|'.join(sorted(GREEK))}))\s*\}}")
_LETTER_UNDER = r"(?:\{\s*(\\?[A-Za-z]+)\s*\}|(\\?[A-Za-z]+))"
_BOLD_UNDER = re.compile(rf"\s*\{{\s*\\(?:{'|'.join(sorted(_WEIGHTS))})\s*{_LETTER_UNDER}\s*\}}")
_ACCENT_INSIDE = re.compile(rf"\s*\{{\s*\\({'|'.join(sorted(ACCENTS))})\s*{_LETTER_UNDER}\s*\}}")
_WHOLE_WORD = re.compile(r"\s*\{\s*[A-Za-z]{2,}\s*\}")  # \mathit{net}
_UPRIGHT = re.compile(r"\s+([A-Za-z]{2,})")
_UPRIGHT_LETTERS = ("mathrm", "textrm", "textbf", "operatorname")
_LONGEST = 20_000
_DIGITS = 100  # of a number


class _Lexer:
    def __init__(self, source: Source) -> None:
        self.source, self.text, self.at = source, source.latex, 0
        self.out: list[tr.Token] = []
        self.environments: list[tuple[str, str]] = []  # (name, what it is read as)
        self.heavy = ""  # behind a \mathbf without braces
        self.digits = 0  # how many arguments that may be one bare digit are still to come

    def error(self, message: str, at: int | None = None) -> NotationError:
        return self.source.error(self.at if at is None else at, message)

    def emit(self, type_: str, text: str, end: int, weight: str = "") -> None:
        weight = (weight or self.heavy) if type_ == "NAME" else ""
        axes = 0 if weight not in _HEAVY else 2 if is_capital(text) and weight != "vec" else 1
        self.out.append(tr.Token(type_, text, self.at, end, axes))
        self.at, self.heavy = end, ""

    def run(self) -> list[tr.Token]:
        while self.at < len(self.text):
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
                continue
            before = len(self.out)
            self.step(self.text[self.at])
            if len(self.out) > before:
                kind = self.out[-1].type
                self.digits = {"SUB": 1, "SUP": 1, "FRAC": 2}.get(kind, self.digits - 1 if kind == "NUMBER" else 0)
        return self.out

    def step(self, char: str) -> None:
        if char == "\\":
            self.command()
        elif char.isascii() and char.isalpha():  # most are
            self.letter(char)
        elif char in "0123456789":
            self.number()
        elif char == "½":
            self.emit("NUMBER", "0.5", self.at + 1)
        elif char in "²³":
            self.out.append(tr.Token("SUP", "^", self.at, self.at))
            self.emit("NUMBER", {"²": "2", "³": "3"}[char], self.at + 1)
        elif self.text.startswith("||", self.at) and sum(t.type == "BAR" for t in self.out) % 2 == 0:  # not of |a||b|
            self.emit("NBAR", "||", self.at + 2)
        elif self.text.startswith("..", self.at):
            self.emit("DOTS", "", self.at + (3 if self.text.startswith("...", self.at) else 2))  # 1..K
        elif self.text.startswith(":=", self.at):
            self.emit("REL", "=", self.at + 2)
        elif char in RELATIONS:
            self.emit("REL", RELATIONS[char], self.at + 1)
        elif char in ("∑", "∏"):
            self.emit("BIG", SIGNS[char], self.at + 1)
        elif char in SIGNS:
            self.emit(SIGNS[char], char, self.at + 1)
        else:
            self.letter(char)

    def letter(self, char: str) -> None:
        """A letter, or a word that is none."""
        if word := vocabulary.WORD.match(self.text, self.at):
            self.emit("TEXT", word[0], word.end())
        elif word := _APPLIED_OPERATOR.match(self.text, self.at):
            self.emit("NAME", word[0], word.end())
        elif (word := _PLAIN.match(self.text, self.at)) and (kind := self.plain(word)):
            self.emit(*kind, word.end())
        elif _LETTER.match(char):
            self.emit("NAME", UNICODE_LETTERS.get(char, char), self.at + 1)
        else:
            self.emit("UNKNOWN", char, self.at + 1)

    def plain(self, word: re.Match[str]) -> tuple[str, str] | None:
        """What tanh, max, softmax and ReLU are, written as if they were products: names of functions that are known."""
        name, behind = word[0], self.text[word.end() :].lstrip()[:1]
        applied = _APPLIED.match(self.text, word.end()) is not None
        if applied and (name.lower() in SHORT or name.lower() == SOFTMAX):
            return "NAME", name
        if self.in_script() and not applied:
            return None
        if name in SPELLINGS:
            return "FN", SPELLINGS[name]
        taken = name in _EXTREMES and (applied or behind in ("_", "\\", "{"))  # max_j, max \limits, max \{a, b\}
        return ("BIG", reductions.SPELLINGS[name]) if taken else None

    def number(self) -> None:
        match = _NUMBER.match(self.text, self.at)
        assert match is not None
        if power := _POWER.match(self.text, match.end()):
            raise self.error(f"`{match[0]}{power[0]}` is outside the notation: write "
                             f"`{match[0]} \\cdot 10^{{{power[1]}}}`")
        if len(match[0]) > _DIGITS:
            raise self.error(f"a number of more than {_DIGITS} digits")
        if self.digits <= 0:
            self.emit("NUMBER", match[0], match.end())
            return
        script = self.out[-1].type in ("SUB", "SUP")
        if script and match.end() - self.at > 1:
            raise self.error(f"LaTeX reads `{self.out[-1].text}{match[0]}` as `{self.out[-1].text}{match[0][0]}` "
                             f"followed by {match[0][1:]}; write `{self.out[-1].text}{{{match[0]}}}`")
        self.emit("NUMBER", match[0][0], self.at + 1)

    def command(self) -> None:
        for pattern, kind, text in ((_INDICATOR, "IND", "1"), (_DEFINED, "REL", "=")):
            if match := pattern.match(self.text, self.at):
                return self.emit(kind, text, match.end())
        if match := _NOT.match(self.text, self.at):
            if match[1] != "=":
                raise self.error(r"`\notin` is outside the notation; state what the element is in")
            return self.emit("REL", "≠", match.end())
        match = _COMMAND.match(self.text, self.at)
        if match is None:
            raise self.error("a lone backslash")
        if match[2] is not None:
            return self.sign(match[2], match.end())
        return self.word(match[1], match.end())

    def sign(self, char: str, end: int) -> None:
        if char == "\\":
            spacing = re.compile(r"\*?\s*\[-?[\d.]+\s*[a-z]{2}\]").match(self.text, end)
            return self.emit("CR", "\\\\", spacing.end() if spacing else end)
        kind = {"{": "LSET", "}": "RSET", "|": "NBAR"}.get(char)
        return self.emit(kind or "UNKNOWN", char if kind else f"\\{char}", end)

    def word(self, name: str, end: int) -> None:
        if name in ("left", "right", "middle"):
            self.delimiter(name, end)
        elif name == "mathop" and (inner := _OPERATOR.match(self.text, end)):
            self.emit("BIG", reductions.SPELLINGS[inner[1]], inner.end())
        elif name in ("quad", "qquad"):
            self.emit("QUAD", "", end)
        elif name in ("begin", "end"):
            self.environment(name, end)
        elif name in vocabulary.TEXT or (name in ("mathit", "mathsf") and _WHOLE_WORD.match(self.text, end)):
            self.words(name, end)
        elif name in vocabulary.LAYOUT_WITH_ARGUMENT:
            braced = _BRACED.match(self.text, end)
            self.at = braced.end() if braced else end
        elif name in vocabulary.LAYOUT:
            self.weight(name, end)
        elif name == "equiv" and not _MODULO.search(self.text, end):
            self.emit("REL", "=", end)  # σ(z) ≡ 1/(1 + e^{-z})
        elif name in GREEK:
            self.emit("NAME", name, end)
        elif name in ACCENTS or name in ALPHABETS:
            self.accent(name, end)
        else:
            for table, kind in ((RELATIONS, "REL"), (reductions.SPELLINGS, "BIG"), (SPELLINGS, "FN")):
                if name in table:
                    return self.emit(kind, table[name], end)
            self.emit(COMMANDS.get(name, "UNKNOWN"), name if name in COMMANDS else f"\\{name}", end)
        return None

    def weight(self, name: str, end: int) -> None:
        r"""\mathbf{W} is W, and {\rm tr} is a word; all else is read over."""
        letter = _LIGHT.match(self.text, end) if name in _WEIGHTS else None
        accented = _ACCENT_INSIDE.match(self.text, end) if name in _WEIGHTS else None
        if accented is not None:
            self.emit("NAME", name_of(rf"\{accented[1]}{{{accented[2] or accented[3]}}}"), accented.end(), name)
        elif letter is not None:
            self.emit("NAME", name_of(letter[1]), letter.end(), name)
        elif name == "rm" and (word := _UPRIGHT.match(self.text, end)):
            self.emit("NAME", word[1], word.end())
        elif name in _WEIGHTS and (empty := _NOTHING.match(self.text, end)):
            raise self.error(f"nothing stands in `{self.text[self.at : empty.end()]}`")
        else:
            self.at, self.heavy = end, name

    def accent(self, name: str, end: int) -> None:
        argument = _ARGUMENT.match(self.text, end) or _BOLD_UNDER.match(self.text, end)
        if argument is None:
            raise self.error(rf"`\{name}` needs one letter under it")
        heavy = next((weight for weight in _HEAVY if f"\\{weight}" in argument[0]), "")
        self.emit("NAME", name_of(rf"\{name}{{{argument[1] or argument[2]}}}"), argument.end(), heavy)

    def delimiter(self, name: str, end: int) -> None:
        if name == "left" and (cases := _OLD_CASES.match(self.text, end)):
            self.environments.append((cases[1], "cases"))  # \left\{ \begin{array}{ll} … \end{array} \right.
            return self.emit("BEGIN", "cases", cases.end())
        match = re.compile(r"\s*(\.|\|\||\||\\\||\\(?:vert|mid|Vert|lVert|rVert|lvert|rvert)\b)?").match(self.text, end)
        assert match is not None
        if match[1] is None or match[1] == ".":
            self.at = match.end()
            return None
        if match[1] in ("||", "\\|", "\\Vert", "\\lVert", "\\rVert"):
            return self.emit({"left": "LNORM", "right": "RNORM", "middle": "MID"}[name], match[1], match.end())
        return self.emit({"left": "LBAR", "right": "RBAR", "middle": "MID"}[name], "|", match.end())

    def environment(self, name: str, end: int) -> None:
        braced = _BRACED.match(self.text, end)
        if braced is None or braced[1] not in vocabulary.ENVIRONMENTS:
            raise self.error(rf"`\{name}{braced[0] if braced else ''}` is outside the notation")
        end = braced.end()
        if name == "begin" and braced[1] in ("array", "subarray", "alignedat"):
            columns = _BRACED.match(self.text, end)
            end = columns.end() if columns else end
        if name == "begin":
            self.environments.append((braced[1], braced[1]))
        elif self.environments and self.environments[-1][0] == braced[1]:
            return self.emit("END", self.environments.pop()[1], end)
        return self.emit(name.upper(), braced[1], end)

    def in_script(self) -> bool:
        last = [token.type for token in self.out[-2:]]
        return bool(last) and (last[-1] in ("SUB", "SUP") or (last[-1] == "LBRACE" and last[0] in ("SUB", "SUP")))

    def defined_word(self, command: str, end: int) -> bool:
        r"""\mathrm{MSE} = …, and ∂ \mathrm{MSE}: a letter of several letters."""
        opens = not self.out or self.out[-1].type in ("QUAD", "COMMA", "AMP", "CR")
        return not self.in_script() and (command in ("mathrm", "mathit", "mathsf", "operatorname")
                               or (command != "text" and opens and _EQUALS.match(self.text, end) is not None))

    def words(self, name: str, end: int) -> None:
        r"""``\text{if $x$ is}``: the words, and the mathematics inside them."""
        braced = re.compile(r"\s*\{").match(self.text, end)
        if braced is None:
            self.at = end
            return
        close, depth = braced.end(), 1
        while close < len(self.text) and depth:
            depth += {"{": 1, "}": -1}.get(self.text[close], 0)
            close += 1
        if depth:
            raise self.error("this bracket is not closed", braced.end() - 1)
        content = self.text[braced.end() : close - 1]
        bare = re.sub(r"\\[,;! ]|\s|~|\\limits", "", content)
        if name in _UPRIGHT_LETTERS and (bare.startswith("\\") or (len(bare) == 1 and not _LETTER.match(bare))):
            self.at, self.digits = braced.start(), 0  # one upright letter: a symbol as any other
        elif (known := self.sign_of(name, content, bare, close)) is not None:
            self.emit(*known, close)
        else:
            self.phrases(content, braced.end(), close)

    def sign_of(self, command: str, content: str, bare: str, close: int) -> tuple[str, str] | None:
        r"""What \operatorname{argmax}, \text{mod}, \mathrm{tanh}, \mathrm{x} and \mathrm{MSE} are; None for words."""
        below = self.in_script() and "SUB" in [t.type for t in self.out[-2:]] and not _APPLIED.match(self.text, close)
        reduction = reductions.SPELLINGS.get(bare) if not below else None  # x_{\text{max}} has a label
        if reduction is not None and (command == "operatorname" or not reductions.is_short(reduction)):
            return "BIG", reduction
        if bare in SPELLINGS and not below:
            return "FN", SPELLINGS[bare]
        if bare in vocabulary.WORDS and not self.in_script():
            return vocabulary.WORDS[bare], bare
        if command != "text" and len(bare) == 1 and _LETTER.match(bare):
            return "NAME", UNICODE_LETTERS.get(bare, bare)
        word = tr.Token("TEXT", content, self.at, close)
        symbol = _APPLIED.match(self.text, close) or self.defined_word(command, close)
        plain = vocabulary.kind(word) is None and not vocabulary.such_that(word)
        return ("NAME", content) if _FUNCTION.match(content) and symbol and plain else None

    def phrases(self, content: str, start: int, close: int) -> None:
        """Words, with formulas between dollars."""
        for n, piece in enumerate(content.split("$")):
            if n % 2 == 0:
                if piece.strip(" ~\t\n,"):
                    self.out.append(tr.Token("TEXT", piece, self.at, close))
            else:
                inner = Source(self.text[: start + content.index(piece)] + piece, self.source.line, self.source.column)
                lexer = _Lexer(inner)
                lexer.at = len(inner.latex) - len(piece)
                self.out += lexer.run()
        self.at = close


def tokenise(source: Source) -> list[tr.Token]:
    """The tokens of a formula without its layout: quads, equation number, closing punctuation.

    Raises :class:`NotationError` where something is outside the notation.
    """
    if len(source.latex) > _LONGEST:
        raise source.error(0, f"a formula of more than {_LONGEST} characters")
    return tidy(_Lexer(source).run(), source)


_OPENING = {closing: opening for opening, closing in CLOSING.items()}
_AROUND_QUAD = frozenset(
    "COMMA SEMI COLON TEXT REL IN AMP CR PLUS MINUS TIMES IFF AND BMOD FORALL MID BEGIN END".split()
)


def tidy(tokens: list[tr.Token], source: Source) -> list[tr.Token]:
    """What is left when the layout is gone."""
    tokens = _intervals(_without_quads(_rows(_cut_end(_join_arg(tokens)))))
    for bar, sides in (("NBAR", ("LNORM", "RNORM")), ("BAR", ("LBAR", "RBAR"))):
        tokens = _paired(tokens, bar, sides, source)
    return tokens


def _join_arg(tokens: list[tr.Token]) -> list[tr.Token]:
    out: list[tr.Token] = []
    for token in tokens:
        if out and out[-1].type == "ARG" and token.type == "BIG" and reductions.selects(token.text):
            out[-1] = tr.Token("BIG", f"arg{token.text}", out[-1].start, token.end)
        else:
            out.append(token)
    return out


def _cut_end(tokens: list[tr.Token]) -> list[tr.Token]:
    """Without ``, \\quad (2).`` at the end."""
    while tokens:
        kinds = [t.type for t in tokens[-4:]]
        if kinds[-1] in ("COMMA", "DOT", "SEMI", "QUAD"):
            tokens = tokens[:-1]
        elif kinds in (["QUAD", "LPAREN", "NUMBER", "RPAREN"], ["QUAD", "LPAREN", "STAR", "RPAREN"]):
            tokens = tokens[:-4]
        else:
            break
    return tokens


def _without_quads(tokens: list[tr.Token]) -> list[tr.Token]:
    """A wide space between two relations is a comma; one beside words or signs says nothing."""
    out: list[tr.Token] = []
    for n, token in enumerate(tokens):
        if token.type != "QUAD":
            out.append(token)
            continue
        if out and out[-1].type == "COMMA":
            out[-1] = replace(out[-1], text="quad")
        around = {t.type for t in (*tokens[max(n - 1, 0) : n], *tokens[n + 1 : n + 2])}
        both = _relates(out) and _relates(tokens[n:])
        behind_cases = {"END"} if both and out[-1].type == "END" else frozenset()
        if n and not around & (_AROUND_QUAD | {"QUAD"}) - behind_cases and _depth(tokens[:n]) == 0:
            out.append(tr.Token("COMMA", "quad", token.start, token.end) if both else token)
    return out


def _rows(tokens: list[tr.Token]) -> list[tr.Token]:
    """Two column signs, and one between two relations, are a comma: y = x && x > 0.

    In round brackets of an aligned formula a row that begins with a sign goes on with the one before.
    """
    out: list[tr.Token] = []
    row = 0  # where the row begins in out
    names: list[str] = []
    going_on, opened = False, 0
    for n, token in enumerate(tokens):
        if token.type in ("BEGIN", "END"):
            names = [*names, token.text] if token.type == "BEGIN" else names[:-1]
        depth = opened - len(names) if not names or names[-1] in ALIGNED else None  # brackets of the row
        opened += _depth([token])
        if going_on and token.type in ("AMP", "QUAD"):
            continue
        going_on = False
        if token.type == "CR" and names and depth:
            behind = [t.type for t in tokens[n + 1 : n + 4] if t.type not in ("AMP", "QUAD")]
            if going_on := behind[:1] in (["PLUS"], ["MINUS"]):
                continue
        row = len(out) + 1 if token.type in ("BEGIN", "CR") else row
        if token.type == "AMP" and depth == 0 and out and out[-1].type != "COMMA":
            cell = list(itertools.takewhile(lambda t: t.type not in ("AMP", "CR", "END"), tokens[n + 1 :]))
            cell += [t for t in tokens[n + len(cell) + 2 :][:1] if t.type == "REL"]  # b of a &= 1 & b &= 2
            opens = cell[0].type if cell else ""
            if _relates(out[row:]) and _relates(cell) and opens not in ("REL", "IN", "PLUS", "MINUS", "TIMES", "TEXT"):
                token = tr.Token("COMMA", "quad", token.start, token.end)
        out.append(token)
    return out


_HALF = {("LPAREN", "RBRACK"): "OPEN", ("RBRACK", "RBRACK"): "OPEN", ("LBRACK", "RPAREN"): "SHUT",
         ("LBRACK", "LBRACK"): "SHUT", ("RBRACK", "LBRACK"): "PAREN"}


def _intervals(tokens: list[tr.Token]) -> list[tr.Token]:
    """(0, 1], [0, 1) and ]0, 1[ behind ∈ as brackets of their own."""
    out = list(tokens)
    for n, token in enumerate(tokens):
        if token.type != "IN" or n + 1 == len(tokens):
            continue
        end = next((m for m in range(n + 2, len(tokens)) if tokens[m].type in _ENDS), n)
        half = _HALF.get((tokens[n + 1].type, tokens[end].type))
        if half is not None and [t.type for t in tokens[n + 2 : end]].count("COMMA") == 1:
            out[n + 1], out[end] = replace(out[n + 1], type=f"L{half}"), replace(out[end], type=f"R{half}")
    return out


_ENDS = frozenset("LPAREN RPAREN LBRACK RBRACK LBRACE RBRACE LSET RSET".split())


def _relates(tokens: list[tr.Token]) -> bool:
    return any(t.type in ("REL", "IN") for t in tokens)


def _depth(tokens: list[tr.Token]) -> int:
    return sum((t.type in CLOSING) - (t.type in _OPENING) for t in tokens)


def _paired(tokens: list[tr.Token], bar: str, sides: tuple[str, str], source: Source) -> list[tr.Token]:
    """Bars of one type open and close by turns between their brackets; one alone there is «given», as in D(p ‖ q)."""
    out = list(tokens)
    open_: list[list[int]] = [[]]

    def close() -> None:
        bars = open_.pop()
        if len(bars) > 1 and len(bars) % 2:
            raise source.error(tokens[bars[-1]].start, r"these bars do not pair; write \left| … \right|, or \mid")
        alone = len(bars) == 1 and (bar == "BAR" or bool(open_))
        for place, n in enumerate(bars):
            out[n] = replace(tokens[n], type="MID" if alone else sides[place % 2], text="|" if bar == "BAR" else "‖")

    for n, token in enumerate(tokens):
        if token.type == bar:
            open_[-1].append(n)
        elif token.type in CLOSING:
            open_.append([])
        elif token.type in _OPENING and len(open_) > 1:
            close()
    while open_:
        close()
    return out
