"""What sentences have said so far: values by letter and by noun, the formulas of the card, the input and the target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.trees import sides, statements
from derive.notation.symbols import SymbolTable, latex_of, name_of
from derive.notation.tree import base_of, normal
from derive.question.letters.naming import labelled
from derive.question.sentences.actions import Say
from derive.question.sentences.tokens import Token
from derive.question.told.values import Axis, Misread, Unread, Value, space

LAST = frozenset(("current", "output", "scores", "logits", "preactivation", "activation", "prediction", "hidden",
                   "probabilities", "thing", "sum", "product", "branch"))
_FIRST = ("signal", "featuremap", "thing", "embedding")  # the input, where nothing has been said before
_FIXED = ("input", "target", "loss")  # what no layer makes
_MEMBERS = re.compile(r"([^=<>,]+?)\s*\\in\s*\\\{[^{}]*\\\}\s*\^\s*\{?([^{}]+)\}?")  # T ∈ {0, 1}^{N × K}
# of one sentence, or the same in all
_BETWEEN = ("formulas", "open_letters", "in_formulas", "table", "start", "before", "written_value", "words")
_KEYS = {Said.DEFINITION: "forward", Said.FUNCTION: "functions", Said.DECLARATION: "shapes", Said.RANGE: "ranges",
         Said.FACT: "facts"}


class Told:
    """The state of a telling; what its sentences do with it stands in the classes above."""

    def __init__(self, formulas: Iterable[Formula]) -> None:
        self.formulas = list(formulas)
        self.table: SymbolTable = gather(self.formulas)
        self.in_formulas = {s.name for s in gather(
            [f for f in self.formulas if Token("formula", "", 0, (f,)).equates]).symbols}
        defining = [f for f in self.formulas if _KEYS.get(kind_of(f)) == "forward"]
        self.open_letters = {s.name for s in gather(defining).symbols} - {n for f in defining for n in heads(f)}
        self.values: list[Value] = []
        self.letters: dict[str, Value] = {}
        self.nouns: dict[str, Value] = {}
        self.current: Value | None = None
        self.start: Value | None = None  # … before the sentence
        self.written_value: Value | None = None  # what the last formula of the sentence defines
        self.before: Value | None = None  # what “current” was before the sentence's subject
        self.input: Value | None = None
        self.target: Value | None = None
        self.loss: Value | None = None
        self.raw: dict[str, list[str]] = {"forward": [], "functions": [], "shapes": [], "ranges": [], "facts": []}
        self.roles: dict[str, str] = {}
        self.asks: list[Say] = []
        self.given: list[Any] = []
        self.batch: str | None = None
        self.batch_said = False  # whether its size was said
        self.depth: int | None = None  # the number of layers that a network is said to have
        self.explained: Value | None = None  # what a mask is still to be told of
        self.needs: dict[str, set[str]] = {}  # the letters in the formula of each
        self.words = (0, "")
        self.claimed: set[str] = set()  # what the words call the whole, and its formulas must do
        self.asked_in: list[tuple[int, str]] = []

    def seen(self) -> str:
        """All that has been told, as a text: two readings that tell the same have the same."""
        places = {id(value): n for n, value in enumerate(self.values)}

        def text(thing: Any) -> str:
            if isinstance(thing, Value):
                known = places.setdefault(id(thing), len(places))
                return f"v{known}"
            if isinstance(thing, dict):
                return str(sorted((key, text(value)) for key, value in thing.items() if key != "table"))
            if isinstance(thing, Say):
                return f"{thing.kind}({text(thing.of)})"
            return str([text(one) for one in thing]) if isinstance(thing, (tuple, list)) else str(thing)

        made = [text([v.letter, v.made, v.of, v.options, v.axes]) for v in self.values]
        return f"{made} {text({key: value for key, value in vars(self).items() if key not in _BETWEEN})}"

    def formula(self, formula: Formula) -> None:
        """A formula of the card counts as it stands."""
        key = _KEYS.get(kind_of(formula))
        if key is None:
            return
        latex = formula.latex.strip().rstrip(".,;").strip()
        if member := _MEMBERS.fullmatch(latex):
            key, latex = "shapes", rf"{member[1]} \in \mathbb{{R}}^{{{member[2]}}}"
        if latex in self.raw[key] or (key == "ranges" and not re.search(r"\\(?:le|leq|ldots|dots)|<", latex)):
            return
        self.raw[key].append(latex)
        if key != "forward":
            return
        names = {s.name for s in gather([formula]).symbols}
        for name in heads(formula):
            name = name if name in names or f"{name}_t" not in names else f"{name}_t"
            self.needs[name] = names - {name}
            value = self.letters.get(name) or self.new(latex_of(name), "formula")
            value.made, value.axes = "formula", self.axes_known(name)
            self.letters[name] = value
            self.current = self.written_value = value

    def axes_known(self, name: str) -> list[Axis] | None:
        known = self.table.named(name)
        if known is None or not (known.sizes or known.axes or name in self.in_formulas):
            return None
        sizes = [None if s is None else str(s) for s in known.sizes or ()]
        return [Axis("", size) for size in sizes] if len(sizes) == len(known.axes) else [Axis("") for _ in known.axes]

    # --- values ---------------------------------------------------------------------------------------------------

    def value(self, said: Any) -> Value:
        """The value that an expression names or makes."""
        raise NotImplementedError

    def through(self, value: Value, said: Any) -> Value:
        """The value behind layers."""
        raise NotImplementedError

    def new(self, letter: str | None, made: str | None, *of: Any, **options: Any) -> Value:
        value = Value(letter, made, of, options, words=self.words)
        self.values.append(value)
        if letter is not None:
            self.letters[name_of(letter)] = value
        return value

    def lettered(self, token: Token) -> Value:
        """The value of a letter of the card."""
        if not token.letters:
            raise Unread(f"`{token}`: which letter")
        latex = token.letters[0]
        name = name_of(latex)
        if self.table.named(f"{name}_t") is not None and self.table.named(name) is None:
            latex, name = latex_of(f"{name}_t"), f"{name}_t"  # one step of a recurrence
        if name not in self.letters:
            value = self.new(latex, None)
            value.axes = self.axes_known(name)
        return self.letters[name]

    def ref(self, noun: str | Say, token: Token | None = None) -> Value:
        noun = noun.kind if isinstance(noun, Say) else noun
        if token is not None:
            current = self.start if self.current is self.written_value else self.current
            if noun in LAST and current is not None and current.made is not None and (
                    name_of(token.letters[0]) not in self.letters):
                self.named(current, token)  # «the result $a$» of what has been told
            if noun == "input" and self.input is not None and self.input.letter is None and (
                    name_of(token.letters[0]) not in self.letters):
                self.named(self.input, token)
                self.input.axes = self.axes_known(name_of(token.letters[0]))
            value = self.lettered(token)
            if noun:
                self.nouns[noun] = value
            if noun == "data":
                if self.input not in (None, value):
                    raise Misread("two inputs")
                self.nouns["input"] = self.input = value
            if noun == "mask":
                self.roles[name_of(token.letters[0])] = "constants"
            if noun == "target":
                self.target = value
            if noun == "input" and value.made is None:
                self.input = value
            return value
        if noun == "data":
            return self.data()
        if noun == "target":
            self.target = self.target or self.new(None, None)
            return self.target
        if noun in ("input", "image"):
            return self.source()
        if noun in self.nouns:
            return self.nouns[noun]
        if noun in ("sum", "product") and (self.current is None or self.current.made != noun):
            raise Unread(f"“{noun}”")
        if noun in LAST and self.current is not None:
            return self.current
        if noun in (*_FIRST, "current") and self.current is None:
            self.nouns[noun] = self.source()
            return self.nouns[noun]
        raise Unread(f"“{noun or 'it'}”")

    def data(self) -> Value:
        """«a measurement vector», which is told for the first time: the input."""
        if "input" in self.nouns or self.input is not None and (self.input.letter or self.input.options):
            raise Misread("two inputs")
        self.nouns["input"] = self.source()
        return self.nouns["input"]

    def source(self) -> Value:
        """The input: the x of the card's formulas, where they have one that they do not define."""
        if self.input is None:
            name = next((name for name in ("x", "X") if name in self.open_letters), None)
            if name is None:
                self.input = self.new(None, None)
            else:
                self.input = self.letters.get(name) or self.new(latex_of(name), None)
                self.input.axes = self.input.axes or self.axes_known(name)
        return self.input

    def named(self, value: Value, token: Token) -> Value:
        """The value with a letter of the card, which nothing else has."""
        latex = token.letters[0]
        name = name_of(latex)
        other = self.letters.get(name)
        if value.letter is not None and name_of(value.letter) != name or other not in (None, value):
            if other is None or other.made is not None or value.letter is not None:
                raise Unread(f"${latex}$")
            self.values.remove(other)
        value.letter = latex
        self.letters[name] = value
        return value

    def begins(self, before: Value | None, found: Value) -> None:
        """The layer's input, which had no name so far, is what is told now."""
        if before is not None and before is not found:
            if before.letter is not None or found.made is not None or before not in self.values:
                raise Unread("two inputs")
            if size := before.options.get("size"):
                self.attribute_of_input(found, size)
            for other in self.values:
                other.of = tuple(found if v is before else v for v in other.of)
            self.values.remove(before)
            self.values.remove(found)
            self.values.insert(0, found)
        self.input = found

    def replaced(self, value: Value, new: Value) -> Value:
        """A value that had only a name so far is the new one."""
        if value.made is None and value is not self.input:
            if value in self.values:
                self.values.remove(value)
            if value.letter is not None:
                new.letter, self.letters[name_of(value.letter)] = value.letter, new
            self.nouns |= {key: new for key, other in self.nouns.items() if other is value}
        return new

    def verb_giving(self, value: Value, said: Any = None) -> Value:
        """The value with the name that it is given."""
        if isinstance(said, Say) and said.kind == "giving":
            letter = said[0] if isinstance(said[0], Token) else None
            noun = said[1].kind if isinstance(said[1], Say) else said[1]
            if noun in _FIXED:
                raise Unread(f"what gives the {noun}")
            if letter is not None:
                self.named(value, letter)
            if noun:
                self.nouns[noun] = value
        return value

    def attribute_of_input(self, value: Value, count: str) -> None:
        if value.options.setdefault("size", count) != count:
            raise Unread("two numbers of inputs")

    def shape(self, value: Value, token: Token) -> None:
        """«X of shape (N, D)»"""
        sizes = [size.strip() for size in token.formula.latex.strip().strip("()").split(",") if size.strip()]
        if value.letter is None or not all(size.isalnum() for size in sizes):
            raise Unread("a shape")
        latex = space(value.letter, [Axis("", size) for size in sizes]) or ""
        if latex not in self.raw["shapes"]:
            self.raw["shapes"].append(latex)
        value.axes = [Axis("", size) for size in sizes]

    def feature_map(self, letter: Token | None, channels: str, area: Any) -> Value:
        """The input with an axis of channels and two of pixels."""
        value = self.lettered(letter) if isinstance(letter, Token) else self.source()
        self.nouns["featuremap"] = value
        sizes = tuple(area.of) if isinstance(area, Say) else tuple(area.split("×")) if area else (None, None)
        if value.made is not None or value.axes is not None or len(sizes) != 2:
            raise Unread("a feature map")
        value.axes = [Axis("", size) for size in (channels, *sizes)]
        self.input = value
        return value

    def on_batch(self, said: Say) -> None:
        """A batch of samples, the rows of its letter."""
        letter, count, rows = (said[n] for n in range(3))
        count = count if isinstance(count, str) else None
        if self.batch_said and count not in (None, self.batch):
            raise Unread("two batches")
        self.batch = count or self.batch or "N"
        self.batch_said = self.batch_said or count is not None
        token = letter if isinstance(letter, Token) else rows[0] if isinstance(rows, Say) else None
        if token is not None:
            value = self.ref("input", token)
            if isinstance(said[3], Token):
                self.shape(value, said[3])
        if isinstance(said[4], Token):
            self.target = self.lettered(said[4])


def heads(formula: Formula, functions: bool = False) -> list[str]:
    """The letters that a formula defines, in their order."""
    return list(_heads(formula, functions))


def _heads(formula: Formula, functions: bool) -> Iterator[str]:
    for part in statements(formula.tree or ()):
        runs = sides(part)
        if len(runs) > 1 and runs[0]:
            item = runs[0][0]
            if getattr(base_of(item), "type", "") == "NAME" and (len(runs[0]) == 1 or functions):
                latex = labelled(normal(item))
                text = str(getattr(base_of(item), "text", ""))
                yield name_of(latex) if latex else text + "_prime" * getattr(item, "primes", 0)


def pairs(said: Any) -> Iterator[tuple[str, Any]]:
    """All pairs in what was said of a layer."""
    if isinstance(said, tuple) and len(said) == 2 and isinstance(said[0], str):
        yield said
    elif isinstance(said, Say) and said.kind in ("opts", "merged", "dense", "loss_of", "penalty"):
        for item in said.of:
            yield from pairs(item)
    elif isinstance(said, tuple):
        for item in said:
            yield from pairs(item)
