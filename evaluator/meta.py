"""Meta of a defined check: how bad a failure is, what the check is about, and what it rests on.

    {"severity": "warn",                                        fail (also written error), warn or info
     "tags": ["budget"],
     "references": ["Fire code, part 4",
                    {"source": "SOP", "url": "https://example.org/sop"},
                    {"source": "SOP", "anchor": {"asset_id": "doc-1", "anchor": "row[3]"}}],
     "pack": "yard-safety@1.2.0"}                               the pack it came from, id@version

All of it is optional and other keys are free. `define_check` and packs judge meta; evaluation carries
whatever a check on the wire has, unchanged.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from msgspec import Struct

from evaluator.errors import CheckError, kind_of, nearest
from evaluator.values import compact

Severity = Literal["error", "warn", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warn", "info")
"""From the gravest to the slightest."""

_WORDS: Final[dict[str, Severity]] = {"error": "error", "fail": "error", "warn": "warn", "info": "info"}
_PACK_ID = re.compile(r"[^@\s]+@[^@\s]+")


class Meta(Struct, frozen=True):
    """What the known keys of a check's meta say.

    Attributes:
        severity: "error" when nothing is said; "fail" on the wire is the same.
        tags: what the check is about, in the order given.
        references: what it rests on; each a text or an object with a `source`, as on the wire.
        pack: the pack it came from, `id@version`.
    """

    severity: Severity = "error"
    tags: tuple[str, ...] = ()
    references: tuple[str | dict[str, Any], ...] = ()
    pack: str | None = None


def parse_meta(meta: object, place: str = "$.meta") -> Meta:
    """What a check's meta says; None says nothing.

    Raises `CheckError` at the place of what is not as it should be.
    """
    if meta is None:
        return Meta()
    if type(meta) is not dict:
        raise CheckError(f"meta is an object, got {kind_of(meta)}", place)
    return Meta(
        severity=_severity(meta["severity"], f"{place}.severity") if "severity" in meta else "error",
        tags=_tags(meta.get("tags", []), f"{place}.tags"),
        references=_references(meta.get("references", []), f"{place}.references"),
        pack=_pack(meta["pack"], f"{place}.pack") if "pack" in meta else None,
    )


def require_pack_id(value: object, place: str) -> str:
    """A pack's name and version, `id@version`; raises `CheckError` for anything else."""
    if type(value) is not str or not _PACK_ID.fullmatch(value):
        shown = compact(value) if type(value) is str else kind_of(value)
        raise CheckError(f'expected the name and version of a pack, "yard-safety@1.2.0", got {shown}', place)
    return value


def _severity(value: object, place: str) -> Severity:
    if type(value) is str and value in _WORDS:
        return _WORDS[value]
    meant = nearest(value, _WORDS) if type(value) is str else None
    shown = compact(value) if type(value) is str else kind_of(value)
    hint = f'; did you mean "{meant}"?' if meant else ""
    raise CheckError(f"a severity is fail (or error), warn or info, got {shown}{hint}", place)


def _tags(value: object, place: str) -> tuple[str, ...]:
    if type(value) is not list:
        raise CheckError(f"expected an array of tags, got {kind_of(value)}", place)
    for index, tag in enumerate(value):
        _require_text(tag, "a tag, a string that is not empty", f"{place}[{index}]")
    return tuple(value)


def _references(value: object, place: str) -> tuple[str | dict[str, Any], ...]:
    if type(value) is not list:
        raise CheckError(f"expected an array of references, got {kind_of(value)}", place)
    for index, reference in enumerate(value):
        _judge_reference(reference, f"{place}[{index}]")
    return tuple(value)


def _judge_reference(reference: object, place: str) -> None:
    if type(reference) is not dict:
        expected = 'a reference, a text or an object with "source" and "url" or "anchor"'
        _require_text(reference, expected, place)
        return
    _require_text(reference.get("source"), "the name of the source, a string", f"{place}.source")
    if "url" not in reference and "anchor" not in reference:
        raise CheckError('a reference with a "source" also has a "url" or an "anchor"', place)
    if "url" in reference:
        _require_text(reference["url"], "a url, a string", f"{place}.url")
    if "anchor" in reference:
        _judge_anchor(reference["anchor"], f"{place}.anchor")


def _judge_anchor(anchor: object, place: str) -> None:
    if type(anchor) is not dict:
        _require_text(anchor, 'an anchor, a text or an object with an "asset_id"', place)
        return
    _require_text(anchor.get("asset_id"), "the asset's id, a string", f"{place}.asset_id")
    if "anchor" in anchor:
        _require_text(anchor["anchor"], "the place in the asset, a string", f"{place}.anchor")


def _pack(value: object, place: str) -> str:
    return require_pack_id(value, place)


def _require_text(value: object, expected: str, place: str) -> None:
    if type(value) is not str or not value.strip():
        shown = "an empty one" if type(value) is str else kind_of(value)
        raise CheckError(f"expected {expected}, got {shown}", place)
