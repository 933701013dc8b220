"""Settings: the nearest at or above all that is named, each key and value known or an error at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import derive
from derive.errors import CardError
from derive.settings import Settings, settings_of

TIED = "---\nid: tied\nkernel_size: 2\n%s---\n# Question\nDerive the backward message of a max pooling layer with stride 2.%s\n"


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder / name


def test_the_nearest_file_counts_and_nothing_is_inherited(tmp_path: Path) -> None:
    written(tmp_path, "pyproject.toml", '[project]\nname = "bank"\n[tool.derive]\nformat = ["md", "html"]\noutput = "sheets"\n')
    near = written(tmp_path / "a" / "b", "card.md", "")
    written(tmp_path / "a", "pyproject.toml", "this is of [ another program")
    written(tmp_path / "a" / "b", "pyproject.toml", "[tool.black]\ntool = 1").write_bytes(b"\xff")
    assert settings_of([near]) == Settings(format="md,html", output=tmp_path.resolve() / "sheets")
    written(tmp_path / "a" / "b", "derive.toml", 'language = "en"\n')
    assert settings_of([near, near.parent]) == Settings(language="en")
    assert settings_of([near, tmp_path / "c"]).format == "md,html"  # what is named has these alone in common
    assert settings_of([]) == Settings()


@pytest.mark.parametrize(("text", "words"), [
    ('detial = "full"', r"derive.toml:1: unknown setting `detial`; did you mean `detail`\?"),
    ('\ntie_rule = "frist"', r"derive.toml:2: unknown tie rule `frist`; did you mean `first`\?"),
    ('format = ["md", "docx"]', "unknown format `docx`"),
    ('language = "fr"', "unknown language `fr`; there are `cs`, `en`|did you mean"),
    ("detail = 3", "`detail` is a text in quotes"),
    ("detail = [\n}", "derive.toml:2: is no TOML"),
])
def test_what_is_no_setting_is_an_error_at_its_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CardError, match=words):
        settings_of([written(tmp_path, "derive.toml", text).parent])


@pytest.mark.parametrize("text", ['[tool]\nderive = {detail = "full"}', '[tool]\nderive.detail = "full"', '["tool"."derive"]\ndetail = "full"'])
def test_a_table_may_be_written_in_any_way_of_toml(text: str, tmp_path: Path) -> None:
    assert settings_of([written(tmp_path, "pyproject.toml", text)]) == Settings(detail="full")
    assert settings_of([written(tmp_path, "pyproject.toml", "tool = 3 # derive")]) == Settings()


def test_a_table_that_is_none_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, "pyproject.toml", "[tool]\nderive = 1 # tool.derive\n")
    with pytest.raises(CardError, match=r"write `\[tool.derive\]`"):
        settings_of([tmp_path])


@pytest.mark.parametrize(("key", "words", "rule"), [
    ("", "", "last"), ("tie_rule: first\n", "", "first"), ("", " At ties the gradient is split evenly.", "split")])
def test_a_usual_tie_rule_counts_where_the_card_says_none(key: str, words: str, rule: str) -> None:
    card = derive.Card.parse(TIED % (key, words))
    assert derive.solve(card, usual_tie_rule="last").module.tie_rule == rule
