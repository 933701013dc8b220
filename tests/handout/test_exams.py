"""Exams with variants: everyone's own, solved; the same bytes for the same seed; numbers as NumPy computes them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import derive.cache
from derive.card import Card
from derive.cli import main
from derive.commands import exams as making
from derive.errors import VerificationError
from derive.handout import MODES
from derive.handout.pieces import Piece, Task, as_json, from_json, piece
from derive.render.pdf import engine
from derive.variants import drawn
from tests.bank import ROOT, VARIED

HOSTILE = "=cmd|' {\\input{/etc/passwd}} $x_1$ ^^M & 50% #1 ~"
ROSTER = f'name,id\nAda Lovelace,17\nKarel Čapek,18\n"{HOSTILE}",19\n'
COMMAND = ("handout", str(ROOT / "cards" / "variants"), "--seed", "7", "-j", "2")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, [*COMMAND, *arguments])


@pytest.fixture(scope="module", autouse=True)
def cache_of_this_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    place = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derive.cache, "folder", lambda: place)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place: Path = tmp_path_factory.mktemp("exams")
    (place / "names.csv").write_text(ROSTER, "utf-8")
    found = run("--roster", str(place / "names.csv"), "--variants", "5", "-o", str(place / "exam.tex"))
    assert found.exit_code == 0, found.output
    assert f"{place / 'exam.csv'}: 5 exams of 5 questions, 22 points; " in found.stdout
    return place


def rows(place: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((place / "exam.csv").read_text("utf-8"))))


def test_everyone_has_an_exam_in_the_order_of_the_roster_and_some_are_spare(made: Path) -> None:
    text = (made / "exam.tex").read_text("utf-8")
    assert re.findall(r"\\startpaper\{(\d)\}\{(.*)\}", text)[:2] == [("1", "Ada Lovelace"), ("2", "Karel Čapek")]
    assert re.findall(r"\\startpaper\{(\d)\}\{\}", text) == ["4", "5"] and text.count("Name:") == 2 and text.count("ID 1") == 3
    assert text.count(r"\begin{questions}") == text.count("\n\\finishpaper") == 5 and text.count(r"\question[") == 25


def test_a_name_is_text_and_no_spreadsheet_computes_it(made: Path) -> None:
    text = (made / "exam.tex").read_text("utf-8")
    assert r"\input{" not in text and "^^M" not in text and "$x_1$" not in text and r"\{\textbackslash{}input\{" in text
    assert {r["name"] for r in rows(made)} == {"Ada Lovelace", "Karel Čapek", "'" + HOSTILE, ""}


def test_the_table_says_who_has_what(made: Path) -> None:
    found = rows(made)
    assert [(r["exam"], r["question"]) for r in found] == [(str(e), str(q)) for e in range(1, 6) for q in range(1, 6)]
    cards = {Card.read(path).id: Card.read(path) for path in VARIED}
    for row in found:
        variant = drawn(cards[row["card"]], 7, int(row["variant"]))
        assert row["choices"] == "; ".join(f"{name} = {text}" for name, text in variant.choices)
        assert variant.card.asked[0].split(".")[0].split("$$")[0].split("\n")[0][:20] in (made / "exam.tex").read_text("utf-8")
    variants = [int(r["variant"]) for r in found if r["card"] == "relu_network_numbers"]
    assert variants == [1, 2, 3, 4, 6]  # the fifth has a kink: all are of those that can be solved


def test_the_same_seed_gives_the_same_exams_in_every_mode_and_another_gives_others(made: Path, tmp_path: Path) -> None:
    roster = ("--roster", str(made / "names.csv"), "--variants", "5")
    for mode in ("", "--solutions", "--key", "--marking"):
        assert run(*roster, *([mode] if mode else []), "-o", str(tmp_path / "exam.tex")).exit_code == 0
        assert (tmp_path / "exam.csv").read_bytes() == (made / "exam.csv").read_bytes()
        same = (tmp_path / "exam.tex").read_bytes() == (made / "exam.tex").read_bytes()
        assert same == (not mode)
    marking = (tmp_path / "exam.tex").read_text("utf-8")
    assert marking.count("and its value") > 15 and marking.count("Typical mistakes") == 25
    assert run(*roster, "--seed", "8", "-o", str(tmp_path / "exam.tex")).exit_code == 0
    assert (tmp_path / "exam.csv").read_bytes() != (made / "exam.csv").read_bytes()


def numbers(text: str) -> dict[str, Any]:
    return {name: np.array(ast.literal_eval(value)) for name, value in (part.split(" = ", 1) for part in text.split("; "))}


def pooled(X: Any, kernel: int, stride: int, upstream: Any) -> tuple[Any, Any]:
    out, back = np.zeros(upstream.shape), np.zeros(X.shape)
    for k, l in np.ndindex(*upstream.shape):
        window = X[k * stride : k * stride + kernel, l * stride : l * stride + kernel]
        i, j = np.unravel_index(window.argmax(), window.shape)
        out[k, l] = window.max()
        back[k * stride + i, l * stride + j] += upstream[k, l]
    return out, back


def test_the_answers_are_what_numpy_computes(made: Path) -> None:
    seen = 0
    for row in rows(made):
        match row["card"]:
            case "pooling_numbers":
                windows, rest = row["choices"].split("; ", 1)
                given, answer = numbers(rest), numbers(row["answers"])
                kernel, stride = (2, 2) if r"2 \times 2" in windows else (3, 1)
                expected = dict(zip(("Y", "∂L/∂X"), pooled(given["values.X"], kernel, stride, given["values.delta"]), strict=True))
            case "cross_entropy_numbers":
                given, answer = numbers(row["choices"]), numbers(row["answers"])
                p = np.exp(given["values.s"]) / np.exp(given["values.s"]).sum()
                expected = {"p": p, "ℓ": -np.log(p @ given["values.t"]), "∂ℓ/∂s": p - given["values.t"]}
            case "relu_network_numbers":
                given, answer = numbers(row["choices"]), numbers(row["answers"])
                W, b, v, x = (given[f"values.{n}"] for n in "Wbvx")
                z = W @ x + b
                mask = z > 0
                expected = {"z": z, "h": z * mask, "y": v @ (z * mask), "∂y/∂W": np.outer(v * mask, x), "∂y/∂v": z * mask, "∂y/∂x": W.T @ (v * mask)}
            case _:
                continue
        seen += 1
        assert answer.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(answer[name], value, atol=5.1e-5, err_msg=f"{row['card']} {row['variant']} {name}")
    assert seen == 15


def test_what_is_kept_of_a_card_is_all_of_it() -> None:
    card = drawn(Card.read(VARIED[0]), 1, 1).card
    found = piece(Task(card.text, None, MODES))
    assert from_json(json.loads(json.dumps(as_json(found)))) == found and found.questions["space"]["text"].startswith("A classifier")
    again = from_json(json.loads(json.dumps(as_json(found)))).questions["key"]["answer"]
    assert type(again) is type(found.questions["key"]["answer"])


def pages(pdf: Path) -> Iterator[str]:
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    yield from text.split("\f")[:-1]


@pytest.mark.skipif(engine() is None or shutil.which("pdftotext") is None, reason="no TeX, or no pdftotext")
def test_each_exam_begins_on_a_sheet_of_its_own_with_its_own_pages(made: Path, tmp_path: Path) -> None:
    for n in (1, 2):
        found = run("--roster", str(made / "names.csv"), "--variants", "5", "-o", str(tmp_path / f"{n}.pdf"))
        assert found.exit_code == 0, found.output
    assert (tmp_path / "1.pdf").read_bytes() == (tmp_path / "2.pdf").read_bytes()
    found = list(pages(tmp_path / "1.pdf"))
    heads = [n for n, page in enumerate(found) if "Reached" in page]
    assert len(heads) == 5 and all(n % 2 == 0 for n in heads)
    for exam, (start, stop) in enumerate(zip(heads, [*heads[1:], len(found)], strict=True), 1):
        feet = [" ".join(page.split("\n")[-2].split()) for page in found[start:stop] if page.strip()]
        count = len(feet)
        assert [foot.split()[-1] for foot in feet] == [f"{n}/{count}" for n in range(1, count + 1)], feet
        assert all(foot.startswith(f"Exam {exam} ") for foot in feet)


@pytest.mark.skipif(engine() is None or shutil.which("pdftotext") is None, reason="no TeX, or no pdftotext")
@pytest.mark.parametrize("mode", ["key", "marking"])
def test_each_page_says_which_of_how_many_it_is(mode: str, tmp_path: Path) -> None:
    assert run("--variants", "6", f"--{mode}", "-o", str(tmp_path / "a.pdf")).exit_code == 0
    feet = [re.findall(r"Exam (\d).* (\d+) ?/ ?(\d+)$", page.rstrip())[-1] for page in pages(tmp_path / "a.pdf")]
    counts = {exam: sum(foot[0] == exam for foot in feet) for exam in "123456"}
    assert feet == [(exam, str(n), str(counts[exam])) for exam in "123456" for n in range(1, counts[exam] + 1)]


SQUARE = "---\nid: {id}\n{header}---\n# Question\n(2p) Let $y = {formula}$. Take $x = (1, 2)$. Compute $y$ and $\\partial y/\\partial x$.\n"


def cli(place: Path, *arguments: str) -> Any:
    return CliRunner().invoke(main, ["handout", str(place), "--no-cache", "-j", "1", *arguments, "-o", str(place / "a.tex")])


def test_what_cannot_be_solved_is_left_out_or_refused(tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text(SQUARE.format(id="q", header="vary_c: [1, 2]\n", formula=r"\sum_i \max(x_i, {{c}})"), "utf-8")
    found = cli(tmp_path, "--variants", "4")
    assert found.exit_code == 2 and "q.md:6: " in found.stderr and "variants cannot be solved: " in found.stderr
    assert not (tmp_path / "a.tex").exists()
    (tmp_path / "q.md").write_text(SQUARE.format(id="q", header="vary_c: [1, 5]\n", formula=r"\sum_i \max(x_i, {{c}})"), "utf-8")
    found = cli(tmp_path, "--variants", "4")
    assert found.exit_code == 0 and "left out: at the numbers of the question the layer is not differentiable" in found.stderr
    assert {r.split(",")[5] for r in (tmp_path / "a.csv").read_text("utf-8").splitlines()[1:]} != {"1", "2", "3", "4"}
    assert (tmp_path / "a.csv").read_text("utf-8").count("c = 5") == 4


def test_a_card_without_choices_is_the_same_for_all_and_keeps_its_own_solution(tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text(SQUARE.format(id="q", header="", formula=r"\sum_i x_i^2"), "utf-8")
    (tmp_path / "r.md").write_text("---\nid: r\n---\n# Question\nWhy?\n# Solution\nBecause.\n", "utf-8")
    found = cli(tmp_path, "--variants", "2", "--solutions")
    assert found.exit_code == 0 and "not solved, the card keeps what it has" in found.stderr
    assert (tmp_path / "a.tex").read_text("utf-8").count("Because.") == 2
    assert [r.split(",")[5] for r in (tmp_path / "a.csv").read_text("utf-8").splitlines()[1:]] == [""] * 4


def test_without_variants_open_choices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text(SQUARE.format(id="q", header="vary_c: [1, 2]\n", formula=r"{{c}} \sum_i x_i"), "utf-8")
    found = cli(tmp_path)
    assert found.exit_code == 2 and "q.md:3: `c` is left open" in found.stderr


def test_answers_that_a_guess_finds_are_told(tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text(SQUARE.format(id="q", header="vary_c: [0, 2]\n", formula=r"\sum_i {{c}} x_i^2"), "utf-8")
    found = cli(tmp_path, "--variants", "8")
    zeros = [n for n, row in enumerate((tmp_path / "a.csv").read_text("utf-8").splitlines()[1:], 1) if "c = 0" in row]
    assert found.exit_code == 0 and f"an answer is all zeros in {len(zeros)} of 8 exams ({', '.join(map(str, zeros[:3]))}" in found.stderr


def test_more_names_than_exams(made: Path) -> None:
    found = run("--roster", str(made / "names.csv"), "--variants", "2", "-o", str(made / "b.tex"))
    assert found.exit_code == 2 and "`--variants 2`, and 3 names on the roster" in found.output


def test_a_refuted_variant_stops_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuted(task: Task) -> Piece:
        raise VerificationError("jacobian: refuted")

    monkeypatch.setattr(making, "piece", refuted)
    (tmp_path / "q.md").write_text(SQUARE.format(id="q", header="vary_c: [1, 2]\n", formula=r"{{c}} \sum_i x_i"), "utf-8")
    found = cli(tmp_path, "--variants", "2", "--timeout", "0")
    assert found.exit_code == 1 and "variant 1 (c = " in found.stderr and "refuted" in found.stderr
