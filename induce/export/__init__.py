"""Checks and learning tasks for other programs: the text of a check in an export format, and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluator import compile_check, json_text
from induce.export.files import require_writable, write_atomically

__all__ = ["EXPORT_FORMATS", "export_check", "require_writable", "write_atomically"]

EXPORT_FORMATS = ("json",)


def export_check(check: Mapping[str, Any], fmt: str = "json") -> str:
    """The text of a check, bare or defined (``{"id", "expr", "meta"?}``), in one of :data:`EXPORT_FORMATS`.

    ``json`` is the wire format, indented, keys in the order of `check`, numbers as `evaluator.json_text` has
    them (``"Infinity"`` for what JSON cannot hold). The text ends in a newline.

    Raises
    ------
    CheckError
        When the check is not well formed.
    ValueError
        When the format is unknown.
    """
    if fmt not in EXPORT_FORMATS:
        raise ValueError(f"unknown export format {fmt!r}; there are {', '.join(EXPORT_FORMATS)}")
    wire = json.loads(json_text(dict(check)))
    compile_check(wire)
    return json.dumps(wire, indent=2, ensure_ascii=False) + "\n"
