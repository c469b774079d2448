"""Whatever can go wrong with a store, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from experiments.tracking.address import masked

NO_SERVER = "what answers there is no MLflow server, or too old a one"
_LONGEST = 200


class TrackingError(Exception):
    """A run could not be recorded; the message is one sentence that names the address and the reason."""


@contextmanager
def one_sentence(uri: str) -> Iterator[None]:
    """Whatever MLflow, its database driver or the network raises, as a :class:`TrackingError`."""
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:
        reason = masked(_reason(error).replace(uri, masked(uri)))
        raise TrackingError(f"tracking: {masked(uri)!r} can't be used: {reason}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    text = str(error).strip().removeprefix("(sqlite3.OperationalError) ") or type(error).__name__
    for pattern, words in _SAID:
        found = re.search(pattern, text)
        if found:
            return words(found) if callable(words) else words
    first = re.split(r"(?<=\.) |\n", text, maxsplit=1)[0].rstrip(".")
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"


def _status(found: re.Match[str]) -> str:
    code = found[1]
    if code == "401":
        return (
            "the server asks who you are (401); set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, "
            "or MLFLOW_TRACKING_TOKEN"
        )
    if code == "403":
        return "the server refuses (403)"
    if code in ("404", "405") or code.startswith(("2", "3")):
        return f"{NO_SERVER} ({code})"
    return f"the server answers with an error ({code})"


def _schema(found: re.Match[str]) -> str:
    """MLflow calls every schema that is not its own out of date, also one from its future."""
    import mlflow
    from mlflow.store import db_migrations

    migrations = Path(db_migrations.__file__).with_name("versions")
    if any(migrations.glob(f"{found[1]}_*.py")):
        return (
            "an older MLflow made it; keep a copy and run mlflow db upgrade with its address, "
            "or choose another address"
        )
    return (
        f"another MLflow than {mlflow.__version__} made it, likely a newer one; use that, or another address"
    )


# What MLflow and what it stands on say, from the special to the general, and how we say it.
_SAID: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"too many (\d+) error responses", _status),
    (r"failed with error code (\d+)", _status),
    (r"not in a valid JSON format|has no field named", NO_SERVER),
    (r"NameResolutionError|Name or service not known|getaddrinfo failed", "there is no such host"),
    (r"\[SSL: ?(\w+)|CERTIFICATE_VERIFY_FAILED", "no secure connection can be made"),
    (r"[Rr]ead timed out|Timeout", "the server does not answer in time"),
    (r"Max retries exceeded", "nothing answers at this address"),
    (r"out-of-date database schema \(found version (\w+)", _schema),
    (r"database is locked", "another program holds the database; wait for it to end, or end it"),
    (r"No module named '([\w.]+)'", lambda found: f"the Python package {found[1]} is missing; install it"),
)
