"""Reports for programs and editors: JSON by its schema, SARIF by the parts of its standard that are used, the hook."""

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import derive
from derive.cli import main
from tests.bank import ROOT

jsonschema = pytest.importorskip("jsonschema")

CARD = r"""---
id: card
---

# Question
A layer computes $y_k = \max(0, s_k)$. Derive the backward message.

# Solution
Let $c = 2$. We have $\frac{\partial y_k}{\partial s_k} = %s$ and $q_k = r_k$.
"""
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
PLACE = {
    "type": "object", "additionalProperties": False, "required": ["artifactLocation", "region"],
    "properties": {
        "artifactLocation": {"type": "object", "required": ["uri"], "additionalProperties": False,
                             "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"}}},
        "region": {"type": "object", "required": ["startLine"], "additionalProperties": False,
                   "properties": {"startLine": {"type": "integer", "minimum": 1}}}}}
SARIF = {  # §3.13 sarifLog, §3.14 run, §3.18 tool, §3.27 result of the standard 2.1.0
    "type": "object", "required": ["version", "runs"], "additionalProperties": False,
    "properties": {"$schema": {"type": "string"}, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": {
        "type": "object", "required": ["tool", "results"], "additionalProperties": False,
        "properties": {
            "tool": {"type": "object", "required": ["driver"], "additionalProperties": False, "properties": {"driver": {
                "type": "object", "required": ["name"], "additionalProperties": False, "properties": {
                    "name": {"type": "string"}, "rules": {"type": "array", "items": {
                        "type": "object", "required": ["id"], "additionalProperties": False,
                        "properties": {"id": {"type": "string"}, "shortDescription": TEXT}}}}}}},
            "results": {"type": "array", "items": {
                "type": "object", "required": ["message"], "additionalProperties": False, "properties": {
                    "ruleId": {"type": "string"}, "level": {"enum": ["none", "note", "warning", "error"]},
                    "message": TEXT, "locations": {"type": "array", "items": {
                        "type": "object", "additionalProperties": False, "properties": {"physicalLocation": PLACE}}}}}}}}}}}


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("derive.check") / "report.schema.json").read_text("utf-8"))
    return found


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "the bank").mkdir()
    for name, slope in (("right", r"\mathbb{I}[s_k > 0]"), ("wrong ě", "1")):
        (tmp_path / "the bank" / f"{name}.md").write_text(CARD % slope, "utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[int, Any]:
    found = CliRunner().invoke(main, ["check", *arguments, "--jobs", "1"])
    return found.exit_code, json.loads(found.stdout)


def test_reports_are_what_the_schema_says(bank: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    code, found = run("the bank", "--format", "json")
    jsonschema.validate(found, schema())
    assert code == 1 and [r["ok"] for r in found] == [True, False]
    code, found = run("the bank/right.md", "--answer", "the bank", "--format", "json")
    jsonschema.validate(found, schema())
    assert code == 1 and all(r["points"] for r in found)


def test_the_schema_is_strict() -> None:
    report = derive.check(derive.Card.parse(CARD % "1")).data()
    jsonschema.validate([report], schema())
    for wrong in ({**report, "more": 1}, {**report, "ok": None}, {k: v for k, v in report.items() if k != "points"},
                  {**report, "checks": [{**report["checks"][0], "verdict": "right"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([wrong], schema())


def test_sarif_is_what_the_standard_says(bank: Path) -> None:
    for place in ("the bank", str(bank / "the bank")):
        code, found = run(place, "--format", "sarif")
        jsonschema.validate(found, SARIF)
        ids = {rule["id"] for rule in found["runs"][0]["tool"]["driver"]["rules"]}
        results = found["runs"][0]["results"]
        assert code == 1 and results and {r["ruleId"] for r in results} <= ids


def test_the_hook_passes_what_is_no_card_and_stops_what_is_wrong(bank: Path) -> None:
    hook, = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (bank / "README.md").write_text("# No card\n", "utf-8")
    command = [sys.executable, "-m", *hook["entry"].split()]

    def committed(*names: str) -> int:
        return subprocess.run([*command, *names], cwd=bank, env={**os.environ, "PYTHONPATH": str(ROOT)},
                              capture_output=True, check=False).returncode

    assert committed("README.md", "the bank/right.md") == 0
    assert committed("README.md", "the bank/wrong ě.md") == 1
