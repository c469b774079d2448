"""Reports as texts: what they say, that nothing in a run can break out of them, and that they stay small."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from report_runs import (
    CHECK,
    HALF,
    HOSTILE,
    SCENES,
    full_evaluation,
    write_hostile,
    write_run,
    write_sweep,
)

from evaluator import sentence
from experiments.compare.contenders import read_judged
from experiments.compare.differences import compare
from experiments.compare.page import render_comparison
from experiments.report import read_run, render_run
from experiments.report.cli import main
from experiments.report.files import ReportError, RunFiles
from experiments.report.sources import find
from experiments.report.sweep_page import render_sweep
from experiments.report.tree import Branch, tree_of

ROOT = Path(__file__).resolve().parents[2]
MARKUP = (
    "<",
    "</pre>",
    "</details></main>",
    "<!--",
    "]]>",
    "&lt;",
    "&#0;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "--><b>",
)


class Page(HTMLParser):
    """The elements of a page in order, and the text of those that are shown."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.style = ""
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)
        self.text += " " if tag in ("td", "th", "dd", "dt", "br", "p") else ""

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            continue

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            self.style += data
        else:
            self.text += data

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def sweep_page(folder: Path) -> str:
    def read(path: Path, name: str | None, alone: bool) -> RunFiles:
        return read_run(path, name=name, brief=not alone)

    return render_sweep(find(str(folder), read))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "full", evaluation=full_evaluation())
    write_run(folder / "bare")
    write_hostile(folder / "hostile")
    write_sweep(folder / "sweep")
    return folder


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, str]:
    runs = {name: render_run(read_run(folder / name)) for name in ("full", "bare", "hostile")}
    found = [find(str(folder / "sweep"), read_judged)]
    return {**runs, "sweep": sweep_page(folder / "sweep"), "comparison": render_comparison(compare(found))}


PAGES = ("full", "bare", "hostile", "sweep", "comparison")


def test_a_run_with_everything_is_told_in_full(pages: dict[str, str]) -> None:
    page = Page(pages["full"])
    words = page.words
    assert sentence(CHECK) in words
    assert "53 of 60" in words  # right on unseen scenes: every ninth label of sixty is wrong
    assert "54 of 60 right in 5 folds; 3 of 5 folds learnt one and the same check" in words
    assert "p = 0.048" in words
    assert "for 0 of 20 shufflings" in words
    assert "Nothing is below 40 bits, the check is at 46.5; the time limit stopped the search." in words
    assert "1 other check has the same objective" in words
    assert "judges 3 of 400 plausible scenes differently" in words
    assert "Expected to settle 0.9 bits" in words
    assert "absent: popper is not on the PATH" in words
    assert "7 mistakes" in words
    assert "the check wants total is at least 5 observed total is" in words
    assert sum(tag == "svg" and "chart" in (attrs.get("class") or "") for tag, attrs in page.elements) == 4
    assert '"op": "gte"' in words  # the check as JSON


def test_what_a_run_did_not_measure_is_said_with_what_to_run(pages: dict[str, str]) -> None:
    words = Page(pages["bare"]).words
    assert words.count("evaluation=full") >= 5
    for override in ("evaluation.folds=5", "evaluation.permutations=20", "evaluation.alternatives=5"):
        assert override in words
    assert "nan" not in words
    assert "None" not in words


def test_parts_that_the_scenes_did_not_allow_say_why(tmp_path: Path) -> None:
    nothing = {"instead": "two different scenes of each label are needed"}
    found = {"cross_validation": nothing, "permutation": nothing, "alternatives": [], "next_scenes": []}
    curve = full_evaluation()["learning_curve"][-1:]
    write_run(tmp_path, scenes=4, evaluation={**found, "learning_curve": curve})
    words = Page(render_run(read_run(tmp_path))).words
    assert words.count("Two different scenes of each label are needed.") == 2
    assert "There is one point alone" in words
    assert "No check near the best differs from it on a plausible scene." in words
    assert "there is nothing to settle among them" in words


