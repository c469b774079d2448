"""The score history: what it keeps, with many writers at once, and when its file is not usable."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from evaluator import HistoryError, JudgeRequest, ProviderError, Providers, ScoreHistory, evaluate_assertion

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from evaluator import ScoreHistory
history, name = ScoreHistory(sys.argv[1]), sys.argv[2]
for number in range(40):
    history.record("shared", number / 100, "pass")
    history.record(name, number / 100, "soft_fail")
    seen = [past["score"] for past in history.scores(name)]
    assert seen == [n / 100 for n in range(number + 1)], seen
"""


@pytest.fixture
def history(tmp_path: Path) -> ScoreHistory:
    return ScoreHistory(tmp_path / "scores with space?#%.db")


def test_scores_come_back_in_order(history: ScoreHistory) -> None:
    assert history.scores("a") == []
    assert not history.path.exists()
    history.record("a", 0.5, "pass")
    history.record("b", 1, "hard_fail")
    history.record("a", 0.25, "soft_fail")
    assert history.scores("a") == [{"score": 0.5, "status": "pass"}, {"score": 0.25, "status": "soft_fail"}]
    assert ScoreHistory(str(history.path)).scores("b") == [{"score": 1.0, "status": "hard_fail"}]
    assert history.scores("c' OR 1=1 --") == []


def test_it_keeps_nothing_but_id_score_status_and_order(history: ScoreHistory) -> None:
    history.record("a", 0.5, "pass")
    connection = sqlite3.connect(history.path)
    columns = [column[1] for column in connection.execute("PRAGMA table_info(score)")]
    mode = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    assert columns == ["place", "assertion", "score", "status"]
    assert mode == ("wal",)


def test_processes_write_at_once(history: ScoreHistory) -> None:
    """From the creation of the file on, no score is lost and none is out of order."""
    command = [sys.executable, "-c", WRITER, str(history.path)]
    started = [
        subprocess.Popen([*command, f"own {number}"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for number in range(5)
    ]
    assert [(process.communicate(timeout=100)[1], process.returncode) for process in started] == [("", 0)] * 5
    assert sorted(past["score"] for past in history.scores("shared")) == sorted(
        number / 100 for number in range(40) for _ in range(5)
    )


def test_it_is_created_by_many_at_once(tmp_path: Path) -> None:
    for number in range(12):
        together = Barrier(6)
        history = ScoreHistory(tmp_path / f"{number}.db")

        def write(_: int, history: ScoreHistory = history, together: Barrier = together) -> None:
            together.wait(timeout=30)
            history.record("a", 0.5, "pass")

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(write, range(6)))
        assert len(history.scores("a")) == 6


def test_pruning(history: ScoreHistory) -> None:
    assert history.prune() == 0
    for number in range(6):
        history.record("a", number / 10, "pass" if number % 2 else "soft_fail")
        history.record("a", number / 10, "hard_fail")
    history.record("b", 1, "pass")
    assert history.prune(keep=2) == 8
    assert history.scores("a") == [
        {"score": 0.4, "status": "soft_fail"},
        {"score": 0.4, "status": "hard_fail"},
        {"score": 0.5, "status": "pass"},
        {"score": 0.5, "status": "hard_fail"},
    ]
    assert len(history.scores("b")) == 1
    assert history.prune(keep=2) == 0
    history.record("a", 0.6, "pass")
    assert history.scores("a")[-1]["score"] == 0.6
    assert history.prune(keep=0) == 6
    with pytest.raises(ValueError, match="keep is a whole number"):
        history.prune(keep=-1)


@pytest.mark.parametrize(
    ("score", "status"),
    [(0.5, "not_evaluated"), (1.5, "pass"), (True, "pass"), (float("nan"), "pass"), ("1", "pass")],
)
def test_what_is_no_score_is_not_recorded(history: ScoreHistory, score: float, status: str) -> None:
    with pytest.raises(ValueError, match="a score "):
        history.record("a", score, status)
    assert not history.path.exists()


def test_damaged_files(history: ScoreHistory) -> None:
    for number in range(20):
        history.record("long id " * 200, number / 20, "pass")
    whole = history.path.read_bytes()
    history.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HistoryError, match=r"cannot be used: .*malformed"):
        history.scores("long id " * 200)
    history.path.write_bytes(b"scores: 1, 2, 3\n" * 100)
    for use in (lambda: history.scores("a"), lambda: history.record("a", 1, "pass"), history.prune):
        with pytest.raises(HistoryError, match=r"scores with space.*cannot be used: file is not a database$"):
            use()
    assert history.path.read_bytes().startswith(b"scores: 1")


