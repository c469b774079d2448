"""Earlier scores of semantic assertions, kept in a file, for `threshold="dynamic"`.

A SQLite file with write-ahead logging: test runs that share it, and the workers of one run, read while others
write and write one after the other. Of an evaluation it keeps the stable id of the assertion, the score, the
status and the order; nothing of the trace, the prompt or the reply.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypedDict, TypeVar

from evaluator.providers.errors import HistoryError

_APPLICATION = 0x45564853  # marks the file as a score history
_VERSION = 1
_STATUSES = ("pass", "soft_fail", "hard_fail")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_SCHEMA = (
    """CREATE TABLE score (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        assertion TEXT NOT NULL,
        score REAL NOT NULL,
        status TEXT NOT NULL
    )""",
    "CREATE INDEX score_of_assertion ON score (assertion, place)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)
_PRUNE = """
DELETE FROM score WHERE place IN (
    SELECT place FROM (
        SELECT place, row_number() OVER (
            PARTITION BY assertion, status = 'hard_fail' ORDER BY place DESC
        ) AS age FROM score
    ) WHERE age > ?
)
"""
Result = TypeVar("Result")


class PastScore(TypedDict):
    """One earlier evaluation."""

    score: float
    status: str


class ScoreHistory:
    """The scores in one file, which is created, but not its folder, by the first `record`.

    Parameters:
        path: the file. Not on a network drive: its locks do not hold there.
        wait: seconds to wait for another process that is writing.

    Every method opens the file and closes it again, so one object may be used from threads and across a fork.
    Raises `HistoryError`, one sentence with the path, when the file is locked for longer than `wait`, cannot
    be read or written, is damaged, or is something else than a history.
    """

    def __init__(self, path: str | Path, *, wait: float = 30.0) -> None:
        self.path = Path(path)
        self._wait = wait

    def __repr__(self) -> str:
        return f"ScoreHistory({str(self.path)!r})"

    def scores(self, assertion_id: str) -> list[PastScore]:
        """The scores under a stable assertion id, oldest first; none when there is no file yet."""
        if not self.path.exists():
            return []
        query = "SELECT score, status FROM score WHERE assertion = ? ORDER BY place"
        rows = self._patiently(lambda: self._read(query, (assertion_id,)))
        return [{"score": score, "status": status} for score, status in rows]

    def record(self, assertion_id: str, score: float, status: str) -> None:
        """Add a score, the latest one. What was not evaluated has none: `ValueError` for such a status."""
        if status not in _STATUSES:
            raise ValueError(f"a score has the status {', '.join(_STATUSES)}, got {status!r:.40}")
        if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
            raise ValueError(f"a score is a number in 0…1, got {score!r:.40}")
        statement = "INSERT INTO score (assertion, score, status) VALUES (?, ?, ?)"
        self._patiently(lambda: self._write(statement, (assertion_id, float(score), status)))

    def prune(self, keep: int = 200) -> int:
        """Remove all but the latest `keep` hard failures and the latest `keep` others of each assertion.

        Returns how many were removed. The two are kept apart because a dynamic threshold looks only at what
        did not fail hard: a bad week must not push out the scores that it is measured by. With 50 or more
        kept, every threshold stays as it was.
        """
        if type(keep) is not int or keep < 0:
            raise ValueError(f"keep is a whole number from 0 up, got {keep!r:.40}")
        if not self.path.exists():
            return 0
        return self._patiently(lambda: self._write(_PRUNE, (keep,)))

    def _read(self, query: str, parameters: tuple[object, ...]) -> list[tuple[float, str]]:
        address = f"{self.path.resolve().as_uri()}?mode=ro"
        if not self._may_be_shared():
            address += "&immutable=1"
        with closing(
            sqlite3.connect(address, timeout=self._wait, isolation_level=None, uri=True)
        ) as connection:
            connection.execute("BEGIN")
            return connection.execute(query, parameters).fetchall() if self._is_ours(connection) else []

    def _may_be_shared(self) -> bool:
        """Whether a reader can do as readers do: create a file beside the history, to share with writers.

        In a folder where it may not, the history is read as it stands, unless a writer left its log there.
        """
        by_effective_user = os.access in os.supports_effective_ids
        folder = self.path.resolve().parent
        if os.access(folder, os.W_OK, effective_ids=by_effective_user):
            return True
        return (folder / f"{self.path.resolve().name}-wal").exists()

    def _write(self, statement: str, parameters: tuple[object, ...]) -> int:
        """Run one statement, wholly or not at all; how many rows it changed."""
        with closing(sqlite3.connect(self.path, timeout=self._wait, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            exists = self._is_ours(connection)
            connection.execute("ROLLBACK")
            if not exists:
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")  # closing without COMMIT takes everything back
            if not self._is_ours(connection):
                for definition in _SCHEMA:
                    connection.execute(definition)
            changed = connection.execute(statement, parameters).rowcount
            connection.execute("COMMIT")
            return changed

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is a history already, False when it is empty.

        In a transaction, since another process may be creating it between one look and the next.
        """
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application == _APPLICATION:
            if version != _VERSION:
                raise self._unusable(f"its format is {version}, and this program reads format {_VERSION}")
            return True
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application or version or tables:
            raise self._unusable("it is the SQLite file of another program")
        return False

    def _patiently(self, work: Callable[[], Result]) -> Result:
        """Do what SQLite refuses at once, its own waiting aside, while another process opens or closes."""
        deadline = time.monotonic() + self._wait
        while True:
            try:
                return work()
            except sqlite3.Error as error:
                busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY
                if busy and time.monotonic() < deadline:
                    time.sleep(0.005)
                    continue
                raise self._unusable(self._reason(error, busy=busy)) from None

    def _unusable(self, why: str) -> HistoryError:
        return HistoryError(f"{self.path}: the score history cannot be used: {why}")

    def _reason(self, error: sqlite3.Error, *, busy: bool) -> str:
        if busy:
            return f"another process held it for {self._wait:g} s"
        if self.path.is_dir():
            return "it is a folder"
        if not self.path.parent.is_dir():
            return "its folder does not exist"
        return str(error)
