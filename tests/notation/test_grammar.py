"""The grammar has no conflicts, and its kept table is the one that Lark makes of it."""

import json
import logging

import lark

from derive.notation import lalr


def test_no_conflicts(caplog):
    lark.logger.setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        lalr.made(lalr.GRAMMAR.read_text(encoding="utf-8"), debug=True)
    assert "conflict" not in caplog.text.lower()


def test_is_flat():
    text = lalr.GRAMMAR.read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line and not line.startswith("//")]) < 20


def test_kept_table_is_the_grammars():
    """Where this fails: ``python -c "from derive.notation import lalr; lalr.keep()"``."""
    kept = json.loads(lalr.KEPT.read_text(encoding="utf-8"))
    assert kept == lalr.made(lalr.GRAMMAR.read_text(encoding="utf-8"))


def test_another_grammar_is_made_anew(monkeypatch, tmp_path):
    (tmp_path / "grammar.lark").write_text(lalr.GRAMMAR.read_text(encoding="utf-8") + "// more\n", encoding="utf-8")
    monkeypatch.setattr(lalr, "GRAMMAR", tmp_path / "grammar.lark")
    assert lalr.table.__wrapped__()["grammar"].endswith("// more\n")
