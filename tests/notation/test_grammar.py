"""The grammar has no conflicts, and is cheap to build."""

import logging

import lark

from derive.notation.parse import GRAMMAR, parser


def test_no_conflicts(caplog):
    lark.logger.setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        parser(debug=True)
    assert "conflict" not in caplog.text.lower()


def test_is_flat():
    text = GRAMMAR.read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line and not line.startswith("//")]) < 20