def test_the_json_of_the_check_can_be_copied(folder: Path) -> None:
    for name in ("full", "hostile"):
        page = render_run(read_run(folder / name))
        text = re.search(r'<pre class="copy"[^>]*>(.*?)</pre>', page, re.DOTALL)
        assert text is not None
        expected = json.loads((folder / name / "check.json").read_text(encoding="utf-8"))["expr"]
        assert json.loads(html.unescape(text[1])) == expected


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_nothing_that_could_run_or_ask_for_anything(pages: dict[str, str], name: str) -> None:
    page = Page(pages[name])
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "form",
        "input",
        "base",
        "audio",
        "video",
    }
    assert [tag for tag, _ in page.elements].count("style") == 1
    for tag, attributes in page.elements:
        for key, value in attributes.items():
            assert not key.startswith("on"), (tag, key)
            assert key not in ("style", "src", "srcset", "action", "background", "poster"), (tag, key)
            if key in ("href", "xlink:href"):
                assert value == "data:," or (value or "").startswith("#"), (tag, value)
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", page.style)
    assert "@import" not in page.style
    policies = [
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode("ascii")
    assert policies == [
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    ]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_utf8_without_signs_that_mislead(pages: dict[str, str], name: str) -> None:
    pages[name].encode("utf-8")  # no half of a surrogate pair
    misleading = {c for c in pages[name] if not c.isprintable()} - {"\n", "\N{NO-BREAK SPACE}"}
    assert not misleading


@pytest.mark.parametrize("name", PAGES)
def test_ids_are_unique_and_what_refers_to_them_finds_them(pages: dict[str, str], name: str) -> None:
    page = Page(pages[name])
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for key in ("href", "aria-labelledby"):
            value = attributes.get(key)
            if value and value != "data:,":
                assert value.removeprefix("#") in ids
    for reference in re.findall(r"url\(#([\w-]+)\)", pages[name]):
        assert reference in ids


@pytest.mark.parametrize("name", PAGES)
def test_headings_step_down_one_level_at_a_time(pages: dict[str, str], name: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(pages[name]).elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_hostile_texts_are_shown_as_they_are_written(pages: dict[str, str]) -> None:
    text = Page(pages["hostile"]).text
    assert text.count("<script>alert(1)</script>") > 20
    assert "\\u202eevil\\u202c" in text
    assert "\\ud800" in text
    assert "$\\frac{1}{2}$" in text
    assert HOSTILE not in text
    assert HALF not in text


def skeleton(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """The elements of a page with the names of their attributes, without places where a line may end."""
    return [(tag, tuple(attributes)) for tag, attributes in Page(page).elements if tag != "wbr"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=()), min_size=1, max_size=60) | st.sampled_from(MARKUP))
@example(HALF)
def test_no_text_changes_what_a_page_is_made_of(tmp_path: Path, text: str) -> None:
    def page(said: str) -> str:
        write_run(
            tmp_path,
            scenes=9,
            name=lambda name: f"{name}{said}",
            why=said,
            evaluation=full_evaluation(said),
            results={"anytime": [], "baselines": [], "versions": {"a": said}},
        )
        (tmp_path / "predictions.jsonl").unlink()
        return render_run(read_run(tmp_path, name=said))

    plain, other = page("a name"), page(text)
    assert skeleton(other) == skeleton(plain)
    other.encode("utf-8")


def test_twenty_thousand_scenes_make_a_small_page_that_says_what_it_leaves_out(tmp_path: Path) -> None:
    write_run(tmp_path, scenes=10_000, flip=2, evaluation=full_evaluation())
    page = render_run(read_run(tmp_path))
    assert len(page.encode()) < 500_000
    words = Page(page).words
    assert "The first 50 of 5,000; misclassified.jsonl in the run's folder has all of them." in words
    assert "10,000 labelled scenes" in words


def test_a_long_scene_is_cut_and_says_so(tmp_path: Path) -> None:
    write_run(tmp_path, why="w" * 300_000)
    page = render_run(read_run(tmp_path))
    assert len(page.encode()) < 3_000_000
    assert "more characters" in Page(page).words


def test_the_same_run_gives_the_same_bytes(folder: Path, pages: dict[str, str]) -> None:
    script = (
        "import sys; from pathlib import Path; from experiments.report import read_run, render_run; "
        "sys.stdout.buffer.write(render_run(read_run(Path(sys.argv[1]))).encode())"
    )
    again = subprocess.run(
        [sys.executable, "-c", script, str(folder / "full")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )
    assert again.stdout.decode() == pages["full"]


def test_the_folder_of_a_run_leaves_no_trace_in_its_page(folder: Path, pages: dict[str, str]) -> None:
    for name in PAGES[:3]:
        assert str(folder) not in pages[name]


def test_a_sweep_has_its_table_its_runs_and_what_failed(pages: dict[str, str]) -> None:
    page = Page(pages["sweep"])
    words = page.words
    assert "4 finished runs, told apart by learner.engine, seed. 1 run has not finished." in words
    assert "Accuracy on unseen scenes" in words
    assert "enumerate 70 %" in words
    assert "dataset.path: orders.jsonl does not exist" in words
    rows = [attributes["href"] for tag, attributes in page.elements if tag == "a" and attributes["href"]]
    assert {"#run-1", "#run-2", "#run-3", "#run-4"} <= set(rows)
    assert sum(tag == "svg" for tag, _ in page.elements) == 1


def test_a_large_sweep_says_what_it_leaves_out(tmp_path: Path) -> None:
    for number in range(130):
        config = {"dataset": {"kind": "shop"}, "learner": {"engine": "asp"}, "seed": number}
        write_run(tmp_path / str(number), scenes=2, config=config)
    words = Page(sweep_page(tmp_path)).words
    assert "Those of the first 120 of 130 runs" in words
    assert "This sweep has no table." in words


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("result.json", "{", r"result\.json: not JSON \("),
        ("result.json", "{}", r"result\.json: object missing required field `dataset`"),
        ("result.json", '{"dataset": 1}', r"result\.json: expected `object`, got `int` - at `\$\.dataset`"),
        (
            "evaluation.json",
            '{"permutation": []}',
            r"evaluation\.json: expected `object \| null`, got `array`",
        ),
        (
            "predictions.jsonl",
            '{"split": "train"}\n',
            r"predictions\.jsonl, line 1: expected split, id, label",
        ),
        ("predictions.jsonl", "\n[", r"predictions\.jsonl, line 2: not JSON"),
        ("misclassified.jsonl", "1\n", r"misclassified\.jsonl, line 1: expected split, id, label"),
        ("config.yaml", "a: [", r"config\.yaml: not YAML"),
        ("result.json", None, r"not a finished run, it has no result\.json"),
    ],
)
def test_damaged_files_are_named_in_one_sentence(
    tmp_path: Path, file: str, text: str | None, problem: str
) -> None:
    write_run(tmp_path, scenes=4)
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match=problem) as raised:
        read_run(tmp_path)
    assert "\n" not in str(raised.value)


