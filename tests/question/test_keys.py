"""Keys of the front matter: what is nearly one of ours is an error, what is the user's stays silent."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.question import KEYS, distance

QUESTION = """id: q1
kernel_size: 3
%s
---

# Question
Derive the backward message of max pooling, $f_{kl} = \\max_{(i,j) \\in \\Omega(k,l)} x_{ij}$.
"""


def solved(*lines: str) -> derive.Module:
    return derive.question.module_of(Card.parse("---\n" + QUESTION % "\n".join(lines), "q.md"))


@pytest.mark.parametrize(("written", "meant"), [
    ("strides", "stride"), ("strid", "stride"), ("stirde", "stride"), ("Stride", "stride"), ("kernal_sise", "kernel_size"),
    ("kernel-size", "kernel_size"), ("kernelsize", "kernel_size"), ("leyer", "layer"), ("paddings", "padding"),
    ("dilatation", "dilation"), ("tie-rule", "tie_rule"), ("tierule", "tie_rule"), ("parameter", "parameters"),
    ("paramters", "parameters"), ("constant", "constants"), ("imputs", "inputs"), ("input-size", "input_size"),
    ("codes", "code"), ("point", "points"), ("difficulity", "difficulty"), ("norms", "norm"),
])  # fmt: skip
def test_a_near_miss_is_an_error_with_its_line(written: str, meant: str) -> None:
    with pytest.raises(derive.CardError) as error:
        solved(f"{written}: 1")
    assert str(error.value) == f"q.md:4: unknown key `{written}`; did you mean `{meant}`?"


def test_all_near_misses_are_named_at_once() -> None:
    with pytest.raises(derive.CardError) as error:
        solved("strides: 1", "title: t", "paddng: 0")
    assert [p.line for p in error.value.problems] == [4, 6]


@pytest.mark.parametrize("key", [
    "mode", "node", "input", "later", "output", "kernel", "size", "level", "chapter", "lecture", "duration", "citation",
    "contents", "constraints", "relation", "form", "core", "input_file", "player", "oracle", "expect",
    # Obsidian and its plug-ins
    "tags", "tag", "aliases", "alias", "cssclasses", "cssclass", "publish", "permalink", "description", "image", "cover",
    "sr-due", "sr-interval", "sr-ease", "status", "created", "updated", "modified", "date", "date created", "author", "source",
    "kanban-plugin", "excalidraw-plugin", "banner", "banner_y", "up", "down", "next", "prev", "parent", "related", "icon", "color",
    "due", "done", "priority", "rating", "topic", "subject", "week", "citekey", "doi", "url", "dg-publish", "longform", "mathLink",
    "uid", "uuid", "Title", "titles", "courses", "types", "deck", "cards-deck", "position", "category", "draft", "weight", "lang",
    "linter-yaml-title-alias", "BC-list-note-field", "location", "completed", "layout", "note", "notes", "order",
])  # fmt: skip
def test_other_keys_are_the_user_s(key: str) -> None:
    assert solved(f"{key}: 1").inputs == ("x",)


def test_no_two_keys_are_near_each_other() -> None:
    assert [(a, b) for a in KEYS for b in KEYS if a < b and distance(a, b) < 3] == [("layer", "layers")]


@pytest.mark.parametrize(("a", "b", "count"), [("", "ab", 2), ("ab", "ab", 0), ("ab", "ba", 1), ("abc", "ca", 3), ("later", "layer", 1)])
def test_distance(a: str, b: str, count: int) -> None:
    assert distance(a, b) == distance(b, a) == count
