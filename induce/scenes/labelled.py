"""Labelled scenes: the examples a check is learnt from, in one shape whatever file they came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum

from evaluator import SceneError, canonical_json
from induce.digest import data_digest
from induce.scenes.jsontext import Json

_NAMED_AT_MOST = 3


@dataclass(frozen=True, repr=False)
class LabelledScenes:
    """Scenes with their ids, labels and weights, all tuples of one length and in the order of the source.

    Attributes
    ----------
    ids : tuple of str
        Unique; scenes without an id are named by their place (``line-3``, ``row-3``, ``scene-3``).
    labels : tuple of "pass", "fail" or None
        None where the source gives no label.
    scenes : tuple of JSON trees
        Not copied: who changes them changes these.
    weights : tuple of float
        Finite and not negative, 1.0 where the source gives none.
    places : tuple of str
        Where each scene stands, for messages (``train.jsonl:3``).
    rules : tuple of tuple of (str, "pass", "fail" or None)
        For each scene its labels by the name of a rule; empty where no scene has any.
    ignored_keys : tuple of str
        Keys of the source's records that mean nothing here and were left out.
    """

    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    scenes: tuple[Json, ...]
    weights: tuple[float, ...]
    places: tuple[str, ...] = field(default=(), compare=False)
    rules: tuple[tuple[tuple[str, str | None], ...], ...] = ()
    ignored_keys: tuple[str, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<LabelledScenes: {self.summary()}>"

    @cached_property
    def canonical(self) -> tuple[str, ...]:
        """The canonical JSON text of each scene: equal texts, equal scenes."""
        return tuple(canonical_json(scene) for scene in self.scenes)

    @property
    def counts(self) -> dict[str, int]:
        """Scenes by label: ``{"pass": 22, "fail": 18}``, with ``"unlabelled"`` where there are any."""
        counts = {"pass": self.labels.count("pass"), "fail": self.labels.count("fail")}
        unlabelled = self.labels.count(None)
        return counts | {"unlabelled": unlabelled} if unlabelled else counts

    def summary(self) -> str:
        """``40 scenes: 22 pass, 18 fail``."""
        parts = ", ".join(f"{count} {label}" for label, count in self.counts.items())
        return f"{len(self)} scene{'' if len(self) == 1 else 's'}: {parts}"

    def require_labels(self) -> tuple[str, ...]:
        """The labels when every scene has one; raises :class:`SceneError` that names those without."""
        labels = tuple(label for label in self.labels if label is not None)
        if len(labels) == len(self):
            return labels
        missing = [
            place for place, label in zip(self.places or self.ids, self.labels, strict=True) if label is None
        ]
        more = f" and {len(missing) - _NAMED_AT_MOST} more" if len(missing) > _NAMED_AT_MOST else ""
        raise SceneError(
            f'no label; learning needs "pass" or "fail" for every scene ({self.summary()})',
            ", ".join(missing[:_NAMED_AT_MOST]) + more,
        )

    def subset(self, indices: Iterable[int]) -> LabelledScenes:
        """The scenes at these positions, in the order given."""
        chosen = tuple(indices)
        return LabelledScenes(
            ids=tuple(self.ids[i] for i in chosen),
            labels=tuple(self.labels[i] for i in chosen),
            scenes=tuple(self.scenes[i] for i in chosen),
            weights=tuple(self.weights[i] for i in chosen),
            places=tuple(self.places[i] for i in chosen) if self.places else (),
            rules=tuple(self.rules[i] for i in chosen) if self.rules else (),
            ignored_keys=self.ignored_keys,
        )

    @property
    def rule_names(self) -> tuple[str, ...]:
        """The rules that label some scene, sorted."""
        return tuple(sorted({name for rules in self.rules for name, label in rules if label is not None}))

    def for_rule(self, name: str) -> LabelledScenes:
        """The scenes that a rule labels, with the rule's labels."""
        found = [(i, label) for i, rules in enumerate(self.rules) for rule, label in rules if rule == name]
        chosen = [(i, label) for i, label in found if label is not None]
        return replace(
            self.subset(i for i, _ in chosen), labels=tuple(label for _, label in chosen), rules=()
        )

    def contradictions(self) -> tuple[tuple[str, ...], ...]:
        """Groups of ids whose scenes are equal but labelled both ways: no check is right on all of a group.

        Equal as JSON: ``1`` and ``1.0`` are, ``1`` and ``true`` are not. Sorted, whatever the scenes' order.
        """
        groups: dict[str, list[int]] = {}
        for index, text in enumerate(self.canonical):
            if self.labels[index] is not None:
                groups.setdefault(text, []).append(index)
        return tuple(
            sorted(
                tuple(sorted(self.ids[i] for i in group))
                for group in groups.values()
                if len({self.labels[i] for i in group}) > 1
            )
        )

    def digest(self) -> str:
        """SHA-256 (hex) of what is learnt from, scenes as JSON means them with labels and weights.

        The order of the scenes, of keys, and the ids change nothing, nor does a scene said twice whose weight
        is said at once. Of labelled scenes it is the `data_hash` of a result.
        """
        merged: dict[tuple[str, str], list[float]] = {}
        for text, label, weight in zip(self.canonical, self.labels, self.weights, strict=True):
            merged.setdefault((text, label or "unlabelled"), []).append(weight)
        return data_digest((text, label, fsum(weights)) for (text, label), weights in merged.items())
