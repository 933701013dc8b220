r"""What a card says, as front matter: printed, written into the card, given from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import derive
from derive.card import Card
from derive.cli import main
from derive.question import module_of
from derive.reading import statement_read
from derive.statement import Statement, written_into

CARD = "---\nid: q\ntags:\n  - a\n---\n\n# Question\nConsider $y_k = \\max(s_k, a s_k)$ with the trainable slope $a$. Derive all messages.\n"
OPEN = "---\nid: q\n---\n# Question\nDerive the backward message of max pooling.\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=text)


def test_it_is_printed_with_its_sources_beside_it() -> None:
    Path("q.md").write_text(CARD)
    result = run("read", "q.md")
    assert result.exit_code == 0
    assert result.stdout == r"""forward:
  - 'y_{k} = \max(s_{k}, a s_{k})'
inputs: [s]
parameters: [a]
shapes:
  - 's \in \mathbb{R}^{n}'
  - 'y \in \mathbb{R}^{n}'
derive: [forward, backward, parameters]
"""
    assert "forward: layer (line 8: $y_k = \\max(s_k, a s_k)$)\n" in result.stderr
    assert "parameters: parameter `a` (line 8: “" in result.stderr


def test_what_is_written_into_the_card_is_the_same_layer() -> None:
    Path("q.md").write_bytes(CARD.replace("\n", "\r\n").encode())
    before = module_of(Card.read("q.md"))
    assert run("read", "q.md", "--write").exit_code == 0
    data = Path("q.md").read_bytes()
    assert data.startswith(b"---\r\nid: q\r\ntags:\r\n  - a\r\nforward:\r\n  - 'y_{k} = ")
    assert data.endswith(CARD.partition("\n---\n")[2].replace("\n", "\r\n").encode())
    assert data.count(b"\n") == data.count(b"\r\n")
    after = module_of(Card.read("q.md"))
    assert (after.equations, after.parameters, {*after.asked, "jacobian"}) == (
        before.equations, before.parameters, {*before.asked, "jacobian"})
    assert run("read", "q.md", "--write").exit_code == 0
    assert Path("q.md").read_bytes() == data


def test_what_is_open_is_listed_and_nothing_written() -> None:
    Path("q.md").write_text(OPEN)
    result = run("read", "q.md", "--write")
    assert result.exit_code == 2
    assert "open: q.md:5: the window's size is not stated" in result.stderr
    assert Path("q.md").read_text() == OPEN
    found = json.loads(run("read", "q.md", "--format", "json").stdout)
    assert [(o["key"], o["choices"]) for o in found["open"]] == [("kernel_size", ["kernel_size: 2"])]


def test_json_has_the_items_and_their_sources() -> None:
    Path("q.md").write_text(CARD)
    found = json.loads(run("read", "q.md", "--format", "json").stdout)
    assert found["statement"]["parameters"] == ["a"]
    assert found["sources"]["forward"][0]["line"] == 8
    assert found["open"] == []


def test_out_of_scope_exits_with_3() -> None:
    Path("q.md").write_text("---\nid: q\n---\n# Question\nDescribe the history of perceptrons.\n")
    result = run("read", "q.md")
    assert result.exit_code == 3, result.output


def test_own_keys_stay_as_they_are() -> None:
    card = Card.parse("---\nid: q\nlayers: linear -> relu\nparameters: [W]\n---\n# Question\nDerive the backward message.\n")
    statement, error = statement_read(card)
    assert error is None
    assert statement == Statement(layers="linear -> relu", parameters=["W"], derive=["backward"])


@pytest.mark.parametrize(("front", "statement", "expected"), [
    ("id: q\nparameters: [a] # no\n# c\ntags:\n- x\n", Statement(parameters=["b"]), "id: q\nparameters: [b]\n# c\ntags:\n- x\n"),
    ("id: q\nforward:\n  - 'a = b'\n  # c\n\nx: 1\n", Statement(forward=["a = d"]), "id: q\nforward:\n  - 'a = d'\n  # c\n\nx: 1\n"),
    ("id: q\nparameters:\nx: 1\n", Statement(parameters=["b"]), "id: q\nparameters: [b]\nx: 1\n"),
    ("id: q\nfacts: [\n  a > 0,\n  b > 0 ]\n", Statement(facts=["c"]), "id: q\nfacts: [c]\n"),
    ("id: q\nstride:   3\n", Statement(stride=3, loss="E"), "id: q\nstride:   3\nloss: E\n"),
])  # fmt: skip
def test_only_its_own_lines_change(front: str, statement: Statement, expected: str) -> None:
    rest = "---\n\n# Question\nDerive. \u2028 x\n"
    assert written_into(Card.parse(f"---\n{front}{rest}"), statement) == f"---\n{expected}{rest}"


def test_a_statement_from_elsewhere_counts_and_says_what_is_not_on_the_card() -> None:
    Path("q.md").write_text(OPEN)
    text = "---\nforward:\n  - 'y_k = x_k^2'\nderive: [backward]\n---\n"
    result = run("solve", "q.md", "--statement", "-", "--format", "md", text=text)
    assert result.exit_code == 0
    sheet = Path("output/q.md").read_text()
    assert "not on the card, from standard input: $y_k = x_k^2$" in sheet
    assert "standard input counts over the question's words: `forward` (line 3)" in sheet
    Path("s.yaml").write_text("derive: [backwrd]\nforward: 'y_k = x_k^2'\n")
    assert "s.yaml:1: `derive: backwrd`: did you mean `backward`?" in run("solve", "q.md", "--statement", "s.yaml").stderr
    assert run("solve", "q.md", "--statement", "-", text="tags: [x]\n").exit_code == 2


def test_an_open_card_names_the_command() -> None:
    Path("q.md").write_text(OPEN)
    result = run("solve", "q.md")
    assert result.exit_code == 2
    assert "`derive read q.md` lists what is understood" in result.stderr


def test_a_formula_on_the_command_line() -> None:
    result = run("solve", "--formula", r"y_k = \max(s_k, a s_k)", "--parameters", "a", "--detail", "short")
    assert result.exit_code == 0
    assert "∂y_k/∂a" in result.stdout
    assert run("solve").exit_code == 2
    assert run("solve", "--parameters", "W").stderr == "`--parameters` stands with `--formula` or `--statement`\n"


def test_from_python() -> None:
    assert derive.solve(formula=r"y_k = \max(0, x_k)").report.ok
    solution = derive.solve(derive.Statement(forward=[r"y = \sum_k w_k x_k"], parameters=["w"]))
    assert solution.report.ok and solution.card is None
    assert solution.module.asked == ("vjp", "parameters")
    with pytest.raises(derive.CardError, match="needs `forward` or `layers`"):
        derive.solve(derive.Statement())
