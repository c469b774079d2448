"""Live re-evaluation: a check attached to a changing scene, and a callback that hears of transitions only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import inf, isfinite
from typing import Any

from evaluator.compile import CompiledCheck, compile_check
from evaluator.errors import SceneError, kind_of
from evaluator.operators.three_valued import with_status
from evaluator.result import CheckResult
from evaluator.values import number_text
from evaluator.window import SlidingWindow, TimeWindow, Verdict

Callback = Callable[[CheckResult, Any], object]


class Subscription:
    """A check that is evaluated at every tick. Made by `attach_check`; may be used from several threads."""

    def __init__(
        self, check: CompiledCheck, on: Callback, *, fire_on_first: bool, window: TimeWindow | None
    ) -> None:
        self._check = check
        self._on = on
        self._fire_on_first = fire_on_first
        self._window = None if window is None else SlidingWindow(window)
        self._lock = threading.RLock()
        self._calling = False
        self._subscribed = True
        self._passed: bool | None = None
        self._time: float | None = None

    def tick(self, scene: object, at: float | None = None) -> CheckResult:
        """Evaluate the scene as it is now, call back on a transition, and return the result.

        With a window the result is the window's: its gap is the worst (always) or the best (eventually) in
        it, and `why` says when that was ("12.5 s ago: ..."). The verdict of a window also changes when a
        failure leaves it; between ticks nothing runs, so that is noticed at the next tick.

        Parameters:
            scene: any JSON tree. Only the text of its verdict is kept.
            at: the time of the tick in seconds, from any origin; by default the monotonic clock's. Never
                earlier than that of the tick before.

        Raises:
            SceneError: the time is no number or went backwards, or the scene holds something that is not JSON
                where the check looks.
            RuntimeError: called from inside its own callback.

        Whatever is raised, also by the callback, leaves the subscription as it was before the tick.
        """
        with self._lock:
            if self._calling:
                raise RuntimeError("a subscription cannot tick inside its own callback; tick after it")
            now = self._now(at)
            result = self._check(scene)
            window = self._window
            if window is not None:
                verdict = self._verdict(result, now)
                outlook = window.look(verdict)
                result = window.result(outlook.decisive, now, self._check.meta)
                if self._check.three_valued and outlook.decisive is None:
                    result = self._with_status_alone(result)
            if self._subscribed and self._is_transition(result.passed):
                self._calling = True
                try:
                    self._on(result, scene)
                finally:
                    self._calling = False
            if window is not None:
                window.keep(verdict, outlook)
            self._passed, self._time = result.passed, now
            return result

    def unsubscribe(self) -> None:
        """Never call back again, from when this returns. Ticks still evaluate; harmless when repeated."""
        with self._lock:
            self._subscribed = False

    def _with_status_alone(self, result: CheckResult) -> CheckResult:
        """The result of a window without a verdict, its status beside the meta of the check."""
        result.meta = None
        with_status(result)
        if self._check.meta is not None:
            result.carry(self._check.meta)
        return result

    def _verdict(self, result: CheckResult, now: float) -> Verdict:
        evaluated = self._check.is_evaluated(result)
        return Verdict(now, result.gap, result.why, meta=result.meta, evaluated=evaluated)

    def _is_transition(self, passed: bool) -> bool:
        return self._fire_on_first if self._passed is None else passed is not self._passed

    def _now(self, at: float | None) -> float:
        now = time.monotonic() if at is None else _seconds(at)
        if self._time is not None and now < self._time:
            times = f"this tick is at {number_text(now)} s, the one before at {number_text(self._time)} s"
            raise SceneError(f"time went backwards: {times}", "at")
        return now


def _seconds(at: Any) -> float:
    if type(at) is not int and type(at) is not float:
        raise SceneError(f"the time of a tick is a number of seconds, got {kind_of(at)}", "at")
    try:
        seconds = float(at)
    except OverflowError:
        seconds = inf
    if not isfinite(seconds):
        raise SceneError("the time of a tick is a finite number of seconds", "at")
    return seconds


def attach_check(
    check: object,
    on: Callback,
    *,
    fire_on_first: bool = False,
    window: object = None,
    quantifier: str | None = None,
) -> Subscription:
    """Attach a check to a scene that changes: `on(result, scene)` is called when the verdict changes.

    Parameters:
        check: a bare expression, a defined check, a `Check` or a `CompiledCheck`.
        on: the callback. It runs inside the tick; when it raises, the tick raises and counts as not happened.
        fire_on_first: whether the first tick calls back as well; exactly True, nothing else.
        window: `{"from": -300, "to": 0, "quantifier": "always"}`, in seconds relative to each tick, from < to
            <= 0: did the check hold all through ("always", the default), or at some time in ("eventually"),
            the last 300 s? A verdict holds from its tick to the next, so the one in force when the window
            opens counts. `to` may be left out (0).
        quantifier: the window's quantifier, when not given in it.

    Raises:
        CheckError: the check or the window is not well formed.
        TypeError: `on` cannot be called.

    >>> heard = []
    >>> is_shut = {"op": "eq", "path": "door", "value": "shut"}
    >>> door = attach_check(is_shut, lambda result, scene: heard.append(result.why))
    >>> for state in ("shut", "open", "open", "shut"):
    ...     _ = door.tick({"door": state})
    >>> heard
    ['door: expected "shut", got "open"', 'door = "shut"']
    """
    if not callable(on):
        raise TypeError(f"on: expected a function of a result and a scene, got {kind_of(on)}")
    if window is None and quantifier is not None:
        window = {}  # says what is missing
    return Subscription(
        compile_check(check),
        on,
        fire_on_first=fire_on_first is True,
        window=None if window is None else TimeWindow.of(window, quantifier),
    )
