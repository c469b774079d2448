"""What a learner hands back: the check, its objective, and how far it is proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from induce.version import __version__

if TYPE_CHECKING:
    from induce.explain import ForcedPart

JSON = Any
Stopped = Literal["proved", "bounded", "time", "work", "interrupted"]


@dataclass(frozen=True)
class InductionResult:
    """A learnt check with its figures.

    Attributes
    ----------
    check : dict
        The check on the wire, without id.
    objective, size, penalty : float
        Bits; ``objective`` is ``size`` (of the check) plus ``penalty`` (of misclassified scenes).
    constant : float
        Bits of the better constant answer (always pass, or always fail). A check that costs no
        less explains nothing: see `beats_constant`.
    lower_bound : float
        Bits: no check of the grammar, given the candidate constants, has a smaller objective.
    optimal : bool
        Whether ``lower_bound`` equals ``objective``.
    stopped : {"proved", "bounded", "time", "work", "interrupted"}
        Why the search ended; "bounded" is its own end without a proof, "interrupted" the user's word.
    engine : str
    seconds : float
        Wall-clock time of the learning.
    atoms : int
        Distinct truth columns of candidate literals.
    nodes : int
        Search nodes, the unit of ``work_limit``.
    misclassified : tuple of str
        Ids of the training scenes that the check grades against their label.
    counts : dict
        Training scenes by label.
    contradictions : tuple of tuple of str
        Ids of equal scenes that stand under both labels.
    unusable_keys : tuple of str
        Keys that the path language cannot address, or that lie more than 12 objects deep, so that no check
        could speak of them.
    alternatives : tuple of dict
        Other checks of the same objective that were met.
    grammar_hash, data_hash : str
        SHA-256, hexadecimal.
    random_state : int or None
    vacuous : float or None
        Share of the scenes that are labelled pass, and pass, for which the check passes only because nothing
        happened that it speaks of (see `induce.vacuity`); None where scenes hold no trace.
    """

    check: dict[str, JSON]
    objective: float
    size: float
    penalty: float
    constant: float
    lower_bound: float
    optimal: bool
    stopped: Stopped
    engine: str
    seconds: float
    atoms: int
    nodes: int
    misclassified: tuple[str, ...]
    counts: dict[str, int]
    contradictions: tuple[tuple[str, ...], ...]
    unusable_keys: tuple[str, ...]
    alternatives: tuple[dict[str, JSON], ...]
    grammar_hash: str
    data_hash: str
    random_state: int | None
    vacuous: float | None = None

    @property
    def beats_constant(self) -> bool:
        """Whether the check explains the labels better than always answering the same."""
        return self.objective < self.constant

    def to_check(self, id: str = "induced") -> dict[str, JSON]:  # noqa: A002
        """The defined check on the wire, with ``meta.induction``; no clock time in it."""
        induction: dict[str, JSON] = {
            "objective": self.objective,
            "size": self.size,
            "penalty": self.penalty,
            "constant": self.constant,
            "lower_bound": self.lower_bound,
            "optimal": self.optimal,
            "scenes": dict(self.counts),
            "misclassified": list(self.misclassified),
            "grammar": self.grammar_hash,
            "data": self.data_hash,
            "version": __version__,
            "seed": self.random_state,
            "alternatives": list(self.alternatives),
        }
        if self.vacuous is not None:
            induction["vacuous"] = self.vacuous
        return {"id": id, "expr": self.check, "meta": {"tags": ["induced"], "induction": induction}}

    def explain(
        self, scenes: Sequence[JSON], labels: Sequence[JSON], ids: Sequence[str] | None = None
    ) -> tuple[ForcedPart, ...]:
        """Which of the scenes forced each part of the check; see `induce.explain.explain_result`."""
        from induce.explain import explain_result

        return explain_result(self, scenes, labels, ids)

    def to_dict(self) -> dict[str, JSON]:
        """Every attribute, as plain JSON."""
        plain = asdict(self)
        for name in ("misclassified", "unusable_keys", "alternatives"):
            plain[name] = list(plain[name])
        plain["contradictions"] = [list(ids) for ids in self.contradictions]
        return plain
