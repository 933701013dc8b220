"""The data card: how many rows of what, what was left out and why, how they were made, under which licence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from derive.layers.chain import Part, parse
from derive.layers.families import find
from derive.words import environment


class Counts:
    """What a run counts of its rows, one after another."""

    def __init__(self) -> None:
        self.rows = self.wrong = self.steps = 0
        self.layers, self.verdicts, self.mistakes = Counter[str](), Counter[str](), Counter[str]()
        self.rules, self.wordings, self.left = Counter[str](), Counter[str](), Counter[str]()
        self.wrongs = Counter[int]()

    def of(self, lines: Iterable[Any]) -> Iterable[dict[str, Any]]:
        """The rows among the lines of a journal, counted as they pass."""
        for line in lines:
            if "row" in line:
                self._count(line["row"])
                yield line["row"]
            else:
                self.left[line["why"]] += 1

    def _count(self, row: dict[str, Any]) -> None:
        self.rows += 1
        self.layers.update({*_names(parse(row["layer"]))})
        claims = [line for line in row["solution"] if line["verdict"]]
        self.steps += len(claims)
        self.verdicts.update(line["verdict"] for line in claims)
        self.rules.update({rule for line in claims for rule in line["rules"]})
        self.wordings.update(question["wording"] for question in row["questions"])
        self.mistakes.update(wrong["mistake"] for wrong in row["wrong"])
        self.wrongs[len(row["wrong"])] += 1
        self.wrong += len(row["wrong"])

    def card(self, seed: int, name: str, version: str) -> str:
        """The card as Markdown."""
        tables = {what: sorted(counter.items(), key=lambda pair: (-pair[1], pair[0])) for what, counter in (
            ("layers", self.layers), ("verdicts", self.verdicts), ("mistakes", self.mistakes), ("rules", self.rules),
            ("wordings", self.wordings), ("left", self.left))}
        text = environment("en").get_template("dataset.md.j2").render(
            rows=self.rows, wrong=self.wrong, steps=self.steps, seed=seed, name=name, version=version,
            wrongs=sorted(self.wrongs.items()), kinds=len(self.layers), **tables)
        return text.rstrip("\n") + "\n"


def _names(parts: Iterable[Part]) -> Iterable[str]:
    """The layers of a chain, those within others too; a function of the row's own is none of the catalogue's."""
    for part in parts:
        yield "(a function of the row's own)" if "function" in part.given else find(part.name).name
        for inner in (*part.plain, *part.given.values()):
            if isinstance(inner, tuple) and all(isinstance(p, Part) for p in inner):
                yield from _names(inner)
