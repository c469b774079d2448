"""What the command lines about finished runs share: mistakes in one sentence, and the store of run ids."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from evaluator.safe_text import printable
from experiments.report.files import ReportError
from experiments.report.sources import DEFAULT_STORE
from experiments.tracking import TrackingError

_BAD_INPUT, _INTERRUPTED, _READER_GONE = 2, 130, 141


class Parser(argparse.ArgumentParser):
    """Says a mistake in one sentence, as the rest of ``experiments`` does."""

    def error(self, message: str) -> NoReturn:
        self.exit(_BAD_INPUT, f"{self.prog}: {printable(message)}; {self.prog} --help shows what there is\n")


def add_store(parser: argparse.ArgumentParser) -> None:
    """The option that names the MLflow store of the ids among the words."""
    parser.add_argument(
        "--uri",
        metavar="URI",
        help=f"the MLflow store of the ids (default: MLFLOW_TRACKING_URI, else {DEFAULT_STORE})",
    )


def answer(program: str, work: Callable[[], None]) -> int:
    """Do the work of a command, and return its exit code; a mistake of the user is one sentence."""
    try:
        work()
        sys.stdout.flush()
    except (ReportError, TrackingError) as error:
        return _stop(program, str(error))
    except BrokenPipeError:  # the reader has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at the exit
        return _READER_GONE
    except OSError as error:
        said = f"{error.filename}: {(error.strerror or '').lower()}" if error.filename else str(error)
        return _stop(program, said)
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _stop(program: str, sentence: str) -> int:
    print(f"{program}: {printable(sentence)}", file=sys.stderr)
    return _BAD_INPUT
