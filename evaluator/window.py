"""Time windows over verdicts: the worst, or the best, of what held in the last minutes.

A verdict holds from its tick to the next. A window `{"from": -300, "to": 0}` at the time of a tick counts
every tick after its opening up to its close, and the verdict in force as it opens, which is the last one at
or before that moment. Nothing is known of the time before the first tick, and nothing is assumed of it.

The decisive verdict is kept by a monotonic queue (ascending minima of a sliding window): a verdict that is
decided by a later one is dropped at once, so that each enters and leaves once, O(1) amortised a tick, and at
most the ticks of the window are held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import inf, isfinite
from typing import Any, Final, NamedTuple

from msgspec import Struct

from evaluator.errors import CheckError, kind_of, nearest
from evaluator.result import CheckResult
from evaluator.values import compact, number_text

QUANTIFIERS: Final = ("always", "eventually")


class TimeWindow(Struct, frozen=True):
    """A stretch of time relative to a tick, in seconds, and how its verdicts become one.

    `start` < `end` <= 0. The quantifier `always` asks whether the check held all the time (the worst gap in
    the window), `eventually` whether it held at some time (the best gap).
    """

    start: float
    end: float
    quantifier: str

    @classmethod
    def of(cls, window: object, quantifier: str | None = None) -> TimeWindow:
        """A window on the wire, `{"from", "to"?, "quantifier"?}`; by default up to 0, and `always`.

        Raises `CheckError` when it is not well formed, with its place below `window`.
        """
        if isinstance(window, TimeWindow):
            return window
        if not isinstance(window, Mapping):
            problem = f'expected an object such as {{"from": -300, "to": 0}}, got {kind_of(window)}'
            raise CheckError(problem, "window")
        for key in window:
            if key not in ("from", "to", "quantifier"):
                meant = nearest(key, ("from", "to", "quantifier")) if isinstance(key, str) else None
                advice = f'did you mean "{meant}"?' if meant else 'a window has "from", "to" and "quantifier"'
                raise CheckError(f"unknown key {compact(key)}; {advice}", "window")
        if "from" not in window:
            raise CheckError(
                'a window needs "from", the seconds before a tick at which it opens (-300)', "window"
            )
        start, end = _seconds(window["from"], "from"), _seconds(window.get("to", 0), "to")
        if end > 0:
            raise CheckError(
                f"a window ends at the tick or before it (at most 0), got {number_text(end)}", "window.to"
            )
        if start >= end:
            problem = f"a window opens before it closes, got from {number_text(start)} to {number_text(end)}"
            raise CheckError(problem, "window.from")
        return cls(start, end, _quantifier(window.get("quantifier"), quantifier))


def _seconds(value: Any, key: str) -> float:
    if type(value) is not int and type(value) is not float:
        raise CheckError(f"expected a number of seconds, got {kind_of(value)}", f"window.{key}")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = inf
    if not isfinite(seconds):
        raise CheckError("expected a finite number of seconds", f"window.{key}")
    return seconds


def _quantifier(inside: Any, beside: Any) -> str:
    for value in (inside, beside):
        if value is not None and (type(value) is not str or value not in QUANTIFIERS):
            got = compact(value) if type(value) is str else kind_of(value)
            raise CheckError(f'expected "always" or "eventually", got {got}', "window.quantifier")
    if inside is not None and beside is not None and inside != beside:
        raise CheckError(f'the window says "{inside}" and the argument "{beside}"', "window.quantifier")
    quantifier: str = inside or beside or "always"
    return quantifier


class Verdict(Struct, eq=False):
    """What one tick found; `until` is the time of the next tick, infinite while there is none.

    The text is kept, not the scene: what is held must not grow with scenes, nor change when they do. What was
    not `evaluated` (`three_valued.py`) decides before what passes and after what fails, as in logic.
    """

    at: float
    gap: float
    why: str
    until: float = inf
    meta: Any = None
    evaluated: bool = True

    @property
    def weight(self) -> tuple[int, float]:
        """What the verdict is worth, the less the better."""
        return (0 if self.gap == 0.0 else 2 if self.evaluated else 1), self.gap


class Outlook(NamedTuple):
    """What a window will be with a tick kept: its decisive verdict, and how many leave and enter it."""

    decisive: Verdict | None
    leaving: int
    entering: int


class SlidingWindow:
    """The verdicts that may still decide a window, now or later. Looking changes nothing, keeping does."""

    __slots__ = ("_held", "_last", "_waiting", "window")

    def __init__(self, window: TimeWindow) -> None:
        self.window = window
        self._held: deque[Verdict] = deque()  # each more decisive than the ones after it
        self._waiting: deque[Verdict] = deque()  # later than the window's close
        self._last: Verdict | None = None

    def __len__(self) -> int:
        """How many verdicts are held."""
        return len(self._held) + len(self._waiting)

    def look(self, new: Verdict) -> Outlook:
        """What the window is at the time of `new`, which is not earlier than any verdict kept."""
        opens, closes = new.at + self.window.start, new.at + self.window.end
        leaving, entering, decisive = 0, 0, None
        for verdict in self._held:
            if min(verdict.until, new.at) > opens:
                decisive = verdict
                break
            leaving += 1
        for verdict in self._waiting:
            if verdict.at > closes:
                break
            entering += 1
            if min(verdict.until, new.at) > opens:
                decisive = self._decisive(decisive, verdict)
        if new.at <= closes:
            decisive = self._decisive(decisive, new)
        return Outlook(decisive, leaving, entering)

    def keep(self, new: Verdict, outlook: Outlook) -> None:
        """Move on to the time of `new`, of which `outlook` is what `look` gave."""
        opens, closes = new.at + self.window.start, new.at + self.window.end
        if self._last is not None:
            self._last.until = new.at
        self._last = new
        for _ in range(outlook.leaving):
            self._held.popleft()
        for _ in range(outlook.entering):
            verdict = self._waiting.popleft()
            if verdict.until > opens:
                self._push(verdict)
        if new.at <= closes:
            self._push(new)
        else:
            self._waiting.append(new)

    def _push(self, verdict: Verdict) -> None:
        while self._held and self._decisive(self._held[-1], verdict) is verdict:
            self._held.pop()
        self._held.append(verdict)

    def _decisive(self, earlier: Verdict | None, later: Verdict) -> Verdict:
        """Of two verdicts the one that decides; of equal ones the later."""
        if earlier is None:
            return later
        if self.window.quantifier == "always":
            return later if later.weight >= earlier.weight else earlier
        return later if later.weight <= earlier.weight else earlier

    def result(self, decisive: Verdict | None, now: float, meta: Any) -> CheckResult:
        """The result over the window: the decisive verdict's gap, and its reason after the time it is from.

        While no verdict has reached the window, `always` holds and `eventually` does not (gap infinite), as
        `and` and `or` do of nothing; the result then has the `meta` given, else the decisive verdict's.
        """
        if decisive is None:
            holds = self.window.quantifier == "always"
            return CheckResult(holds, 0.0 if holds else inf, "no verdict in the window yet", None, meta)
        if decisive.at < now + self.window.start:
            when = f"as the window opened, {_age(-self.window.start)} ago"
        elif decisive.at < now:
            when = f"{_age(now - decisive.at)} ago"
        else:
            when = "now"
        return CheckResult(decisive.gap == 0.0, decisive.gap, f"{when}: {decisive.why}", None, decisive.meta)


def _age(seconds: float) -> str:
    return f"{number_text(round(seconds, 3) if seconds >= 0.001 else seconds)} s"
