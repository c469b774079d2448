"""What evaluating a check on a scene gives: the verdict, the gap, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct


class CheckResult(Struct, eq=False):
    """The outcome of one check on one scene.

    Attributes:
        passed: the verdict; on the wire, `"pass"`.
        gap: distance to satisfaction, in the units of what is compared: 0 if and only if the check passes,
            possibly infinite.
        meta: the `meta` of a defined check, the same object for every result of it; None when there is none.
        A
            check with assertions over traces adds `status` and, where there is one, `reason`.
        why: one sentence, built when it is first asked for from the values that decided the verdict. Ask
            before changing an array or object of the scene in place.
        anchor: the place of the failure, `{"asset_id", "anchor"?}`, when anchors were asked for and there is
            one to point at; else None.

    A result is true exactly when the check passed.
    """

    passed: bool
    gap: float
    _explain: str | Callable[[Any], str]
    _subject: Any = None
    meta: Any = None
    anchor: dict[str, str] | None = None

    @property
    def why(self) -> str:
        """What was observed and, on a failure, what was wanted."""
        explain = self._explain
        if not isinstance(explain, str):
            explain = explain(self._subject)
            self._explain, self._subject = explain, None
        return explain

    def carry(self, meta: Any) -> None:
        """Take on the meta of the defined check; the status of an assertion, if there is one, goes beside it.

        A meta that is no object then stands under the key "meta".
        """
        if self.meta is None:
            self.meta = meta
        else:
            self.meta = (meta if type(meta) is dict else {"meta": meta}) | self.meta

    def to_dict(self) -> dict[str, Any]:
        """The result on the wire: `pass`, `gap`, `why` and, where there are any, `anchor` and `meta`."""
        wire: dict[str, Any] = {"pass": self.passed, "gap": self.gap, "why": self.why}
        if self.anchor is not None:
            wire["anchor"] = self.anchor
        if self.meta is not None:
            wire["meta"] = self.meta
        return wire

    def __bool__(self) -> bool:
        return self.passed

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, CheckResult) else NotImplemented

    def __repr__(self) -> str:
        meta = "" if self.meta is None else f", meta={self.meta!r}"
        anchor = "" if self.anchor is None else f", anchor={self.anchor!r}"
        return f"CheckResult(passed={self.passed}, gap={self.gap!r}, why={self.why!r}{anchor}{meta})"

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckResult, (self.passed, self.gap, self.why, None, self.meta, self.anchor)
