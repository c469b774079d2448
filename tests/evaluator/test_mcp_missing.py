"""Without the SDK `evaluator mcp` says in one sentence what is missing."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec

import pytest

from evaluator.cli import main


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "mcp" else real(name, package)

    monkeypatch.setattr("evaluator.commands.mcp.find_spec", find_spec, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    assert main(["mcp"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'check-induction[mcp]'" in error
    assert error.count("\n") == 1
