"""Random small layers of vectors and matrices, each written in the styles that textbooks have, and their values."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

import numpy as np

SIZES = {"n": 3, "m": 2, "p": 4}
STYLES = ("limits", "indices", "bold", "vectors", "declared", "plain", "rows", "transposed", "labels", "layers")
FUNCTIONS = {r"\tanh": np.tanh, r"\exp": np.exp, r"\sin": np.sin}


@dataclass(frozen=True)
class Letter:
    """``shape`` holds names of sizes; ``label`` is a script that is part of the name."""

    base: str
    shape: tuple[str, ...]
    label: str = ""  # "_a", "_{xh}", "^{(1)}"

    @property
    def key(self) -> str:
        return self.base + self.label


@dataclass(frozen=True)
class Node:
    """op: letter, apply, odot, gate ((1 − z) ⊙ x), scale, over (x / a), along ((u^⊤x) v), mix (a x + (1 − a) z), act (matrix on
    vector), dot, outer, plus, minus, shift (by a number), clip (max with 0), square, softmax."""

    op: str
    shape: tuple[str, ...]
    parts: tuple[Node, ...] = ()
    letter: Letter | None = None
    name: str = ""


@dataclass
class Layer:
    """Definitions in order; ``given`` are the letters that none defines."""

    definitions: list[tuple[Letter, Node]] = field(default_factory=list)
    given: list[Letter] = field(default_factory=list)


def value(node: Node, of: dict[str, np.ndarray]) -> np.ndarray:
    parts = [value(p, of) for p in node.parts]
    match node.op:
        case "letter":
            return of[node.letter.key]
        case "apply":
            return FUNCTIONS[node.name](parts[0])
        case "clip":
            return np.maximum(0, parts[0])
        case "softmax":
            return np.exp(parts[0]) / np.sum(np.exp(parts[0]))
        case "odot" | "scale":
            return parts[0] * parts[1]
        case "gate":
            return (1 - parts[0]) * parts[1]
        case "over":
            return parts[1] / parts[0]
        case "along":
            return (parts[0] @ parts[1]) * parts[2]
        case "mix":
            return parts[0] * parts[1] + (1 - parts[0]) * parts[2]
        case "minus":
            return parts[0] - parts[1]
        case "act" | "dot":
            return parts[0] @ parts[1]
        case "outer":
            return np.outer(parts[0], parts[1])
        case "plus" | "shift":
            return sum(parts[1:], parts[0])
        case "square":
            return np.sum(parts[0] ** 2)
    raise AssertionError(node.op)


class _Maker:
    def __init__(self, rng: random.Random, style: str) -> None:
        self.rng, self.style, self.layer = rng, style, Layer()
        self.labels = style if style in ("labels", "layers") else ""
        self.capitals, self.smalls = list("WUVAM"), [*list("xbgucvw"), r"\beta", r"\gamma"]
        self.scalars = ["a", r"\alpha", "r"]
        self.heads = list("hyzsfq")
        for names in (self.capitals, self.smalls, self.scalars, self.heads):
            rng.shuffle(names)

    def letter(self, names: list[str], shape: tuple[str, ...], kind: str) -> Letter:
        base = names.pop()
        label = ""
        if kind and shape and self.rng.random() < 0.7:  # α_1 may be an entry of α
            labels = {"labels": ["_a", "_g", "_{xh}", "_{hh}", "_H", r"_{\mathrm{in}}", r"_{\text{out}}", "_1", "_2", "_0"],
                      "layers": ["^{(1)}", "^{(2)}", "^{[1]}"]}[kind]
            label = self.rng.choice(labels)
        return Letter(base, shape, label)

    def given(self, names: list[str], shape: tuple[str, ...]) -> Node:
        letter = self.letter(names, shape, self.labels)
        self.layer.given.append(letter)
        return Node("letter", shape, letter=letter)

    def vector(self, size: str) -> Node:
        known = [head for head, _ in self.layer.definitions if head.shape == (size,)]
        if known and self.rng.random() < 0.6:
            return Node("letter", (size,), letter=self.rng.choice(known))
        return self.given(self.smalls, (size,))

    def term(self, size: str, source: Node | None) -> Node:
        """A vector along ``size``; of ``source`` where that is not None."""
        rng = self.rng
        if source is None:
            source = self.vector(rng.choice(list(SIZES)))
        if source.shape != (size,) or rng.random() < 0.5:
            return self.acting(size, source)
        if self.scalars and rng.random() < 0.3:
            op = rng.choice(("scale", "scale", "over", "mix"))
            others = (self.vector(size),) if op == "mix" else ()
            return Node(op, (size,), (self.given(self.scalars, ()), source, *others))
        if len(self.smalls) > 4 and self.style != "plain" and rng.random() < 0.15:  # a plain w of (u^⊤x) w is a number
            return Node("along", (size,), (self.given(self.smalls, (size,)), source, self.given(self.smalls, (size,))))
        return Node(rng.choice(("odot", "odot", "gate")), (size,), (self.vector(size), source))

    def acting(self, size: str, source: Node) -> Node:
        """W x, W (x + z) or (W + u v^⊤) x."""
        matrix = self.given(self.capitals, (size, *source.shape))
        if len(self.smalls) > 4 and self.rng.random() < 0.15:
            source = Node("plus", source.shape, (source, self.given(self.smalls, source.shape)))
        elif len(self.smalls) > 4 and self.style not in ("rows", "transposed") and self.rng.random() < 0.1:
            outer = Node("outer", matrix.shape, tuple(self.given(self.smalls, (s,)) for s in matrix.shape))
            matrix = Node("plus", matrix.shape, (matrix, outer))
        return Node("act", (size,), (matrix, source))

    def definition(self, source: Node | None) -> Node:
        rng = self.rng
        size = rng.choice(list(SIZES))
        node = self.term(size, source)
        if rng.random() < 0.5:
            if rng.random() < 0.25 and self.scalars and self.style != "plain":  # b of W x + b is a vector there
                node = Node("shift", (size,), (node, self.given(self.scalars, ())))
            others = [self.vector(size) if rng.random() < 0.7 or len(self.capitals) < 2 else self.term(size, None)]
            node = Node("minus" if rng.random() < 0.3 else "plus", (size,), (node, *others))
        if rng.random() < 0.6:
            name = rng.choice([*FUNCTIONS, "clip", "softmax"])
            node = Node("apply", node.shape, (node,), name=name) if name in FUNCTIONS else Node(name, node.shape, (node,))
        return node

    def make(self) -> Layer:
        source: Node | None = None
        for _ in range(self.rng.choice((1, 1, 2))):
            body = self.definition(source)
            head = self.letter(self.heads, body.shape, self.labels if self.labels == "layers" else "")
            self.layer.definitions.append((head, body))
            source = Node("letter", head.shape, letter=head)
        if self.rng.random() < 0.3:
            end = Node("square", (), (source,)) if self.rng.random() < 0.5 else Node(
                "dot", (), (self.given(self.smalls, source.shape), source))
            self.layer.definitions.append((Letter("L", ()), end))
        return self.layer


def layer(rng: random.Random, style: str) -> Layer:
    """A layer that can be written in the style: small letters without any mark are numbers where no matrix stands."""
    while True:
        made = _Maker(rng, style).make()
        if style != "plain" or any(len(letter.shape) == 2 for letter in made.given):
            return made


class _Writer:
    """One style; ``turned`` are the letters that stand transposed in it."""

    def __init__(self, rng: random.Random, style: str, of: Layer) -> None:
        self.rng, self.style, self.of = rng, style, of
        if style in ("labels", "layers"):
            numbered = any(letter.label[-1:].isdigit() for letter in of.given)  # x_{1,j} may be an entry of x
            self.faces = rng.choice(("bold", "vectors", "declared", "vectors" if numbered else "indices"))
        else:
            self.faces = {"rows": "bold", "transposed": "bold", "limits": "indices"}.get(style, style)
        self.bold = rng.choice((r"\mathbf{%s}", r"\boldsymbol{%s}", r"\mathbf %s", r"\bm{%s}"))
        self.equals = rng.choice(("=", "=", ":=", r"\coloneqq", r"\equiv", r"\triangleq", r"\leftarrow", r"\approx"))
        self.times = rng.choice((r"\odot", r"\circ", "*", r"\otimes"))
        self.clip = rng.choice((r"\max(0, %s)", "[%s]_+", r"\left(%s\right)_+"))
        self.quotient = rng.choice((r"\frac{%s}{%s}", r"%s / %s"))
        self.turned: set[str] = set()
        self.letters = iter("jiltod")

    @staticmethod
    def less(left: str, right: str, subtracted: Node) -> str:
        return f"{left} - ({right})" if subtracted.op in ("plus", "minus", "shift", "mix") else f"{left} - {right}"

    def face(self, letter: Letter) -> str:
        if self.faces == "bold" and letter.shape or self.faces == "vectors" and len(letter.shape) == 1:
            return self.bold % letter.base + letter.label
        return letter.base + letter.label

    def entry(self, letter: Letter, at: tuple[str, ...]) -> str:
        if not at:
            return letter.key
        if letter.label.startswith("_"):
            label = letter.label[1:].strip("{}") if "{" in letter.label and "\\" not in letter.label else letter.label[1:]
            return f"{letter.base}_{{{label},{''.join(at)}}}"
        sub = "".join(at)
        return f"{letter.base}{letter.label}_{{{sub}}}" if self.rng.random() < 0.5 or len(sub) > 1 else (
            f"{letter.base}{letter.label}_{sub}")

    def index(self, node: Node, at: tuple[str, ...]) -> str:
        parts = node.parts
        match node.op:
            case "letter":
                return self.entry(node.letter, at)
            case "apply":
                return rf"{node.name}\left({self.index(parts[0], at)}\right)"
            case "clip":
                return self.clip % self.index(parts[0], at)
            case "outer":
                return f"{self.index(parts[0], at[:1])} {self.index(parts[1], at[1:])}"
            case "softmax":
                below, j = next(self.letters), next(self.letters)
                self.letters = itertools.chain([below], self.letters)
                above = self.index(parts[0], at)
                self.letters = itertools.chain([below], self.letters)
                sign = rf"\sum_{{{j}=1}}^{{{node.shape[0]}}}" if self.style == "limits" else rf"\sum_{j}"
                return rf"\frac{{\exp({above})}}{{{sign} \exp({self.index(parts[0], (j,))})}}"
            case "odot":
                return f"{self.index(parts[0], at)} {self.index(parts[1], at)}"
            case "gate":
                return f"(1 - {self.index(parts[0], at)}) {self.index(parts[1], at)}"
            case "scale":
                return f"{self.index(parts[0], ())} {self.index(parts[1], at)}"
            case "over":
                return rf"\frac{{{self.index(parts[1], at)}}}{{{self.index(parts[0], ())}}}"
            case "mix":
                a, x, z = self.index(parts[0], ()), *(self.index(p, at) for p in parts[1:])
                return f"{a} {x} + (1 - {a}) {z}"
            case "along":
                dot = self.index(Node("dot", (), parts[:2]), ())
                return f"({dot}) {self.index(parts[2], at)}"
            case "plus" | "shift":
                return " + ".join(self.index(p, at if p.shape else ()) for p in parts)
            case "minus":
                return self.less(*(self.index(p, at) for p in parts), parts[1])
        j = next(self.letters)
        size = parts[-1].shape[0]
        sign = rf"\sum_{{{j}=1}}^{{{size}}}" if self.style == "limits" else rf"\sum_{j}"
        if node.op == "square":
            return rf"{sign} {self.index(parts[0], (j,))}^2" if parts[0].op == "letter" else (
                rf"{sign} ({self.index(parts[0], (j,))})^2")
        matrix, vector = (f"({own})" if p.op == "plus" else own for p, own in zip(
            parts, (self.index(parts[0], (*at, j)), self.index(parts[1], (j,))), strict=True))
        return f"{sign} {matrix} {vector}"

    def whole(self, node: Node) -> str:
        parts = node.parts
        match node.op:
            case "letter":
                return self.face(node.letter)
            case "apply":
                return f"{node.name}({self.whole(parts[0])})"
            case "clip":
                return self.clip % self.whole(parts[0])
            case "outer":
                return rf"{self.whole(parts[0])} {self.whole(parts[1])}^\top"
            case "softmax":
                return rf"\operatorname{{softmax}}({self.whole(parts[0])})"
            case "odot":
                return f"{self.whole(parts[0])} {self.times} {self.whole(parts[1])}"
            case "gate":
                return f"(1 - {self.whole(parts[0])}) {self.times} {self.whole(parts[1])}"
            case "scale":
                return f"{self.whole(parts[0])} {self.whole(parts[1])}"
            case "over":
                return self.quotient % (self.whole(parts[1]), self.whole(parts[0]))
            case "mix":
                a, x, z = map(self.whole, parts)
                return f"{a} {x} + (1 - {a}) {z}"
            case "along":
                return rf"({self.whole(parts[0])}^\top {self.whole(parts[1])}) {self.whole(parts[2])}"
            case "minus":
                return self.less(*map(self.whole, parts), parts[1])
            case "plus" | "shift":
                return " + ".join(map(self.whole, parts))
            case "square":
                return rf"\|{self.whole(parts[0])}\|^2"
            case "dot":
                return rf"{self.whole(parts[0])}^\top {self.whole(parts[1])}"
        matrix, vector = (f"({self.whole(p)})" if p.op == "plus" else self.whole(p) for p in parts)
        if self.style == "rows":
            self.turned.add(parts[0].letter.key)
            return f"{vector} {matrix}"
        if self.style == "transposed":
            self.turned.add(parts[0].letter.key)
            return rf"{matrix}^\top {vector}"
        return f"{matrix} {vector}"

    def dressed(self, head: Letter, left: str, value: str) -> str:
        """The definition, in a box, over a brace, with a number or with the shape of what it defines."""
        whole = self.faces != "indices" and len(head.shape) == 1
        space = rf"\in \mathbb{{R}}^{{{head.shape[0]}}}" if whole else r"\tag{1}"
        return self.rng.choice((
            f"{left} {self.equals} {value}", rf"\boxed{{{left} {self.equals} {value}}}",
            rf"{left} {self.equals} \underbrace{{{value}}}_{{\text{{layer}}}}", f"{left} {self.equals} {value} {space}"))

    def formulas(self) -> list[str]:
        found = []
        for head, body in self.of.definitions:
            if self.faces == "indices":
                self.letters = iter("jiltod")
                at = ("k",) * len(head.shape)
                found.append(self.dressed(head, self.entry(head, at), self.index(body, at)))
            elif self.style == "rows" and body.op in ("dot", "square"):
                continue
            elif len(head.shape) == 1 and not head.label and self.rng.random() < 0.2:  # an entry of what is whole
                found.append(f"{self.face(head)}_k {self.equals} {self.rng.choice(('(%s)_k', '[%s]_k')) % self.whole(body)}")
            else:
                found.append(self.dressed(head, self.face(head), self.whole(body)))
        if self.faces == "declared":
            letters = [*self.of.given, *(h for h, _ in self.of.definitions)]
            sizes = {a.key: r" \times ".join(a.shape) for a in letters}
            declared = [rf"{self.face(a)} \in \mathbb{{R}}" + (f"^{{{sizes[a.key]}}}" if a.shape else "")
                        for a in letters if self.rng.random() < 0.8 or not a.shape]
            found = [*declared, *found]
        return found


def written(rng: random.Random, style: str, of: Layer) -> tuple[list[str], set[str]]:
    """The layer's formulas in a style, and the keys of the matrices that are transposed in it."""
    writer = _Writer(rng, style, of)
    return writer.formulas(), writer.turned


def values(rng: random.Random, of: Layer) -> dict[str, np.ndarray]:
    """Random values of all letters of the layer."""
    numbers = np.random.default_rng(rng.randrange(10**6))
    found = {letter.key: numbers.normal(size=[SIZES[s] for s in letter.shape]) for letter in of.given}
    for head, body in of.definitions:
        found[head.key] = value(body, found)
    return found


def indices(shape: tuple[int, ...]) -> itertools.product:
    return itertools.product(*map(range, shape))