def test_the_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE score (assertion, score, status)")
    connection.close()
    before = path.read_bytes()
    for use in (lambda: ScoreHistory(path).scores("a"), lambda: ScoreHistory(path).record("a", 1, "pass")):
        with pytest.raises(HistoryError, match="it is the SQLite file of another program"):
            use()
    assert path.read_bytes() == before


def test_a_later_format_is_not_guessed_at(history: ScoreHistory) -> None:
    history.record("a", 1, "pass")
    connection = sqlite3.connect(history.path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(HistoryError, match="its format is 9, and this program reads format 1"):
        history.scores("a")


def test_a_locked_file(history: ScoreHistory) -> None:
    history.record("a", 1, "pass")
    other = sqlite3.connect(history.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = ScoreHistory(history.path, wait=0.05)
    assert impatient.scores("a") == [{"score": 1.0, "status": "pass"}]  # readers do not wait for writers
    with pytest.raises(HistoryError, match=r"another process held it for 0\.05 s"):
        impatient.record("a", 1, "pass")
    other.execute("ROLLBACK")
    other.close()
    impatient.record("a", 0.5, "pass")
    assert len(history.scores("a")) == 2


def test_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="its folder does not exist"):
        ScoreHistory(tmp_path / "none" / "x.db").record("a", 1, "pass")
    for use in (
        lambda: ScoreHistory(tmp_path).scores("a"),
        lambda: ScoreHistory(tmp_path).record("a", 1, "pass"),
    ):
        with pytest.raises(HistoryError, match="it is a folder"):
            use()


@pytest.mark.skipif(sys.platform == "win32", reason="needs the permissions of POSIX")
def test_a_read_only_file_is_read() -> None:
    """In a process of its own: one of root's may write anything, so it becomes nobody first."""
    script = """
import os, sys, tempfile
from pathlib import Path
from evaluator import HistoryError, ScoreHistory
folder = Path(tempfile.mkdtemp())
history = ScoreHistory(folder / "scores.db")
history.record("a", 1, "pass")
history.path.chmod(0o444)
folder.chmod(0o555)
if os.geteuid() == 0:
    os.seteuid(65534)
print(history.scores("a"))
try:
    history.record("a", 1, "pass")
except HistoryError as error:
    print(str(error).removeprefix(str(history.path)))
if os.getuid() == 0:
    os.seteuid(0)
folder.chmod(0o755)
history.path.unlink()
folder.rmdir()
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "[{'score': 1.0, 'status': 'pass'}]",
        ": the score history cannot be used: attempt to write a readonly database",
    ]


def test_dynamic_thresholds_read_it_and_an_unusable_one_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"no database at all\n" * 50)

    def judge(_: JudgeRequest) -> str:
        return '{"score": 0.9}'

    trace = {"steps": [], "output": {"message": "x"}}
    ask = {"method": "passes_judge", "args": {"criteria": "c", "threshold": "dynamic"}}
    good = Providers(judge=judge, history=ScoreHistory(tmp_path / "good.db"))
    assert evaluate_assertion(trace, ask, good).status == "pass"
    bad = Providers(judge=judge, history=ScoreHistory(tmp_path / "bad.db"))
    found = evaluate_assertion(trace, ask, bad)
    assert (found.status, found.reason) == ("not_evaluated", "provider")
    assert "file is not a database" in found.why
    assert issubclass(HistoryError, ProviderError)
