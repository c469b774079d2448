"""The learner with its settings and limits, as the options of ``induce learn`` give them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from induce.commands.display import shown_progress
from induce.crossval import accuracy_of, cross_validate
from induce.scenes import LabelledScenes
from induce.summary import HeldOut

if TYPE_CHECKING:
    from induce.result import InductionResult


@dataclass(frozen=True)
class Learner:
    """How checks are learnt and judged; `progress` as in `shown_progress`."""

    settings: Mapping[str, Any]
    time_limit: float
    work_limit: int | None
    jobs: int | None
    progress: bool | None

    def learn(self, scenes: LabelledScenes, task: str = "") -> InductionResult:
        """Learn a check; an interrupt, or a termination, gives the best so far (see `learn_check`)."""
        with terminable():
            try:
                return self._learn(scenes, task)
            except KeyboardInterrupt:
                raise KeyboardInterrupt("interrupted before a check was ready; nothing was written") from None

    def _learn(self, scenes: LabelledScenes, task: str) -> InductionResult:
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

    def check_for_fold(self, scenes: LabelledScenes) -> dict[str, Any]:
        """The check learnt from all but one fold; raises KeyboardInterrupt when it was interrupted."""
        result = self._learn(scenes, "cross-validation")
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        return result.check

    def hold_out(
        self,
        result: InductionResult,
        training: LabelledScenes,
        unseen: LabelledScenes | None,
        folds: int | str | None,
        seed: int,
    ) -> HeldOut:
        """Judge the check on unseen scenes and cross-validate: the folds share the limits of one run.

        `folds` may be the reason why there are none. Several jobs learn from several folds at a time.
        """
        test = None if unseen is None else accuracy_of(result.check, unseen)
        if not isinstance(folds, int):
            return HeldOut(test, None, folds)
        share = replace(
            self,
            time_limit=self.time_limit / folds,
            work_limit=None if self.work_limit is None else max(1, self.work_limit // folds),
            progress=self.progress if self.jobs in (None, 1) else False,
        )
        try:
            validation = cross_validate(training, share.check_for_fold, folds, seed, n_jobs=self.jobs)
        except ValueError as error:
            return HeldOut(test, None, f"learning from {folds - 1} of {folds} folds failed: {error}")
        return HeldOut(test, validation)


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
