"""The commands of the `evaluator` command line, one module each: `add_parser` and `run`."""

from __future__ import annotations


class UnusableInputError(Exception):
    """The input of a command cannot be used; the message is one sentence for the user, the exit code 2."""