def test_dates_and_numbers_as_keys_of_a_configuration_are_shown(tmp_path: Path) -> None:
    write_run(tmp_path, scenes=4)
    (tmp_path / "config.yaml").write_text("dataset: {since: 2026-01-31, 7: 8}\nseed: 0\n", encoding="utf-8")
    words = Page(render_run(read_run(tmp_path))).words
    assert "2026-01-31" in words
    assert "nan" not in words


def test_a_check_that_is_none_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, scenes=4)
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    result["induction"]["check"] = {"op": "no such"}
    (tmp_path / "result.json").write_text(json.dumps(result), encoding="utf-8")
    with pytest.raises(ReportError, match="no such"):
        render_run(read_run(tmp_path))


def test_amounts_beyond_doubles_and_infinite_gaps_are_drawn(tmp_path: Path) -> None:
    write_run(tmp_path, scenes=6)
    lines = (tmp_path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    for record, gap in zip(records, (10**400, "Infinity", 0.5, 1e300, 3, 7), strict=False):
        record.update({"pass": False, "gap": gap})
    (tmp_path / "predictions.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    page = render_run(read_run(tmp_path))
    assert "gap ∞: " in page


def test_a_tree_says_what_joins_and_what_is_searched() -> None:
    assert tree_of(CHECK) == Branch(
        "At least one of these holds",
        below=(
            Branch("total is at least 5"),
            Branch(
                "No element of",
                "items",
                "has all of",
                (Branch('kind is "book"'), Branch("price is at most 3")),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("check", "heading"),
    [
        ({"op": "find", "collection": "a", "where": {"op": "exists", "path": "b"}}, "Some element of a has"),
        (
            {"op": "count", "collection": "a", "gte": 2, "lte": 3, "where": {"op": "exists", "path": "b"}},
            "At least 2 and at most 3 elements of a have",
        ),
        (
            {"op": "count", "collection": "a", "eq": 1, "where": {"op": "exists", "path": "b"}},
            "Exactly 1 element of a has",
        ),
        (
            {
                "op": "not",
                "of": {
                    "op": "find",
                    "collection": "a",
                    "where": {"op": "not", "of": {"op": "exists", "path": "b"}},
                },
            },
            "Every element of a has",
        ),
        (
            {"op": "not", "of": {"op": "or", "of": [{"op": "exists", "path": "a"}] * 2}},
            "It is not so that",
        ),
        (
            {"op": "find", "collection": "a", "where": {"op": "eq", "path": "", "value": 1}},
            "Some element of a has",
        ),
    ],
)
def test_headings_of_searches(check: dict[str, object], heading: str) -> None:
    branch = tree_of(check)
    assert " ".join(filter(None, (branch.words, branch.collection, branch.then))) == heading
    assert branch.below


def test_the_command_writes_the_page_beside_the_run(
    folder: Path, pages: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder / "full")]) == 0
    assert (folder / "full/report.html").read_text(encoding="utf-8") == pages["full"]
    said = capsys.readouterr()
    assert said.out == f"report: {folder / 'full/report.html'} (1 run)\n"
    assert said.err == ""


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("nothing", "nothing: no such folder, and no id of an MLflow run (32 hexadecimal digits)"),
        ("file", "file: a file, not the folder of a run or a sweep"),
        ("empty", "empty: neither a run nor a sweep, there is no result.json in it or in its folders"),
        ("failed", "failed: the run has not finished; seed: too many"),
        ("0" * 32, f"{'0' * 32}: no such folder, and no MLflow store at sqlite:///mlflow.db"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    word: str,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    Path("file").touch()
    Path("empty").mkdir()
    Path("failed").mkdir()
    Path("failed/unfinished.json").write_text('{"status": "failed", "sentence": "seed: too many"}')
    assert main([word]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"experiments report: {problem}")
    assert said.err.count("\n") == 1
    assert list(Path.cwd().rglob("*.html")) == []


def test_a_page_that_cannot_be_written_is_one_sentence(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "None" / "page.html"
    assert main([str(folder / "full"), "-o", str(page)]) == 2
    problem = f"{page}: the folder {page.parent} does not exist; make it first"
    assert capsys.readouterr().err == f"experiments report: {problem}\n"


def test_scenes_of_the_fixture_are_as_many_as_it_says(folder: Path) -> None:
    run = read_run(folder / "full")
    assert run.predictions is not None
    assert len(run.predictions) == 2 * SCENES
    assert sum(not one.right for one in run.predictions) == len(run.mistakes)
