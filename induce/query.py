"""Which scene to label next: the one that would settle the most among near-best checks.

Query by committee (Seung, Opper and Sompolinsky 1992): the rivals of `induce.committee` vote on
scenes without a label, each with a share that halves for each bit of distance from the best check.
The scene is asked whose vote has the greatest entropy, so that either answer rules out much of what
is likely (halving the version space). A batch is chosen one by one for the entropy of all its votes
together, which keeps it from asking the same thing twice. Where all rivals agree there is nothing to
settle among them; a scene least like the labelled ones can still find them all wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator import canonical_json, compile_check, evaluate_many, sentence
from induce.committee import WITHIN, Rival, near_best
from induce.costs import OutsideGrammarError
from induce.distinct import distinct_columns
from induce.examples import label_of
from induce.grammar import Grammar
from induce.learn import learn_check
from induce.plausible import PlausibleScene, plausible_scenes, walk
from induce.result import InductionResult

JSON = Any
LEAST_GAIN = 1e-9
"""Bits that an answer must be expected to settle."""
SIZE_OPTIONS = ("max_terms", "max_literals", "max_where", "max_nesting", "penalty")


@dataclass(frozen=True)
class Question:
    """A scene to label, and what hangs on the answer.

    Attributes
    ----------
    scene : JSON tree
    id : str
    gain : float
        Bits that the answer is expected to settle, at most 1; in a batch, beyond the scenes before.
    passing : float
        The share of votes for pass, from 0 to 1.
    if_pass, if_fail : Rival or None
        The best check that passes the scene, and the best that fails it; None when there is none.
    source : str or None
        The id of the given scene that was edited; None for a scene of the pool.
    edits : tuple of str
        What was changed in it.
    """

    scene: JSON
    id: str
    gain: float
    passing: float
    if_pass: Rival | None
    if_fail: Rival | None
    source: str | None = None
    edits: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JSON]:
        """A record as `load_scenes` reads it, without a label, with the rest under ``question``."""
        verdicts = {
            name: None if rival is None else {**asdict(rival), "sentence": sentence(rival.check)}
            for name, rival in (("pass", self.if_pass), ("fail", self.if_fail))
        }
        question = {
            "gain": round(self.gain, 6),
            "passing": round(self.passing, 6),
            "source": self.source,
            "edits": list(self.edits),
            "if": verdicts,
        }
        return {"id": self.id, "label": None, "scene": self.scene, "question": question}


def next_scenes(
    rivals: Sequence[Rival],
    scenes: Sequence[JSON],
    k: int = 1,
    *,
    ids: Sequence[str] | None = None,
    pool: Sequence[JSON] | None = None,
    pool_ids: Sequence[str] | None = None,
    explore: bool = False,
) -> tuple[Question, ...]:
    """The scenes whose labels would settle most among the rivals, the most telling first.

    Parameters
    ----------
    rivals : sequence of Rival
        As `near_best` gives them.
    scenes, ids : sequences of equal length
        The labelled scenes, which are not asked again; their positions name them by default.
    k : int
        The most scenes.
    pool, pool_ids : sequences of equal length, optional
        Scenes without a label to choose from. Without a pool the labelled ones are edited, one
        smallest change each, in shapes that occur (see `induce.plausible`).
    explore : bool
        When the rivals agree on all scenes, name the one least like the labelled scenes, of gain 0.

    Returns
    -------
    tuple of Question
        Fewer than `k`, or none, when the rivals agree on the rest.

    Raises
    ------
    ValueError
        When `k` is below 1, there are no rivals or lengths differ.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k: expected a whole number of scenes, at least 1, got {k!r}")
    if not rivals:
        raise ValueError("rivals: at least one check is needed, as near_best gives them")
    candidates = plausible_scenes(rivals, scenes, ids, pool=pool, pool_ids=pool_ids, edit=pool is None)
    if not candidates:
        return ()
    votes = evaluate_many([rival.check for rival in rivals], [one.scene for one in candidates]).passed
    shares = vote_shares(rivals)
    chosen = most_telling(votes, shares, k)
    if explore and not chosen:
        chosen = [(least_like([one.scene for one in candidates], scenes), 0.0)]
    return tuple(_question(candidates[at], gain, votes[:, at], shares, rivals) for at, gain in chosen)


