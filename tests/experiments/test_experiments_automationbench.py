"""Worlds made for assertions of AutomationBench, and the share of assertions that they give back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluator import SceneError, compile_check
from experiments.benchmark.automationbench import GRAMMARS, as_dict, relearn, stratified, table
from experiments.benchmark.cli import main
from experiments.benchmark.evaluation import BenchmarkError
from experiments.cli import config_directory
from experiments.config import AutomationBench
from experiments.datasets.automationbench import Corpus, WorldMaker
from experiments.datasets.dataset import load_dataset
from induce.grammar import Grammar

CORPUS = Path(__file__).parents[3] / "shared" / "automationbench" / "tasks.jsonl"


def ticket(number: int, *tags: str) -> dict[str, Any]:
    return {"id": f"t{number}", "subject": f"Order {number} is late", "priority": "high", "tags": list(tags)}


def tasks() -> list[dict[str, Any]]:
    tag = {"type": "zendesk_ticket_has_tag", "tag": "vip"}
    return [
        {
            "task": "support.tags",
            "initial_state": {"zendesk": {"tickets": [ticket(number, "late", "new") for number in range(8)]}},
            "assertions": [
                {**tag, "ticket_id": "t1"},
                {**tag, "ticket_id": "t2", "tag": "refund"},
                {**tag, "type": "zendesk_ticket_not_has_tag", "ticket_id": "t3"},
                {"type": "no_such_type_at_all"},
                {"type": "gmail_email_sent_count", "count": 1},
            ],
        }
    ]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus(tasks())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks()))
    return path


def test_the_items_are_the_assertions_that_search(corpus: Corpus) -> None:
    assert [(item.place, item.translation.family) for item in corpus.items] == [
        (0, "Tag"),
        (1, "Tag"),
        (2, "Tag"),
    ]
    assert corpus.others == 1
    with pytest.raises(SceneError, match=r"assertion 4 of support\.tags searches no .*; these do: 0, 1, 2"):
        corpus.item("support.tags", 4)
    with pytest.raises(SceneError, match="the corpus has no task nope"):
        corpus.item("nope", 0)


@pytest.mark.parametrize("place", [0, 2])
def test_half_of_the_worlds_pass_and_near_misses_break_one_conjunct(corpus: Corpus, place: int) -> None:
    item = corpus.item("support.tags", place)
    worlds = WorldMaker(corpus, item).worlds("train", 40)
    passes = compile_check(item.translation.check).passes
    assert worlds.labels == tuple("pass" if passes(scene) else "fail" for scene in worlds.scenes)
    assert worlds.counts["pass"] == worlds.counts["fail"] == 20
    parts = [compile_check(part).passes for part in item.search["where"]["of"]]
    without = [
        scene
        for scene, label in zip(worlds.scenes, worlds.labels, strict=True)
        if (label == "pass") is item.translation.negated
    ]
    broken = set()
    for scene in without:
        held = [tuple(part(one) for part in parts) for one in scene["zendesk"]["tickets"]]
        assert (True, True) not in held
        broken |= {one for one in held if sum(one) == 1}
    assert broken == {(True, False), (False, True)}
    texts = {
        one["subject"] for scene in worlds.scenes for one in scene["zendesk"]["tickets"] if "subject" in one
    }
    assert len(texts) > 4


def test_parts_are_independent_and_seeds_differ(corpus: Corpus) -> None:
    item = corpus.items[0]
    one, other = WorldMaker(corpus, item, 1), WorldMaker(corpus, item, 2)
    assert one.worlds("train", 6) == WorldMaker(Corpus(tasks()), item, 1).worlds("train", 6)
    assert one.worlds("train", 6).scenes != one.worlds("test", 6).scenes
    assert one.worlds("train", 6).scenes != other.worlds("train", 6).scenes


def test_worlds_do_not_depend_on_the_hash_seed(file: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from evaluator import json_text\n"
        "from experiments.datasets.automationbench import Corpus, WorldMaker\n"
        "corpus = Corpus.read(Path(sys.argv[1]))\n"
        "for item in corpus.items:\n"
        "    print(json_text(list(WorldMaker(corpus, item).worlds('train', 8).scenes)))\n"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", script, str(file)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1] != ""


def test_the_dataset_of_an_experiment(file: Path) -> None:
    config = AutomationBench(tasks=file.name, task="support.tags", assertion=2, train=6, test=10)
    dataset = load_dataset(config, file.parent)
    assert (len(dataset.train), len(dataset.test)) == (6, 10)
    assert dataset.hidden_rule is not None
    assert dataset.hidden_rule.check["op"] == "not"
    assert "zendesk_ticket_not_has_tag" in dataset.source


def test_a_sample_has_every_family(corpus: Corpus) -> None:
    assert len(stratified(corpus.items, 1, 0)) == 1
    assert stratified(corpus.items, 2, 0) == stratified(corpus.items, 2, 0)


def test_the_shipped_grammar_is_the_one_of_the_benchmark() -> None:
    assert yaml.safe_load((config_directory() / "grammar/searches.yaml").read_text()) == GRAMMARS["searches"]
    Grammar.of(GRAMMARS["searches"])


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_assertions_come_back(file: Path, grammar: str) -> None:
    found = relearn(file, sample=2, unseen=60, seconds=10, grammar=grammar)
    assert [one.family for one in found] == ["Tag", "Tag"]
    assert all(one.recovered for one in found)
    assert as_dict(found)["recovered"] == 2
    assert table(found).splitlines()[0].split()[:4] == ["family", "assertions", "recovered", "tree"]


def test_unusable_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["automationbench", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl: no such file" in capsys.readouterr().err
    (tmp_path / "bad.jsonl").write_text('{"task": "a"}\n')
    with pytest.raises(BenchmarkError, match=r"bad.jsonl:1: expected a task"):
        relearn(tmp_path / "bad.jsonl", sample=1)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BenchmarkError, match="no assertion there searches"):
        relearn(tmp_path / "empty.jsonl", sample=1)


def test_the_corpus_gives_worlds() -> None:
    if not CORPUS.is_file():
        pytest.skip("the corpus of AutomationBench is not here")
    with CORPUS.open(encoding="utf-8") as lines:
        corpus = Corpus(json.loads(line) for line in islice(lines, 0, None, 12))
    assert len(corpus.items) > 500
    for item in stratified(corpus.items, 12, 3):
        worlds = WorldMaker(corpus, item).worlds("train", 8)
        assert worlds.counts["pass"] == worlds.counts["fail"] == 4, (item.task, item.place)
