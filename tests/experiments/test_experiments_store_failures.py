"""Stores that can't be used, through the command line: one sentence, exit code 2, and the results on disk."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main

ROOT = Path(__file__).resolve().parents[2]
SMALL = (
    "dataset=jsonl",
    "dataset.train=scenes.jsonl",
    "dataset.test=scenes.jsonl",
    "tracking.model=false",
    "tracking.report=false",
)
RESULTS = {"check.json", "result.json", "predictions.jsonl", "misclassified.jsonl", "environment.json"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f'{{"label": "{"pass" if n > 3 else "fail"}", "scene": {{"n": {n}}}}}' for n in range(8)]
    (tmp_path / "scenes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


_SEVERAL = """
import json, sys
from experiments.cli import main
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as stopped:
        codes.append(stopped.code)
print(json.dumps(codes))
"""


class Said:
    """What the command says on stderr, in this process or in one of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self.capsys, self.patch = folder, capsys, patch

    def here(self, *words: str) -> str:
        """The command as its entry point runs it; importing MLflow once is enough."""
        self.patch.chdir(self.folder)
        self.patch.setattr(sys, "argv", ["experiments", *SMALL, *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        return self.sentence(stopped.value.code, self.capsys.readouterr().err)

    def elsewhere(self, limit: Callable[[], None], *lines: Sequence[str]) -> list[str]:
        """The same for several command lines in a process that ``limit`` binds."""
        done = subprocess.run(
            [sys.executable, "-c", _SEVERAL, json.dumps([[*SMALL, *words] for words in lines])],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=limit,
        )
        assert done.returncode == 0, done.stderr
        ended = json.loads(done.stdout.splitlines()[-1])
        said = done.stderr.splitlines(keepends=True)
        assert len(said) == len(ended) == len(lines), done.stderr
        return [self.sentence(code, text) for code, text in zip(ended, said, strict=True)]

    def sentence(self, code: object, text: str) -> str:
        """The one sentence, once the exit code and the results are as they should be and nothing litters."""
        assert code == 2, text
        (line,) = text.splitlines()
        assert line.startswith("experiments: tracking")
        sentence, _, place = line.removeprefix("experiments: ").rpartition("; the results are in ")
        assert {path.name for path in (self.folder / place).iterdir()} >= RESULTS
        assert not [path for path in self.folder.rglob("*") if path.name.startswith(".mlflow.db")]
        return sentence


@pytest.fixture
def said(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    for name in [name for name in os.environ if name.startswith(("MLFLOW_", "HYDRA_"))]:
        monkeypatch.delenv(name)
    return Said(folder, capsys, monkeypatch)


def test_a_database_of_another_time_says_which(said: Said, folder: Path, store: Path) -> None:
    for name, revision in (("older", "451aebb31d03"), ("newer", "ffffffffffff")):
        copy = folder / f"{name}.db"
        shutil.copy(store, copy)
        with sqlite3.connect(copy) as database:
            database.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        database.close()
    assert said.here("tracking.uri=sqlite:///older.db") == (
        "tracking: 'sqlite:///older.db' can't be used: an older MLflow made it; keep a copy and run "
        "mlflow db upgrade with its address, or choose another address"
    )
    assert "likely a newer one" in said.here("tracking.uri=sqlite:///newer.db")


def test_a_locked_database_is_waited_for_and_then_named(
    said: Said, folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.tracking.store._PATIENCE", 0.5)
    shutil.copy(store, folder / "mlflow.db")
    holder = sqlite3.connect(folder / "mlflow.db")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        sentence = said.here()
    finally:
        holder.close()
    assert sentence.endswith("another program holds the database; wait for it to end, or end it")


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("./mlruns", "'./mlruns' is MLflow's retired file store; use an SQLite file"),
        ("file:mlruns", "'file:mlruns' is MLflow's retired file store; use an SQLite file"),
        ("sqlite:///scenes.jsonl", "can't be used: file is not a database"),
        ("sqlite:///places.db", "can't be used: the file holds something else than an MLflow store"),
        ("sqlite:///empty.db", "can't be used: the file holds nothing at all"),
        ("http://me:s3cret@127.0.0.1:9", "'http://127.0.0.1:9' can't be used: nothing answers"),
    ],
)
def test_an_address_of_no_use(uri: str, reason: str, said: Said, folder: Path) -> None:
    with sqlite3.connect(folder / "places.db") as database:
        database.execute("CREATE TABLE places (name)")
    database.close()
    (folder / "empty.db").touch()
    before = {name: (folder / name).read_bytes() for name in ("scenes.jsonl", "places.db", "empty.db")}
    assert reason in said.here(f"tracking.uri={uri}")
    assert before == {name: (folder / name).read_bytes() for name in before}
    assert not (folder / "mlruns").exists()
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if b"s3cret" in path.read_bytes()]


def without_root() -> None:
    """Let the permissions of files bind this process, also where it runs as root."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # to write, and to read, past the permissions
            if libc.prctl(24, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")


posix = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="permissions as Linux has them")


@posix
def test_what_is_read_only(said: Said, folder: Path, store: Path) -> None:
    (folder / "empty").mkdir(mode=0o555)
    for name in ("file", "folder", "files"):
        (folder / name).mkdir()
        shutil.copy(store, folder / name)
    (folder / "file/mlflow.db").chmod(0o444)
    (folder / "folder").chmod(0o555)
    (folder / "files/kept").mkdir(mode=0o555)
    places = ("empty", "file", "folder", "files")
    lines = [[f"tracking.uri=sqlite:///{name}/mlflow.db", "tracking.artifacts=files/kept"] for name in places]
    no_file, file, no_journal, no_artifact = said.elsewhere(without_root, *lines)
    written = "can't be used: attempt to write a readonly database"
    assert no_file == (
        "tracking: 'sqlite:///empty/mlflow.db' can't be used: "
        f"Permission denied: {folder / 'empty/mlflow.db'}"
    )
    assert file == f"tracking: 'sqlite:///file/mlflow.db' {written}"
    assert no_journal.startswith("tracking: 'sqlite:///folder/mlflow.db' can't be used: ")
    assert "'sqlite:///files/mlflow.db' can't be used: Permission denied: " in no_artifact


def full_disk(size: int) -> Callable[[], None]:
    """No file grows beyond ``size`` bytes, as if there were no space."""
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@posix
def test_a_disk_that_is_full(said: Said, folder: Path, store: Path) -> None:
    shutil.copy(store, folder / "made.db")
    lines = [["tracking.uri=sqlite:///mlflow.db"], ["tracking.uri=sqlite:///made.db"]]
    for sentence in said.elsewhere(full_disk(100_000), *lines):
        assert "can't be used: " in sentence
    assert not (folder / "mlflow.db").exists()


@contextmanager
def answering(code: int, kind: str, body: bytes) -> Iterator[str]:
    """The address of a server that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("code", "kind", "body", "reason"),
    [
        (500, "text/plain", b"Traceback", "the server answers with an error (500)"),
        (403, "text/html", b"<html>Forbidden</html>", "the server refuses (403)"),
        (200, "text/html", b"<!doctype html><p>Log in", "what answers there is no MLflow server, or too old"),
    ],
)
def test_a_server_that_answers_otherwise(code: int, kind: str, body: bytes, reason: str, said: Said) -> None:
    with answering(code, kind, body) as address:
        sentence = said.here(f"tracking.uri={address}")
    assert sentence.startswith(f"tracking: {address!r} can't be used: {reason}")


def test_without_a_store_nothing_is_recorded(experiments: Any, folder: Path) -> None:
    done = experiments(folder, *SMALL, "tracking=none")
    assert (done.returncode, done.stderr) == (0, "")
    assert "mlflow" not in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["outputs", "scenes.jsonl"]
