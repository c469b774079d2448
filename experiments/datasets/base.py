"""What every dataset is: training and unseen scenes, their source, and their rule where it is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from induce.scenes import LabelledScenes


@dataclass(frozen=True, slots=True)
class Rule:
    """A hidden rule: what it says in words, and the check that labels a scene as passing."""

    says: str
    check: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Training and unseen scenes, where they came from, and the rule behind the labels where it is known.

    ``source`` says in one line what the dataset is; ``files`` are the files of the training and of the unseen
    scenes, None for generated ones.
    """

    name: str
    source: str
    train: LabelledScenes
    test: LabelledScenes
    files: tuple[Path, Path] | None = None
    hidden_rule: Rule | None = None
