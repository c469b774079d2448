"""The benchmark of the evaluator: what it compares means the same, and its report says what is absent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator import canonical_json, compile_check, evaluate_many
from experiments.benchmark import evaluation, learner, peers, traces
from experiments.benchmark.cli import main
from experiments.benchmark.predicates import PREDICATES
from experiments.datasets.warehouse import RULES
from induce.parts import terms

ODD_SCENES: list[Any] = [
    {},
    {"run": {"status": "ok"}, "slack": {}, "gmail": {"messages": []}},
    {"run": {"status": "ok", "errors": 2}, "slack": {"messages": [{"is_deleted": False}, {}]}},
    {"warehouse": {"budget": {"spent": 44000}, "name": ""}, "salesforce": {"leads": None}},
]


@pytest.fixture(scope="module")
def scenes() -> list[Any]:
    return evaluation.read_batch(evaluation.recorded_batch()).scenes[:150]


@pytest.fixture
def small_batch(tmp_path: Path, scenes: list[Any]) -> Path:
    path = tmp_path / "batch.json"
    checks = [predicate.check for predicate in PREDICATES]
    path.write_text(json.dumps({"scenes": scenes[:10], "checks": checks}), encoding="utf-8")
    return path


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.package)
def test_every_language_says_the_same_of_every_scene(peer: peers.Peer, scenes: list[Any]) -> None:
    if peer.version is None:
        pytest.skip(f"{peer.package} is not installed")
    scenes = [*scenes, *ODD_SCENES]
    verdicts = peer.judge(PREDICATES, scenes)()
    for predicate, theirs in zip(PREDICATES, verdicts, strict=True):
        ours = [compile_check(predicate.check).passes(scene) for scene in scenes]
        assert theirs == ours, predicate.cel
        assert {True, False} <= set(ours)


def test_the_report_as_json_has_every_figure_and_ratio(small_batch: Path) -> None:
    command = [sys.executable, "-m", "experiments.benchmark", "evaluator", "--json", "--rounds", "1"]
    ran = subprocess.run(
        [*command, "--batch", str(small_batch)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    assert (report["scenes"], report["checks"], report["evaluations"]) == (
        10,
        len(PREDICATES),
        10 * len(PREDICATES),
    )
    assert list(report["per_second"]) == ["full", "raw", "prepared", "with_preparing"]
    assert all(rate > 0 for rate in report["per_second"].values())
    assert [peer["package"] for peer in report["peers"]] == [peer.package for peer in peers.PEERS]
    for reported, peer in zip(report["peers"], peers.PEERS, strict=True):
        if peer.version is None:
            assert reported["absent"] is True
        else:
            assert reported["version"] == peer.version
            ratio = report["predicates_per_second"] / reported["per_second"]
            assert reported["times_faster"] == pytest.approx(ratio, rel=0.01, abs=0.01)


def test_the_table_names_what_is_not_installed(
    small_batch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluation, "PEERS", (peers.Peer("no-such-evaluator", lambda *_: list),))
    assert main(["evaluator", "--rounds", "1", "--batch", str(small_batch)]) == 0
    printed = capsys.readouterr().out
    assert f"{len(PREDICATES)} checks on 10 scenes; CPU time, one thread, best of 1" in printed
    for figure in ("full results", "raw scenes", "prepared scenes", "preparing the scenes"):
        assert figure in printed
    assert "absent (pip install no-such-evaluator)" in printed


def test_an_evaluator_that_disagrees_is_not_timed(
    small_batch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    yes = peers.Peer("msgspec", lambda predicates, scenes: lambda: [[True] * len(scenes)] * len(predicates))
    monkeypatch.setattr(evaluation, "PEERS", (yes,))
    assert main(["evaluator", "--rounds", "1", "--batch", str(small_batch)]) == 2
    assert "msgspec disagrees about" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "no such file or directory"),
        ("{", "not JSON"),
        ("[]", 'expected an object with "scenes" and "checks"'),
        ('{"scenes": [], "checks": []}', "arrays that are not empty"),
        ('{"scenes": [1], "checks": [{"op": "exist", "path": "a"}]}', "unknown operator"),
    ],
)
def test_an_unusable_batch_is_one_sentence(
    text: str | None, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "batch.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert main(["evaluator", "--batch", str(path)]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.startswith("experiments benchmark evaluator: ")
    assert error.count("\n") == 1


def test_the_first_word_benchmark_is_no_override() -> None:
    command = [sys.executable, "-m", "experiments", "benchmark", "evaluator", "--rounds", "none"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 2
    assert "expected a whole number from 1 to 1000" in ran.stderr


def test_every_trace_operator_holds_for_some_of_the_traces_or_says_why_not() -> None:
    scenes = traces.make_traces(60, 50)
    assert scenes == traces.make_traces(60, 50) != traces.make_traces(60, 50, seed=1)
    assert len({canonical_json(check) for check in traces.CHECKS}) == 20
    verdicts = evaluate_many(traces.CHECKS, scenes).passed
    assert sum({True, False} <= set(row) for row in verdicts.tolist()) >= 12


def test_the_report_on_traces(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["traces", "--traces", "20", "--steps", "10", "--rounds", "1"]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["traces"], report["steps"], report["evaluations"]) == (20, 10, 400)
    assert all(rate > 0 for rate in report["per_second"].values())
    assert main(arguments) == 0
    assert "20 trace operators on 20 traces of 10 steps" in capsys.readouterr().out


def test_the_report_on_the_learner_has_medians_and_ratios_of_neighbours() -> None:
    few = ["--scenes", "20", "--terms", "1", "--engines", "enumerate", "--rounds", "1", "--seconds", "5"]
    command = [sys.executable, "-m", "experiments.benchmark", "learner", "--json", *few]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines()[-1] == "20 scenes, rule of 1 terms: tree, round 1 of 1"
    report = json.loads(ran.stdout)
    (case,) = report["cases"]
    assert (case["scenes"], case["terms"], case["rule"]) == (20, 1, "no_forklift_in_cold_zone")
    ours, tree = case["learners"]
    assert (ours["name"], tree["name"]) == ("enumerate", "tree")
    assert ours["lower_bound"] <= ours["objective"]
    assert 0 < ours["to_rule"] <= ours["to_best"] <= ours["wall"] + 1e-3
    assert ours["cpu_to_tree"] == pytest.approx(ours["cpu"] / tree["cpu"])
    assert tree["objective"] is None
    assert 0.5 <= tree["accuracy"] <= 1


def test_rules_of_the_benchmark_have_as_many_terms_as_it_says() -> None:
    for count, name in learner.RULES.items():
        assert len(terms(RULES[name].check)) == count


def measured(cpu: float, proof: float | None) -> learner.Measured:
    return learner.Measured(cpu, cpu, None, 1.0, 0.1, 0.2, proof, 20.0, 20.0, 7)


def test_the_table_on_the_learner() -> None:
    rounds = {
        "auto": [measured(4.0, 3.0), measured(9.0, None), measured(2.0, 2.0)],
        "tree": [measured(2.0, None), measured(3.0, None), measured(1.0, None)],
    }
    report = learner.LearnerReport(20, 3, [learner.Case(50, 1, rounds)])
    line = learner.table(report).splitlines()[2]
    assert line.split() == ["50", "1", "auto", "4.00", "4.00", "0.10", "-", "-", "100.0%", "2.0"]
    (ours, _) = learner.as_dict(report)["cases"][0]["learners"]
    assert (ours["cpu_to_tree"], ours["cpu_to_auto"], ours["to_proof"]) == (2.0, 1.0, None)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--engines", "auto,best"], "expected auto, enumerate, asp, got 'best'"),
        (["--terms", "1,4"], "expected a whole number from 1 to 3, got '4'"),
    ],
)
def test_what_the_learner_cannot_be_measured_with(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["learner", *words])
    assert left.value.code == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--traces", "0"], ["--steps", "x"], ["--rounds", "-1"]])
def test_numbers_that_cannot_be(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["traces", *words])
    assert left.value.code == 2
    assert "expected a whole number from 1 to" in capsys.readouterr().err
