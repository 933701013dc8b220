"""The grammar has no conflicts, and its kept table is the one that Lark makes of it."""

import json
import logging

import lark

from derive.notation import grammar


def test_no_conflicts(caplog):
    lark.logger.setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        grammar.made(grammar.GRAMMAR.read_text(encoding="utf-8"), debug=True)
    assert "conflict" not in caplog.text.lower()


def test_is_flat():
    text = grammar.GRAMMAR.read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line and not line.startswith("//")]) < 20


def test_kept_table_is_the_grammars():
    """Where this fails: ``python -c "from derive.notation import grammar; grammar.keep()"``."""
    kept = json.loads(grammar.KEPT.read_text(encoding="utf-8"))
    assert kept == grammar.made(grammar.GRAMMAR.read_text(encoding="utf-8"))


def test_another_grammar_is_made_anew(monkeypatch, tmp_path):
    (tmp_path / "grammar.lark").write_text(grammar.GRAMMAR.read_text(encoding="utf-8") + "// more\n", encoding="utf-8")
    monkeypatch.setattr(grammar, "GRAMMAR", tmp_path / "grammar.lark")
    assert grammar.table.__wrapped__()["grammar"].endswith("// more\n")
