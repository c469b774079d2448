"""A comparison in words, the same on a terminal and on a page."""

from __future__ import annotations

from experiments.compare.contenders import Entrant
from experiments.compare.differences import SPLITS, Comparison, Difference
from experiments.config import flatten
from experiments.report.differing import value_text
from experiments.report.page import bits, count, figure, percent
from experiments.report.shares import wilson

_SCENES = {"test": "unseen scenes", "train": "training scenes"}


def metric_words(comparison: Comparison) -> str:
    """What is compared: ``accuracy on unseen scenes``."""
    split = SPLITS.get(comparison.metric)
    return comparison.metric.replace("_", " ") if split is None else f"accuracy on {_SCENES[split]}"


def heading(comparison: Comparison) -> str:
    """How much is compared."""
    runs, sets = count(len(comparison.entrants), "run"), count(comparison.test_sets, "test set")
    return f"{runs} on {sets}: {metric_words(comparison)}"


def run_rows(comparison: Comparison) -> list[list[str]]:
    """A head, and a row a run: number, test set, the keys that tell contenders apart, and figures."""
    own = [comparison.metric] if _has_column(comparison) else []
    keys = [key.rpartition(".")[2] for key in comparison.keys]
    if len(set(keys)) < len(keys):
        keys = list(comparison.keys)
    interval = f"{percent(comparison.method.level)} interval"
    figures = ["accuracy", interval, "right", "size", "objective", "proved", "seconds", *own]
    head = ["run", "test set", *keys, *figures]
    return [head, *(_run_row(comparison, entrant) for entrant in comparison.entrants)]


def _run_row(comparison: Comparison, entrant: Entrant) -> list[str]:
    result, flat = entrant.judged.run.result, flatten(entrant.judged.run.config)
    graded = result.train if comparison.metric == "train_accuracy" else result.test
    interval = ""
    if graded.total:
        interval = " to ".join(
            map(percent, wilson(graded.right, graded.total, level=comparison.method.level))
        )
    found = result.induction
    return [
        str(entrant.number),
        str(entrant.test_set + 1),
        *(value_text(flat.get(key)) for key in comparison.keys),
        "none" if graded.accuracy is None else percent(graded.accuracy),
        interval,
        f"{graded.right}/{graded.total}",
        bits(found.size),
        bits(found.objective),
        "yes" if found.optimal else "no",
        figure(found.seconds),
        *([figure(result.metrics[comparison.metric])] if _has_column(comparison) else []),
    ]


def _has_column(comparison: Comparison) -> bool:
    """Whether the metric needs a column of its own."""
    return comparison.metric not in (*SPLITS, "size", "objective", "optimal", "seconds")


def contender_rows(comparison: Comparison) -> list[list[str]]:
    """A head, and a row a contender with its runs and its mean; none where each contender is one run."""
    if all(len(one.runs) == 1 and one.baseline is None for one in comparison.contenders):
        return []
    means = [one.mean(comparison.metric) for one in comparison.contenders]
    text = percent if comparison.by_scene else figure
    return [
        ["compared", "runs", f"mean {metric_words(comparison)}"],
        *(
            [one.name, str(len(one.runs)), "" if mean is None else text(mean)]
            for one, mean in zip(comparison.contenders, means, strict=True)
        ),
    ]


def method_words(comparison: Comparison) -> list[str]:
    """How it was judged, a sentence a part."""
    level, method = percent(comparison.method.level), comparison.method
    draws = f"{method.resamples:,} resamples, seed {method.seed}"
    several = {one.blocks > 1 for one in comparison.differences}
    said = []
    if comparison.by_scene and False in several:
        how = f"from a paired bootstrap of the scenes ({draws})"
        said.append(f"{level} intervals {how}, p by McNemar's exact test")
    elif False in several:
        said.append("one pair of figures has no interval")
    if True in several:
        inside = " and of the scenes in them" if comparison.by_scene else ""
        how = f"from a bootstrap of the pairs of runs{inside} ({draws})"
        said.append(f"{level} intervals {how}, p by Student's test of the pairs")
    tests = sum(one.estimate.p_value is not None for one in comparison.differences)
    if tests > 1:
        said.append(f"p-values are adjusted for {tests} tests (Holm)")
    return said


def difference_words(comparison: Comparison, one: Difference) -> str:
    """The difference with its sign and unit."""
    if comparison.by_scene:
        return f"{_points(one.estimate.value)} points"
    return f"{one.estimate.value:+.4g}"


def interval_words(comparison: Comparison, one: Difference) -> str:
    """The interval, empty where there is none: from equal verdicts a bootstrap draws nothing else."""
    low, high = one.estimate.low, one.estimate.high
    if low is None or high is None or (one.only_first, one.only_second) == (0, 0):
        return ""
    if comparison.by_scene:
        return f"{_points(low)} to {_points(high)}"
    return f"{low:+.4g} to {high:+.4g}"


def p_words(one: Difference) -> str:
    """The p-value, adjusted where there are several."""
    if one.adjusted is None:
        return ""
    return "p < 0.0001" if one.adjusted < 0.0001 else f"p = {one.adjusted:.2g}"


def scene_words(one: Difference) -> str:
    """How many scenes the difference rests on."""
    if one.only_first is None or one.only_second is None:
        return f"over {count(one.blocks, 'pair')} of runs" if one.blocks > 1 else ""
    sets = f" in {count(one.blocks, 'pair')} of runs" if one.blocks > 1 else ""
    if not one.only_first and not one.only_second:
        return f"the same verdict on all {one.scenes:,} scenes{sets}"
    return (
        f"of {count(one.scenes, 'scene')}{sets} the first alone is right on {one.only_first:,}, "
        f"the second alone on {one.only_second:,}"
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f}" if share else "0.0"
