"""The paper: a small one twice, byte for byte; its tables and figures; what it quotes and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from omegaconf import OmegaConf

from experiments.commandline import config_directory, read_command_line
from experiments.config import ConfigError, Monks, Paper, Traces, Trains, Warehouse, Zendo, parse_config
from experiments.config.datasets import RULES
from experiments.paper.build import planned
from experiments.paper.figure import Panel, PaperFigure
from experiments.paper.runs import OURS, Runs
from experiments.paper.sections import SECTIONS, Section
from experiments.sweeps.table import SweptRun
from induce.version import __version__

Command = Callable[..., Any]
SMALL = """# @package _global_
paper:
  title: A small paper
  common: tracking=none learner.work_limit=400 dataset.test=40 seed=0
  sections:
    sample_efficiency:
      - preset=sample_efficiency baselines.names=[tree] dataset.rule=inspected dataset.train=6,20
    active:
      - preset=active asking.labels=2 dataset.train=6 dataset.rule=inspected
hydra:
  run:
    dir: paper
"""
STRUCTS = {"warehouse": Warehouse, "trains": Trains, "zendo": Zendo, "traces": Traces, "monks": Monks}
ROOT = Path(__file__).parents[2]
TOLD = ["active.svg", "paper.json", "paper.md", "sample_efficiency.svg"]


def written(folder: Path, experiments: Command, **options: str) -> tuple[dict[str, bytes], str]:
    """The files of a small paper by name, those of times apart, and what was said."""
    (folder / "own/preset").mkdir(parents=True, exist_ok=True)
    (folder / "own/preset/small.yaml").write_text(SMALL, encoding="utf-8")
    done = experiments(folder, "--config-dir", "own", "preset=small", "tracking=none", **options)
    assert done.returncode == 0, done.stderr
    files = {path.name: path.read_bytes() for path in (folder / "paper").iterdir() if path.is_file()}
    return {name: content for name, content in files.items() if name in TOLD}, done.stdout


@pytest.fixture(scope="module")
def small(
    experiments: Command, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, bytes], str]:
    folder = tmp_path_factory.mktemp("paper")
    return folder, *written(folder, experiments)


def test_a_small_paper_says_what_its_runs_found(small: tuple[Path, dict[str, bytes], str]) -> None:
    folder, files, said = small
    assert sorted(files) == TOLD
    assert said.splitlines()[-1].startswith("files: paper/paper.md, paper/paper.json, paper/times.md")
    results = [
        json.loads(path.read_text("utf-8")) for path in sorted(folder.rglob("*/sample*/*/result.json"))
    ]
    table = json.loads(files["paper.json"])["sections"]["sample_efficiency"][1]
    assert table["title"] == "Accuracy on unseen scenes"
    assert table["columns"] == ["3", "10"]
    assert table["rows"]["decision tree"] == [
        one["metrics"]["baseline.tree.test_accuracy"] for one in results
    ]
    assert table["rows"][OURS] == [one["test"]["accuracy"] for one in results]
    markdown = files["paper.md"].decode()
    assert "# A small paper\n\n## Sample efficiency\n" in markdown
    for name in re.findall(r"!\[.*\]\((.*)\)", markdown):
        assert name in files


def test_the_same_paper_again_byte_for_byte(
    small: tuple[Path, dict[str, bytes], str], experiments: Command, tmp_path: Path
) -> None:
    files, _ = written(tmp_path, experiments, hash_seed="12")
    assert files == small[1]


def test_a_paper_goes_on_where_it_stopped(
    small: tuple[Path, dict[str, bytes], str], experiments: Command
) -> None:
    folder, files, _ = small
    (run,) = folder.rglob("active-1-*/1/run.json")
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("result.json")}
    run.unlink()
    run.with_name("record.json").unlink()
    (folder / "paper/paper.md").unlink()
    again, said = written(folder, experiments)
    assert again == files
    assert "2 runs finished, 2 of them by an earlier call" in said
    assert "2 runs finished, 1 of them by an earlier call" in said
    changed = [path for path, when in kept.items() if path.stat().st_mtime_ns != when]
    assert changed == [run.with_name("result.json")]


def test_overrides_go_to_the_sweeps_and_the_last_of_a_key_counts(tmp_path: Path) -> None:
    paper = Paper(common="a=1 b=1", sections={"noise": ("preset=noise b=2 c=2",), "active": ("d=1", "d=2")})
    given = ["preset=paper", "c=3", "paper.title=x", "~paper.sections.noise", "hydra.run.dir=y"]
    sweeps = planned(paper, given, tmp_path)
    assert sweeps[0].words == ("a=1", "b=2", "preset=noise", "c=3", f"hydra.sweep.dir='{sweeps[0].folder}'")
    assert [sweep.folder.parent for sweep in sweeps] == [tmp_path / "runs"] * 3
    assert [sweep.folder.name[:-9] for sweep in sweeps] == ["noise-1", "active-1", "active-2"]


def test_folders_are_named_by_what_is_run_in_them(tmp_path: Path) -> None:
    paper = Paper(common="hydra/launcher=joblib", sections={"noise": ("preset=noise",)})

    def folder(*given: str) -> Path:
        return planned(paper, given, tmp_path)[0].folder

    assert folder() == folder("hydra/launcher=basic", "tracking=none", "paper.title=x")
    assert len({folder(), folder("seed=0"), folder("seed=1")}) == 3


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"nois": ("preset=noise",)}, "paper.sections: no section 'nois'; did you mean 'noise'?"),
        (
            {"noise": ("preset='noise",)},
            "paper.sections: \"preset='noise\" can't be read: no closing quotation",
        ),
        ({}, "paper.sections: no sweeps"),
    ],
)
def test_what_is_no_paper(sections: dict[str, tuple[str, ...]], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(Paper(sections=sections), [], tmp_path)


def test_a_sweep_that_fails_ends_the_paper(experiments: Command, tmp_path: Path) -> None:
    (tmp_path / "own/preset").mkdir(parents=True)
    (tmp_path / "own/preset/bad.yaml").write_text(SMALL.replace("inspected", "inspect"), encoding="utf-8")
    done = experiments(tmp_path, "--config-dir", "own", "preset=bad", "tracking=none")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "experiments: dataset.rule: 'inspect' is no hidden rule of dataset=warehouse"
    )
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.rglob("paper.md"))


def run(test_accuracy: float, seed: int = 0, **told: Any) -> SweptRun:
    config = {name.replace("__", "."): value for name, value in told.items() if "__" in name}
    figures = {name: value for name, value in told.items() if "__" not in name}
    metrics = {
        "test_accuracy": test_accuracy,
        "recovered": float(test_accuracy == 1),
        "rule_size": {"long": 30.0, "short": 10.0}[config["dataset.rule"]],
        "seconds": 2.0,
        "baseline.tree.test_accuracy": 0.75,
        "baseline.tree.seconds": 0.5,
        **figures,
    }
    return SweptRun({"seed": seed, "baselines.names": ["tree", "popper"], **config}, metrics)


def runs(name: str) -> Iterator[SweptRun]:
    """Two rules, the longer one first and right on fewer scenes, by the key that the section is about."""
    key, values = {
        "recovery": ("dataset__kind", ["zendo", "trains"]),
        "sample_efficiency": ("dataset__train", [100, 20]),
        "noise": ("dataset__noise", [0.2, 0]),
        "active": ("asking__how", ["telling", "random"]),
        "scaling": ("dataset__train", [50, 500]),
    }[name]
    others = {"flipped": 4.0, "suspected": 3.0, "flipped_suspected": 2.0, "nodes": 800.0, "atoms": 90.0}
    asking = {"asking__labels": 3, "dataset__train": 20} if name == "active" else {}
    for rule, accuracy in (("long", 0.9), ("short", 1.0)):
        for at, value in enumerate(values):
            told = {**others, **asking, key: value, "dataset__rule": rule, "answers": float(3 - at)}
            yield run(accuracy, optimal=float(at), seconds_to_proof=1.5, cpu_seconds=1.0, **told)


@pytest.fixture(params=SECTIONS)
def section(request: pytest.FixtureRequest) -> tuple[str, Section]:
    return request.param, SECTIONS[request.param](Runs(tuple(runs(request.param))))


def test_every_section_tells_means_of_its_runs(section: tuple[str, Section]) -> None:
    name, told = section
    assert "2 rules" in told.says or "2 hidden rules" in told.says or name == "recovery"
    for table in (*told.tables, *told.times):
        assert table.rows
        for row in table.rows:
            assert len(row.figures) == len(table.columns)
        lines = table.markdown().splitlines()[2:]
        assert len({len(line) for line in lines}) == 1
        assert len(lines) == 2 + len(table.rows)
    by_rule = [table for table in told.tables if table.corner == "rule" and name != "recovery"]
    for table in by_rule:
        assert [row.name for row in table.rows] == ["short", "long", "all"]


def test_means_and_order_of_single_cells() -> None:
    told = SECTIONS["sample_efficiency"](Runs(tuple(runs("sample_efficiency"))))
    exact, accuracy, by_rule, _ = (table.to_dict() for table in told.tables)
    assert exact["columns"] == ["10", "50"]
    assert exact["rows"] == {OURS: [0.5, 0.5], "decision tree": [0, 0]}
    assert accuracy["rows"][OURS] == [0.95, 0.95]
    assert by_rule["rows"]["short"] == [10, 1, 1]
    asked = SECTIONS["active"](Runs(tuple(runs("active")))).tables
    assert asked[0].to_dict()["rows"] == {
        "the most telling scene": [0, 0, 0, 0.5],
        "a scene at random": [0, 0, 0.5, 0.5],
    }
    assert asked[1].to_dict()["rows"]["all"] == [None, 3, 2]
    proofs = SECTIONS["scaling"](Runs(tuple(runs("scaling"))))
    assert proofs.tables[0].to_dict()["rows"]["all"] == [None, 0, 1]
    assert proofs.times[2].markdown().splitlines()[4] == "| short | 10   | 1.50 | 1.50 |".replace(
        "10  ", "  10"
    )


def test_learners_that_were_not_there_are_named() -> None:
    told = Runs(tuple(runs("noise")))
    assert told.learners == (OURS, "decision tree")
    assert told.absent == ("Popper",)


def test_figures_are_the_same_bytes_and_ask_for_nothing(section: tuple[str, Section]) -> None:
    for figure in (*section[1].figures, *section[1].time_figures):
        text = figure.svg()
        assert text == figure.svg()
        ElementTree.fromstring(text)
        assert not re.search(r"<dc:date>|<script|href=\"(?!#)|url\((?!#)|@import", text)
        for panel in figure.panels:
            assert f">{panel.title}<" in text


def test_a_figure_leaves_a_gap_where_there_is_no_figure() -> None:
    panel = Panel("times", "scenes", [10, 100], {"a": [None, 2.0], "b": [0.1, 30.0]}, False, True, True)
    text = PaperFigure("f", "says", (panel,)).svg()
    assert ">10<" in text
    assert ">100<" in text


def test_the_shipped_paper_is_of_shipped_presets_that_limit_work(tmp_path: Path) -> None:
    tree: Any = OmegaConf.load(config_directory() / "preset/paper.yaml")
    config = parse_config({"dataset": {"kind": "warehouse"}, "paper": OmegaConf.to_container(tree.paper)})
    assert tuple(config.paper.sections) == tuple(SECTIONS)
    for sweep in planned(config.paper, ["hydra/launcher=basic", "seed=0"], tmp_path):
        (words,) = (word for word in sweep.words if word.startswith("preset="))
        preset: Any = OmegaConf.load(config_directory() / f"{words.replace('=', '/')}.yaml")
        swept = {**preset.hydra.sweeper.params, **dict(word.split("=", 1) for word in sweep.words)}
        rules = RULES[STRUCTS[swept.get("dataset", "warehouse")]]
        assert set(swept["dataset.rule"].split(",")) <= set(rules)
        request = read_command_line(["-m", *(word.split(",")[0] for word in sweep.words), *_firsts(swept)])
        assert request is not None
        assert request.first.learner.work_limit
        assert request.first.learner.time_limit >= 3600


def _firsts(swept: Mapping[str, Any]) -> list[str]:
    """One value of each key that a sweep has several of."""
    return [f"{key}={str(value).split(',')[0]}" for key, value in swept.items() if "," in str(value)]


PAGES = ("README.md", "experiments/EXPERIMENTS.md")
QUOTED = re.compile(r"<!-- from experiments/results/(paper|times)\.md -->\n+((?:\|.*\n)+)")


def test_the_tables_of_the_pages_are_those_of_the_kept_paper() -> None:
    kept = {name: (ROOT / f"experiments/results/{name}.md").read_text("utf-8") for name in ("paper", "times")}
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        quotes = QUOTED.findall(text)
        assert len(quotes) == text.count("<!-- from experiments/results/")
        for name, table in quotes:
            assert f"\n\n{table}\n" in kept[name] + "\n", f"{page} quotes what is not in {name}.md:\n{table}"


def test_the_kept_paper_is_whole_and_of_this_version() -> None:
    folder = ROOT / "experiments/results"
    kept = json.loads((folder / "paper.json").read_text("utf-8"))
    assert kept["version"] == __version__
    assert tuple(kept["sections"]) == tuple(SECTIONS)
    markdown = "".join((folder / f"{name}.md").read_text("utf-8") for name in ("paper", "times"))
    for name in re.findall(r"!\[.*\]\((.*)\)", markdown):
        ElementTree.fromstring((folder / name).read_text("utf-8"))
    for tables in kept["sections"].values():
        for table in tables:
            assert f"\n\n{table['title']}\n\n| " in markdown
