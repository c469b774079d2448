"""What `next`, `label` and `alternatives` share: scenes with and without labels, and rival checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evaluator import sentence
from induce.commands import note
from induce.commands.inputs import bits_text
from induce.scenes import LabelledScenes, load_scenes

if TYPE_CHECKING:
    from induce.committee import Rival
    from induce.query import Question
    from induce.result import InductionResult

PoolFile = Annotated[
    str | None,
    typer.Option(
        "--pool", metavar="FILE", help="Scenes without a label, from which to choose.", show_default=False
    ),
]
TimeLimit = Annotated[
    float, typer.Option(metavar="SECONDS", help="For learning, and for the search of rivals after it.")
]


@dataclass(frozen=True)
class Material:
    """Labelled scenes to learn from, and unlabelled ones that may be asked; no pool is None."""

    labelled: LabelledScenes
    pool: LabelledScenes | None

    @classmethod
    def read(cls, scenes: str, pool: str | None, fmt: str | None, label_column: str) -> Material:
        """The scenes of a file that have labels; those without one join the pool, before those of its file.

        Scenes of the pool that have labels count as if they had none.
        """
        data = load_scenes(scenes, fmt=fmt, label_column=label_column)
        unlabelled = [i for i, label in enumerate(data.labels) if label is None]
        parts = [data.subset(unlabelled)] if unlabelled else []
        if pool is not None:
            parts.append(load_scenes(pool, fmt=fmt, label_column=label_column))
        labelled = data.subset(i for i, label in enumerate(data.labels) if label is not None)
        return cls(labelled, _joined(parts) if parts else None)

    def rivals(
        self, grammar: dict[str, Any] | None, time_limit: float, within: float | None = None
    ) -> tuple[InductionResult, tuple[Rival, ...]]:
        """Learn a check and gather those near it, each within the time limit."""
        from induce.committee import WITHIN, near_best
        from induce.learn import learn_check

        scenes, labels, weights = self.labelled.scenes, self.labelled.labels, self.labelled.weights
        result = learn_check(
            scenes, labels, grammar, ids=self.labelled.ids, sample_weight=weights, time_limit=time_limit
        )
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        rivals = near_best(
            scenes,
            labels,
            result.check,
            grammar,
            sample_weight=weights,
            within=WITHIN if within is None else within,
            time_limit=time_limit,
        )
        if rivals[0].objective < result.objective:
            note(
                f"a check of {bits_text(rivals[0].objective)} bits was met beside the learnt one; "
                "a longer --time-limit finds it"
            )
        return result, rivals

    def questions(self, rivals: tuple[Rival, ...], k: int) -> tuple[Question, ...]:
        from induce.query import next_scenes

        return next_scenes(
            rivals,
            self.labelled.scenes,
            k,
            ids=self.labelled.ids,
            pool=None if self.pool is None else self.pool.scenes,
            pool_ids=None if self.pool is None else self.pool.ids,
        )

    @property
    def summary(self) -> str:
        pool = "" if self.pool is None else f"; {len(self.pool)} in the pool"
        return f"{self.labelled.summary()}{pool}"


def _joined(parts: list[LabelledScenes]) -> LabelledScenes:
    return LabelledScenes(
        ids=tuple(name for part in parts for name in part.ids),
        labels=tuple(label for part in parts for label in part.labels),
        scenes=tuple(scene for part in parts for scene in part.scenes),
        weights=tuple(weight for part in parts for weight in part.weights),
        places=tuple(place for part in parts for place in part.places),
    )


def check_line(result: InductionResult) -> str:
    return f"check: {sentence(result.check)} ({bits_text(result.objective)} bits)"


def question_lines(question: Question) -> Iterator[str]:
    """The scene's id and edits, and what hangs on its label."""
    yield f"ask {scene_text(question.id, question.source, question.edits)}"
    yield f"  settles {bits_text(question.gain)} bits; {100 * question.passing:.0f} % of the votes pass it"
    for verdict, rival in (("pass", question.if_pass), ("fail", question.if_fail)):
        if rival is not None:
            yield f"  {verdict}: {sentence(rival.check)} ({_distance(rival.distance)})"


def scene_text(name: str, source: str | None, edits: tuple[str, ...]) -> str:
    """A scene by its id, an edited one with its edits."""
    shown = name if name.isprintable() else ascii(name)
    return shown if source is None else f"{shown}: {source} with {'; '.join(edits)}"


def _distance(bits: float) -> str:
    return "as good as any" if bits == 0 else f"{bits_text(bits)} bits from the best"
