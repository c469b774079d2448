"""The learner with its settings and limits, as the options of ``induce learn`` give them."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from induce.commands.display import shown_progress
from induce.crossval import accuracy_of, judged, stratified_folds, without_each
from induce.parallel import in_parallel, workers
from induce.scenes import LabelledScenes
from induce.summary import HeldOut

if TYPE_CHECKING:
    from induce.result import InductionResult


VALIDATION_SHARE = 1 / 3
"""The share of the time limit that is kept for cross-validation, where there is one."""


@dataclass(frozen=True)
class Learner:
    """How checks are learnt and judged; `progress` as in `shown_progress`.

    `time_limit` is for learning a check and cross-validating it together.
    """

    settings: Mapping[str, Any]
    time_limit: float
    work_limit: int | None
    jobs: int | None
    progress: bool | None

    def kept_for(self, folds: int | str | None) -> float:
        """The seconds that learning leaves to the folds, if there are any."""
        return VALIDATION_SHARE * self.time_limit if isinstance(folds, int) else 0.0

    def learn(
        self, scenes: LabelledScenes, folds: int | str | None = None, task: str = ""
    ) -> InductionResult:
        """Learn a check; an interrupt, or a termination, gives the best so far (see `learn_check`)."""
        from induce.options import check_seconds

        check_seconds("time_limit", self.time_limit)
        limit = self.time_limit - self.kept_for(folds)
        with terminable():
            try:
                return replace(self, time_limit=limit).found(scenes, task)
            except KeyboardInterrupt:
                raise KeyboardInterrupt("interrupted before a check was ready; nothing was written") from None

    def found(self, scenes: LabelledScenes, task: str) -> InductionResult:
        """What is learnt within the whole time limit."""
        from induce.learn import learn_check

        with shown_progress(self.progress, task) as listener:
            return learn_check(
                scenes.scenes,
                scenes.require_labels(),
                ids=scenes.ids,
                sample_weight=scenes.weights,
                time_limit=self.time_limit,
                work_limit=self.work_limit,
                progress=listener,
                **self.settings,
            )

    def hold_out(
        self,
        result: InductionResult,
        training: LabelledScenes,
        unseen: LabelledScenes | None,
        folds: int | str | None,
        seed: int,
    ) -> HeldOut:
        """Judge the check on unseen scenes and cross-validate, in the time that learning it has left.

        `folds` may be the reason why there are none. Several jobs learn from several folds at a time; the
        folds share the work limit.
        """
        test = None if unseen is None else accuracy_of(result.check, unseen)
        if not isinstance(folds, int):
            return HeldOut(test, None, folds)
        share = replace(
            self,
            work_limit=None if self.work_limit is None else max(1, self.work_limit // folds),
            progress=self.progress if self.jobs in (None, 1) else False,
        )
        deadline = time.monotonic() + self.time_limit - result.seconds
        parts = stratified_folds(training, folds, seed)
        turns = FoldTurns(share, deadline, folds, workers(self.jobs))
        try:
            learnt = in_parallel(turns.learn, enumerate(without_each(training, parts)), self.jobs)
        except ValueError as error:
            return HeldOut(test, None, f"learning from {folds - 1} of {folds} folds failed: {error}")
        done = [(part, one) for part, one in zip(parts, learnt, strict=True) if one is not None]
        if not done:
            spent = f"learning used up the time limit of {self.time_limit:g} s (--time-limit SECONDS)"
            return HeldOut(test, None, spent)
        validation = judged(training, [part for part, _ in done], [one.check for _, one in done])
        cut = sum(one.stopped == "time" for _, one in done)
        return HeldOut(test, replace(validation, cut=cut, skipped=folds - len(done)))


@dataclass(frozen=True)
class FoldTurns:
    """The time until a deadline (of the monotonic clock), shared among folds.

    So many of them are learnt from `at_a_time`; what one leaves is for those that follow.
    """

    learner: Learner
    deadline: float
    folds: int
    at_a_time: int

    def learn(self, number: int, scenes: LabelledScenes) -> InductionResult | None:
        """The check learnt without a fold; None where there is no time left for it.

        Raises KeyboardInterrupt when it was interrupted.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            return None
        turns = math.ceil(self.folds / self.at_a_time) - number // self.at_a_time
        result = replace(self.learner, time_limit=left / turns).found(scenes, "cross-validation")
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        return result


@contextmanager
def terminable() -> Iterator[None]:
    """Within the block a request to terminate (SIGTERM) is an interrupt, so that what was found is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
