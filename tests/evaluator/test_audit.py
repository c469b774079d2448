"""`evaluator audit` and `evaluator doctor`: the claim of agreement, and what is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from test_evaluator_properties import checks
from wellformedness import FIELDS, well_formed

from evaluator import audit
from evaluator.audit import CORPORA, audit_corpus, golden_folder, is_sound
from evaluator.cli import main

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "autocheck"


def test_every_case_that_ships_agrees() -> None:
    command = [sys.executable, "-m", "evaluator", "audit", "--format", "json"]
    ran = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout
    told = json.loads(ran.stdout)
    assert [corpus["corpus"] for corpus in told["corpora"]] == list(CORPORA)
    assert told["equivalence"] == 100
    assert told["disagree"] == 0
    assert told["total"] == told["agree"] == sum(corpus["total"] for corpus in told["corpora"]) > 7_000


def copied(folder: Path, corpus: str, change: Any) -> Path:
    """A folder with one corpus of which `change` has altered what the original is said to have answered."""
    lines = (GOLDEN / f"{corpus}.jsonl").read_text(encoding="utf-8").splitlines()[:40]
    changed = []
    for line in lines:
        case = json.loads(line)
        change(case["expect"])
        changed.append(json.dumps(case))
    (folder / f"{corpus}.jsonl").write_text("\n".join(changed))
    return folder


def flip(expect: Any) -> None:
    if "pass" in expect:
        expect["pass"] = not expect["pass"]


def widen(expect: Any) -> None:
    if "gap" in expect:
        expect["gap"] = 1e308 if expect["gap"] != 1e308 else 0


def reword(expect: Any) -> None:
    for name in ("why", "diagnostic"):
        if name in expect:
            expect[name] += " "


def throw(expect: Any) -> None:
    if "pass" in expect or "gap" in expect:
        expect.clear()
        expect["throws"] = "no"


def refire(expect: Any) -> None:
    expect["fired"].append({"step": 99})


def unfind(expect: Any) -> None:
    if "present" in expect:
        expect["present"] = not expect["present"]


@pytest.mark.parametrize(
    ("corpus", "change"),
    [
        ("checks", flip),
        ("checks", widen),
        ("checks", reword),
        ("checks", throw),
        ("meta", reword),
        ("tools", flip),
        ("tools", widen),
        ("tools", throw),
        ("attach", refire),
        ("paths", unfind),
        ("cel", flip),
        ("cel", widen),
    ],
)
def test_another_answer_of_the_original_is_a_disagreement(tmp_path: Path, corpus: str, change: Any) -> None:
    changed = audit_corpus(copied(tmp_path, corpus, change), corpus)
    untouched = audit_corpus(copied(tmp_path, corpus, lambda _: None), corpus)
    assert untouched.disagreements == ()
    assert changed.total == untouched.total
    assert len(changed.disagreements) >= changed.total // 5


def test_disagreements_are_shown_and_set_the_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(tmp_path, "checks", flip)
    assert main(["audit", "--golden", str(tmp_path), "--show", "1"]) == 1
    out = capsys.readouterr().out
    assert "equivalence: 0.00 %" in out or "equivalence: " in out
    assert out.count("original: ") == 1


def test_a_folder_above_the_cases_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "autocheck").mkdir()
    shutil.copy(GOLDEN / "meta.jsonl", tmp_path / "autocheck")
    assert main(["audit", "--golden", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("all            171     171         0\nequivalence: 100.00 %\n")


def test_without_cases_one_sentence_says_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meta.jsonl").write_text('{"id": 1}\n')
    for args, said in (
        (["--golden", str(tmp_path / "no")], "no such folder"),
        (["--golden", str(tmp_path)], 'meta.jsonl:1: a case is an object with "id" and "expect"'),
        (["--golden", str(tmp_path.parent / tmp_path.name)], "meta.jsonl:1"),
    ):
        assert main(["audit", *args]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
    (tmp_path / "meta.jsonl").unlink()
    assert main(["audit", "--golden", str(tmp_path)]) == 2
    assert "no recorded cases; expected some of checks.jsonl" in capsys.readouterr().err
    monkeypatch.setattr(audit, "__file__", str(tmp_path / "evaluator" / "audit.py"))
    assert golden_folder() is None
    assert main(["audit"]) == 2
    assert "--golden DIR names a folder with them" in capsys.readouterr().err


NEWER = re.compile(r'"(?:gt|lt|matches|value_path|values|absent|as|norm|word)": |"op": "(?:gt|lt|matches)"')


@given(checks)
def test_soundness_is_decided_as_the_tests_decide_it(check: Any) -> None:
    assume(not NEWER.search(json.dumps(check)))
    assert is_sound(check)
    for name in sorted(check):
        less = {key: value for key, value in check.items() if key != name}
        other = check | {name: {"odd": [name]}}
        assert is_sound(less) is well_formed(less)
        assert is_sound(other) is well_formed(other)
    assert is_sound({"id": "c", "expr": check})
    assert not is_sound({"id": "c", "expr": {"id": "d", "expr": check}})
    assert not is_sound({"op": "not", "of": {"id": "c", "expr": check}})
    assert set(audit._FIELDS) <= set(FIELDS)


def test_the_doctor_tells_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["golden"]["corpora"] == list(CORPORA)
    states = {state["name"]: state for group in told["packages"].values() for state in group}
    assert states["msgspec"]["version"]
    assert states["pytest"]["version"] == pytest.__version__
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "Python " in text
    assert all(name in text for name in states)


def test_the_doctor_tells_what_is_missing_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("evaluator.commands.doctor.find_spec", lambda _: None)
    monkeypatch.setattr("evaluator.commands.doctor.golden_folder", lambda: None)
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert (
        "mcp                missing      the command mcp; get it: pip install 'check-induction[mcp]'" in text
    )
    assert "recorded cases (evaluator audit)\n  not installed" in text
