"""Comparisons of runs: the intervals and tests against known values, and who is compared with whom."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_runs import CHECK, write_run, write_sweep
from scipy.stats import binomtest

from experiments.compare.cli import main
from experiments.compare.contenders import read_judged
from experiments.compare.differences import Method, compare
from experiments.compare.intervals import (
    holm,
    mcnemar,
    of_figures,
    of_scenes,
    student,
)
from experiments.report.files import ReportError
from experiments.report.shares import wilson
from experiments.report.sources import find

WORSE = {"op": "gte", "path": "total", "value": 5}
FEW = {"resamples": 2000, "seed": 0}


def changes(first: int, second: int, same: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([1.0] * first + [-1.0] * second + [0.0] * same)


@pytest.mark.parametrize(("right", "total"), [(0, 10), (3, 10), (199, 200), (200, 200)])
def test_wilson_is_scipys(right: int, total: int) -> None:
    low, high = binomtest(right, total).proportion_ci(0.9, method="wilson")
    assert wilson(right, total, level=0.9) == pytest.approx((low, high))


def test_mcnemar_counts_the_scenes_that_differ() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(4, 4) == 1.0
    assert mcnemar(0, 5) == pytest.approx(2 / 2**5)
    assert mcnemar(8, 2) == mcnemar(2, 8) == pytest.approx(2 * (1 + 10 + 45) / 2**10)


def test_students_test_is_of_the_pairs_means() -> None:
    # The sleep data of Student 1908: ten patients under two drugs, t = 4.0621.
    gained = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert student(gained) == pytest.approx(0.002833, abs=1e-6)


def test_equal_differences_leave_their_signs() -> None:
    assert student(np.array([0.2, 0.2, 0.2])) == 0.25
    assert student(np.array([0.0, 0.0])) == 1.0


def test_holm_is_the_worked_example() -> None:
    assert holm([0.01, None, 0.04, 0.03, 0.005]) == [0.03, None, 0.06, 0.06, 0.02]
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_interval_of_one_test_set_is_that_of_its_scenes() -> None:
    found = of_scenes([changes(30, 10, 160)], level=0.95, **FEW)
    assert found.value == pytest.approx(0.1)
    spread = ((30 + 10) / 200 - 0.1**2) ** 0.5 / 200**0.5
    assert found.low == pytest.approx(0.1 - 1.96 * spread, abs=0.01)
    assert found.high == pytest.approx(0.1 + 1.96 * spread, abs=0.01)
    assert found.p_value == mcnemar(30, 10)


def test_several_test_sets_weigh_the_same_and_widen_the_interval() -> None:
    alike = of_scenes([changes(20, 0, 80)] * 4, level=0.95, **FEW)
    unlike = of_scenes([changes(40, 0, 60), changes(0, 0, 100)] * 2, level=0.95, **FEW)
    assert alike.value == pytest.approx(unlike.value) == 0.2
    assert unlike.high is not None
    assert alike.high is not None
    assert unlike.high - 0.2 > 1.5 * (alike.high - 0.2)
    small_and_large = of_scenes([changes(10, 0, 0), changes(0, 0, 1000)], level=0.95, **FEW)
    assert small_and_large.value == pytest.approx(0.5)


def test_one_figure_has_no_interval() -> None:
    found = of_figures(np.array([2.5]), level=0.95, **FEW)
    assert (found.value, found.low, found.high, found.p_value) == (2.5, None, None, None)


def test_the_same_seed_gives_the_same_interval() -> None:
    block = [changes(5, 3, 50), changes(2, 9, 40)]
    assert of_scenes(block, level=0.9, **FEW) == of_scenes(block, level=0.9, **FEW)


def config(**given: Any) -> dict[str, Any]:
    dataset = {"kind": "shop", "train": given.get("train", 60), "seed": given.get("seed", 0)}
    learner = {"engine": given.get("engine", "asp"), "random_state": given.get("seed", 0)}
    return {"dataset": dataset, "learner": learner, "seed": given.get("seed", 0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    write_run(folder / "asp", config=config(engine="asp"))
    write_run(folder / "enumerate", check=WORSE, config=config(engine="enumerate"))
    write_run(folder / "elsewhere", digest="other", config=config(engine="enumerate", seed=1))
    write_run(folder / "renamed", name=lambda text: f"order {text}", config=config(engine="auto"))
    write_sweep(folder / "sweep", runs=6)
    for seed in range(3):
        write_run(folder / f"seeds/{seed}", digest=str(seed), config=config(seed=seed))
    for number in range(7):
        write_run(folder / f"many/{number}", config=config(train=10 * number))
    return folder


def told(folder: Path, *names: str, **options: Any) -> Any:
    found = [find(str(folder / name), read_judged) for name in names]
    return compare(found, method=Method(resamples=500), **options)


def test_two_runs_are_paired_scene_by_scene(folder: Path) -> None:
    found = told(folder, "asp", "enumerate")
    (one,) = found.differences
    assert found.keys == ("learner.engine",)
    assert (one.first, one.second, one.blocks, one.scenes) == ("engine=asp", "engine=enumerate", 1, 60)
    right = {
        name: find(str(folder / name), read_judged).runs[0].right["test"] for name in ("asp", "enumerate")
    }
    assert one.only_first == int((right["asp"] & ~right["enumerate"]).sum())
    assert one.only_second == int((right["enumerate"] & ~right["asp"]).sum())
    assert one.estimate.value == pytest.approx((one.only_first - one.only_second) / 60)
    assert one.adjusted == one.estimate.p_value == mcnemar(one.only_first, one.only_second)


def test_a_sweep_is_compared_by_what_differs_on_equal_scenes(folder: Path) -> None:
    found = told(folder, "sweep")
    assert [one.name for one in found.contenders] == ["engine=asp", "engine=enumerate"]
    (one,) = found.differences
    assert (one.blocks, one.scenes) == (3, 180)
    assert one.estimate.p_value == 0.25  # all three pairs differ by the same


def test_seeds_on_one_test_set_make_pairs(tmp_path: Path) -> None:
    for number in range(6):
        engine, seed = ("asp", "enumerate")[number % 2], number // 2
        given = config(engine=engine, seed=seed, train=60 if number == 0 else 40)
        write_run(tmp_path / str(number), check=WORSE if number % 2 else CHECK, config=given)
    found = told(tmp_path, ".", by=["learner.engine"])
    assert found.test_sets == 1
    (one,) = found.differences
    assert (one.first, one.second, one.blocks) == (
        "engine=asp",
        "engine=enumerate",
        2,
    )  # one differs in train
    by_default = told(tmp_path, ".")
    assert by_default.keys == ("dataset.train", "learner.engine")
    pairs = {(one.first, one.second): one.blocks for one in by_default.differences}
    assert pairs == {
        ("train=60, engine=asp", "train=40, engine=enumerate"): 1,
        ("train=40, engine=enumerate", "train=40, engine=asp"): 2,
    }
    assert by_default.apart == (("train=60, engine=asp", "train=40, engine=asp"),)


def test_a_sweep_of_seeds_has_nothing_to_compare_but_its_runs_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder / "seeds")]) == 0
    said = capsys.readouterr().out
    assert "3 runs on 3 test sets" in said
    assert "differences: none; each run has test scenes of its own" in said


def test_many_are_compared_with_the_first_and_adjusted(folder: Path) -> None:
    found = told(folder, "many")
    assert found.against == "train=0"
    assert [one.second for one in found.differences] == ["train=0"] * 6
    assert told(folder, "many", against="train=30").against == "train=30"


def test_equal_configurations_from_two_sweeps_are_told_apart_by_their_folders(
    folder: Path, tmp_path: Path
) -> None:
    for seed in range(3):
        write_run(tmp_path / str(seed), check=WORSE, digest=str(seed), config=config(seed=seed))
    found = compare([find(str(folder / "seeds"), read_judged), find(str(tmp_path), read_judged)])
    assert [one.name for one in found.contenders] == [str(folder / "seeds"), str(tmp_path)]
    assert found.differences[0].blocks == 3


def test_baselines_are_paired_scene_by_scene(folder: Path) -> None:
    found = told(folder, "asp", baselines=True)
    (one,) = found.differences
    assert (one.first, one.second) == (str(folder / "asp"), f"tree of {folder / 'asp'}")
    # Of 60 scenes every ninth is wrong by the check, every fifth by the tree, every 45th by both.
    assert (one.only_first, one.only_second) == (12 - 2, 7 - 2)
    assert one.estimate.value == pytest.approx(5 / 60)
    assert one.adjusted == mcnemar(10, 5)


def test_baselines_without_verdicts_are_refused(tmp_path: Path) -> None:
    old = {"name": "tree", "available": True, "train_accuracy": 0.9, "test_accuracy": 0.8}
    write_run(tmp_path / "old", results={"baselines": [old]})
    with pytest.raises(ReportError, match=r"tree of .*: its verdicts on single scenes are not kept"):
        told(tmp_path, "old", baselines=True)
    assert told(tmp_path, "old").differences == ()


def test_other_metrics_are_compared_over_test_sets(folder: Path) -> None:
    found = told(folder, "sweep", metric="seconds")
    assert found.differences[0].estimate.value == 0
    assert not found.by_scene


@pytest.mark.parametrize(
    ("names", "options", "problem"),
    [
        (("asp", "elsewhere"), {}, "have different test scenes (digests test-0te and test-oth), so that"),
        (("asp", "renamed"), {}, "have different test scenes (the same scenes under other ids), so that"),
        (("asp", "asp"), {}, "given twice, with one configuration and the same scenes"),
        (("asp", "enumerate"), {"metric": "tset_accuracy"}, "did you mean 'test_accuracy'?"),
        (("asp", "enumerate"), {"against": "engine=enumerat"}, "did you mean 'engine=enumerate'?"),
        (("asp", "enumerate"), {"by": ["learner.engin"]}, "did you mean 'learner.engine'?"),
        (("seeds",), {"baselines": True, "metric": "recovered"}, "no other learner has a 'recovered'"),
        (("seeds",), {"baselines": True, "metric": "size"}, "no other learner has a 'size' in bits"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(
    folder: Path, names: tuple[str, ...], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ReportError) as raised:
        told(folder, *names, **options)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_run_without_verdicts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "old")
    (tmp_path / "old/predictions.jsonl").unlink()
    assert main([str(tmp_path / "old")]) == 2
    said = capsys.readouterr()
    assert "has no predictions.jsonl (older versions wrote none); run the experiment again" in said.err
    assert said.err.count("\n") == 1


def test_the_command_prints_the_same_text_and_json_each_time(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(folder / "asp"), str(folder / "enumerate")]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "engine=asp - engine=enumerate: +46.7 points, +30.0 to +63.3, p < 0.0001" in text
    assert "(10,000 resamples, seed 0), p by McNemar's exact test" in text
    assert main(words) == 0
    assert capsys.readouterr().out == text
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"][0]["difference"] == pytest.approx(28 / 60)
    assert [one["contender"] for one in found["runs"]] == ["engine=asp", "engine=enumerate"]
    assert found["runs"][0]["metrics"]["test_accuracy"] == pytest.approx(53 / 60)


def test_a_reader_that_goes_is_no_mistake(folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "experiments", "compare", str(folder / "sweep"), "--json"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 141


def test_the_command_writes_a_page(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "differences.html"
    assert main([str(folder / "sweep"), "--html", str(page)]) == 0
    assert capsys.readouterr().out.endswith(f"page: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "p by Student&#39;s test of the pairs." in text
    assert main([str(folder / "sweep"), "--html", str(tmp_path / "none/page.html")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [[], ["a", "--level", "1"], ["a", "--resamples", "9"], ["a", "--seed", "x"]]
)
def test_options_are_judged(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("experiments compare: ")
    assert said.endswith("; experiments compare --help shows what there is\n")
    assert said.count("\n") == 1
