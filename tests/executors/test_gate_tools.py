"""The two linters: what they add, and that nothing the code says silences them."""

import pytest

from metnos.executors import gate_tools
from metnos.executors.gate import Declared, inspect

SHELL = "import os\nos.system(x)"
HARMLESS = "import json\n\n\ndef run(args, ctx):\n    return {'entries': [json.loads(args['x'])]}\n"


def test_both_find_a_shell_and_pass_harmless_code() -> None:
    assert {finding.rule for finding in gate_tools.ruff(SHELL)} == {"ruff-S605"}
    assert {finding.rule for finding in gate_tools.bandit(SHELL)} == {"bandit-B605"}
    assert list(gate_tools.findings(HARMLESS)) == []


@pytest.mark.parametrize("comment", ["# noqa", "# nosec", "# noqa: S605", "# ruff: noqa"])
def test_no_comment_silences_them(comment: str) -> None:
    source = f"import os\nos.system(x)  {comment}\n{comment}\n"
    assert gate_tools.ruff(source)
    assert gate_tools.bandit(source)


def test_what_is_no_python_is_a_finding_of_both() -> None:
    assert gate_tools.ruff("def (")
    assert gate_tools.bandit("def (")


def test_a_linter_that_cannot_run_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_tools, "_ruff_program", lambda: "/nowhere/ruff")
    found = inspect(HARMLESS, Declared())
    assert [finding.rule for finding in found] == ["unreadable"]


def test_a_linter_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_tools, "_ruff_program", lambda: "/bin/false")
    assert [finding.rule for finding in gate_tools.ruff("x = 1")] == ["ruff"]
