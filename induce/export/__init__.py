"""Checks and learning tasks for other programs: the text of a check in an export format, and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluator import compile_check, json_text
from induce.export.files import require_writable, write_atomically

__all__ = ["EXPORT_FORMATS", "export_check", "require_writable", "write_atomically"]

EXPORT_FORMATS = ("json", "core", "cel", "python", "las")


def export_check(check: Mapping[str, Any], fmt: str = "json") -> str:
    """The text of a check, bare or defined (``{"id", "expr", "meta"?}``), in one of :data:`EXPORT_FORMATS`.

    ``json``
        The wire format, indented, keys in the order of `check`, numbers as `evaluator.json_text` has them
        (``"Infinity"`` for what JSON cannot hold).
    ``core``
        The same in the forms of the original evaluator alone, see `induce.export.core.core_profile`.
    ``cel``
        An expression for `evaluator.from_cel`, see `evaluator.to_cel`.
    ``python``
        A module with ``passes(scene)`` that needs the standard library alone, see
        `induce.export.python.python_source`.
    ``las``
        Rules of an answer set program, see `induce.export.las.check_rules`.

    Every form has the verdict of the check on every scene. The text ends in a newline.

    Raises
    ------
    CheckError
        When the check is not well formed, or the format cannot say a part of it; `place` says which.
    ValueError
        When the format is unknown.
    """
    if fmt not in EXPORT_FORMATS:
        raise ValueError(f"unknown export format {fmt!r}; there are {', '.join(EXPORT_FORMATS)}")
    wire = json.loads(json_text(dict(check)))
    match fmt:
        case "core":
            from induce.export.core import core_profile

            wire = core_profile(wire).check
        case "cel":
            from evaluator import to_cel

            return to_cel(wire) + "\n"
        case "python":
            from induce.export.python import python_source

            return python_source(wire)
        case "las":
            from induce.export.las import check_rules

            return check_rules(wire)
        case _:
            compile_check(wire)
    return json.dumps(wire, indent=2, ensure_ascii=False) + "\n"
