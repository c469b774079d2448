"""Keeps the passwords in tracking addresses out of what Hydra writes and prints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from experiments.tracking.address import masked
from induce.export import write_atomically

_VARIABLE = "CHECK_INDUCTION_TRACKING_URI"
_GIVEN = re.compile(r"(?P<key>\+{0,2}tracking\.uri)=(?P<quote>['\"]?)(?P<uri>.*)(?P=quote)", re.S)


def without_passwords(words: Iterable[str]) -> list[str]:
    """A command line on which an address with a password is named by an environment variable.

    The variable is set here, and inherited by the processes of a sweep.
    """
    kept = []
    for word in words:
        given = _GIVEN.fullmatch(word)
        if given and masked(given["uri"]) != given["uri"]:
            os.environ[_VARIABLE] = re.sub(r"\\(.)", r"\1", given["uri"])
            word = f"{given['key']}=${{oc.env:{_VARIABLE}}}"
        kept.append(word)
    return kept


def mask_files(folder: Path) -> None:
    """Take the passwords out of the YAML files that Hydra wrote into the folder of a run or a sweep.

    They get there from configs of one's own.
    """
    for path in (*folder.glob("*.yaml"), *folder.glob(".hydra/*.yaml")):
        text = path.read_text(encoding="utf-8")
        if masked(text) != text:
            write_atomically(path, masked(text))