def vote_shares(rivals: Sequence[Rival]) -> NDArray[np.float64]:
    """Shares that halve for each bit of distance and sum to 1: float (rivals,)."""
    weights = np.exp2(-np.array([rival.distance for rival in rivals], np.float64))
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def most_telling(votes: NDArray[np.bool_], shares: NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    """Up to k scenes of `votes` (rivals, scenes), and the bits of entropy that each adds to those before.

    Of equal ones the first.
    """
    blocks = np.zeros(len(votes), np.intp)
    chosen: list[tuple[int, float]] = []
    settled = 0.0
    while len(chosen) < k:
        entropy = np.zeros(votes.shape[1])
        for block in range(int(blocks.max()) + 1):
            members = blocks == block
            passing = shares[members] @ votes[members]
            failing = shares[members] @ ~votes[members]
            for part in (passing, failing):
                entropy -= part * np.log2(np.maximum(part, np.finfo(np.float64).tiny))
        gain = np.round(entropy - settled, 12)
        best = int(np.argmax(gain))
        if gain[best] < LEAST_GAIN:
            break
        chosen.append((best, float(gain[best])))
        settled = float(entropy[best])
        pairs = np.stack([blocks, votes[:, best].astype(np.intp)])
        blocks = distinct_columns(pairs).which
    return chosen


def least_like(candidates: Sequence[JSON], scenes: Sequence[JSON]) -> int:
    """The position of the candidate whose most similar scene is the least similar; of equal ones the first.

    Similarity is the share of paths and values that two scenes have in common (Jaccard), the
    elements of an array taken together.
    """
    known = [_facts(scene) for scene in scenes]

    def nearest(candidate: JSON) -> float:
        facts = _facts(candidate)
        return max((len(facts & other) / len(facts | other) for other in known), default=0.0)

    distances = [nearest(candidate) for candidate in candidates]
    return distances.index(min(distances))


def _facts(scene: JSON) -> frozenset[tuple[tuple[str, ...], str]]:
    return frozenset(
        (path, type(value).__name__ if isinstance(value, (dict, list)) else canonical_json(value))
        for path, value in walk(scene)
    )


def _question(
    candidate: PlausibleScene,
    gain: float,
    votes: NDArray[np.bool_],
    shares: NDArray[np.float64],
    rivals: Sequence[Rival],
) -> Question:
    return Question(
        scene=candidate.scene,
        id=candidate.id,
        gain=gain,
        passing=float(shares[votes].sum()),
        if_pass=rivals[int(np.argmax(votes))] if votes.any() else None,
        if_fail=rivals[int(np.argmin(votes))] if not votes.all() else None,
        source=candidate.source,
        edits=candidate.edits,
    )


@dataclass(frozen=True)
class Asked:
    """What a loop of questions came to.

    Attributes
    ----------
    scenes, labels : tuples of equal length
        Those given and then those asked, labels as ``"pass"`` and ``"fail"``.
    questions : tuple of Question
        What was asked, in order; fewer than allowed when there was nothing left to ask.
    answers : tuple of bool
        Whether each passes.
    result : InductionResult
        Learnt from all of them.
    """

    scenes: tuple[JSON, ...]
    labels: tuple[str, ...]
    questions: tuple[Question, ...]
    answers: tuple[bool, ...]
    result: InductionResult


def ask_loop(
    scenes: Sequence[JSON],
    labels: Sequence[JSON],
    oracle: Callable[[JSON], JSON],
    queries: int,
    pool: Sequence[JSON] | None = None,
    grammar: Grammar | dict[str, JSON] | None = None,
    *,
    within: float = WITHIN,
    time_limit: float = 60.0,
    **options: Any,
) -> Asked:
    """Learn, ask for the label of the most telling scene, and so on; then learn from all labels.

    Questions that remain when all rivals agree go to scenes least like the labelled ones.

    Parameters
    ----------
    scenes, labels : sequences of equal length
        To start from; both classes must be there.
    oracle : callable
        The label of a scene, of any kind that `learn_check` takes; for experiments a hidden rule,
        ``lambda scene: run_check(scene, rule).passed``.
    queries : int
        The most questions.
    pool : sequence of scenes, optional
        What may be asked; without it, edits of the given scenes.
    within : float
        As for `near_best`.
    grammar, time_limit, options
        As for `learn_check`; the limits are those of one learning. Between questions the best rival
        that agrees with the answer stands in, where there is one, so that little is learnt anew.

    Raises
    ------
    ValueError
        When the input, an option or an answer is unusable.
    """
    if isinstance(queries, bool) or not isinstance(queries, int) or queries < 0:
        raise ValueError(f"queries: expected a whole number, at least 0, got {queries!r}")
    known, verdicts = list(scenes), [label_of(label, str(i)) for i, label in enumerate(labels)]
    given = len(known)
    sizes = {name: options[name] for name in SIZE_OPTIONS if name in options}
    questions: list[Question] = []

    def learnt() -> InductionResult:
        found = learn_check(known, verdicts, grammar, time_limit=time_limit, **options)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt
        return found

    result = learnt()
    check, stale = result.check, False
    while len(questions) < queries:
        try:
            rivals = near_best(known, verdicts, check, grammar, within=within, time_limit=time_limit, **sizes)
        except OutsideGrammarError:
            if not stale:
                raise
            result = learnt()
            check, stale = result.check, False
            continue
        asked = next_scenes(rivals, known, pool=pool, explore=True)
        if not asked:
            break
        answer = label_of(oracle(asked[0].scene), asked[0].id)
        questions.append(asked[0])
        known.append(asked[0].scene)
        verdicts.append(answer)
        stale = True
        agreeing = (one.check for one in rivals if compile_check(one.check).passes(asked[0].scene) is answer)
        standing = next(agreeing, None)
        if standing is None:
            result = learnt()
            standing, stale = result.check, False
        check = standing
    if stale:
        result = learnt()
    return Asked(
        scenes=tuple(known),
        labels=tuple("pass" if verdict else "fail" for verdict in verdicts),
        questions=tuple(questions),
        answers=tuple(verdicts[given:]),
        result=result,
    )
