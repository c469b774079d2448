"""Learners of logic programs that are programs of their own: Popper, FastLAS, ILASP.

They are given what `induce.export.task.export_task` writes and run for no longer than their time. Sources
for what they print: Popper's ``print_prog_score`` (a line of stars with ``SOLUTION``, then the rules; ``NO
SOLUTION``), FastLAS's ``print_solution`` (the rules, ``c-------`` after each solution; ``UNSATISFIABLE``),
and ILASP (the rules, then ``%%`` lines with times; ``UNSATISFIABLE``).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple

from evaluator import compile_check, sentence
from experiments.baselines.baseline import Baseline, Task, graded
from experiments.baselines.installed import command_of, why_absent
from experiments.baselines.logic_rules import HEAD, UnreadableRuleError, Vocabulary, check_of
from experiments.config import Learner
from induce.examples import Examples
from induce.export.relations import scene_relations
from induce.export.task import export_task
from induce.grammar import Grammar
from induce.scenes import LabelledScenes

FORMATS: Final = {"popper": "popper", "fastlas": "las", "ilasp": "las"}
MOST_CONSTANTS: Final = 50
_MOST_OUTPUT: Final = 10_000_000
_LAST_WORDS: Final = 1.0
"""Seconds that Popper is left to print what it has found when its own limit is over."""
_SOLUTION: Final = re.compile(r"(?<!NO )SOLUTION|BEST PROG|New best hypothesis")
_RULE: Final = re.compile(rf"\b{HEAD}\s*\([^()]*\)\s*(:-.*)?$")


class Learnt(NamedTuple):
    """The rules of a program, None where it found none, and why it ended."""

    rules: tuple[str, ...] | None
    stopped: Literal["finished", "time"]
    reason: str | None = None


def fit_program(name: str, task: Task, grammar: Mapping[str, Any] | None, limits: Learner | None) -> Baseline:
    """Run a program on the training scenes and grade what it learns, as a check."""
    command = command_of(name)
    if command is None:
        return Baseline(name, available=False, reason=why_absent(name))
    started, limits = time.perf_counter(), limits or Learner()
    with tempfile.TemporaryDirectory(prefix="check-induction-", ignore_cleanup_errors=True) as folder:
        try:
            vocabulary = _export(Path(folder), FORMATS[name], task, grammar, limits)
        except ValueError as error:
            return Baseline(name, available=True, reason=f"the scenes are no task for it: {error}")
        deadline = started + task.time_limit
        try:
            learn = _popper if name == "popper" else _fastlas if name == "fastlas" else _ilasp
            learnt = learn(command, Path(folder), limits, deadline)
        except OSError as error:
            return Baseline(name, available=False, reason=f"{command} can't be run ({error.strerror})")
    return _graded(name, task, learnt, vocabulary, time.perf_counter() - started)


def _export(
    folder: Path, fmt: str, task: Task, grammar: Mapping[str, Any] | None, limits: Learner
) -> Vocabulary:
    """Write the learning task; what its names mean."""
    scenes, labels = task.train, task.train.require_labels()
    export_task(
        scenes.scenes,
        labels,
        grammar,
        fmt,
        folder,
        ids=scenes.ids,
        sample_weight=scenes.weights,
        max_constants=MOST_CONSTANTS,
        max_terms=limits.max_terms,
        max_literals=limits.max_literals,
        max_where=limits.max_where,
        max_nesting=limits.max_nesting,
    )
    examples = Examples.of(scenes.scenes, labels, scenes.weights, scenes.ids)
    language = Grammar.of(grammar)
    return Vocabulary(scene_relations(examples, language, limits.max_nesting, MOST_CONSTANTS))


def _graded(name: str, task: Task, learnt: Learnt, vocabulary: Vocabulary, seconds: float) -> Baseline:
    if learnt.rules is None:
        if learnt.stopped == "time":
            return Baseline.timed_out(name, task)
        return Baseline(name, True, learnt.reason, seconds=seconds, stopped="finished")
    try:
        check, size = check_of(learnt.rules, vocabulary)
    except UnreadableRuleError as error:
        return Baseline(
            name,
            available=True,
            reason=f"its rule could not be read back: {error}",
            seconds=seconds,
            rule="\n".join(learnt.rules),
            stopped=learnt.stopped,
        )
    train_accuracy, train_wrong = graded(task.train, _wrong(check, task.train))
    test_accuracy, test_wrong = graded(task.test, _wrong(check, task.test))
    return Baseline(
        name,
        available=True,
        reason=learnt.reason,
        train_accuracy=train_accuracy,
        test_accuracy=test_accuracy,
        size=size,
        seconds=seconds,
        rule=sentence(check),
        stopped=learnt.stopped,
        train_wrong=train_wrong,
        test_wrong=test_wrong,
    )


def _wrong(check: Mapping[str, Any], scenes: LabelledScenes) -> list[int]:
    """The positions of the scenes that the check grades against their label."""
    passes = compile_check(check).passes
    pairs = zip(scenes.scenes, scenes.labels, strict=True)
    return [at for at, (scene, label) in enumerate(pairs) if passes(scene) != (label == "pass")]


# Popper


def _popper(command: str, folder: Path, limits: Learner, deadline: float) -> Learnt:  # noqa: ARG001 (as others)
    """Without noise first; where that has no solution, with noise for the time that is left."""
    learnt = Learnt(None, "time")
    for mode, note in (((), None), (("--noisy",), "learnt with --noisy")):
        seconds = deadline - time.perf_counter()
        if seconds <= 0:
            break
        own_limit = str(max(1, int(seconds - _LAST_WORDS)))
        ran = _run([command, *mode, "--timeout", own_limit, str(folder)], folder, seconds)
        rules = _last_solution(ran.output) or _last_solution(ran.complaints)
        if rules:
            return Learnt(rules, "finished" if ran.finished else "time", note)
        learnt = Learnt(None, "finished" if ran.finished else "time", ran.failure or "it found no rule")
        if not ran.finished or ran.failure:
            break
    return learnt


def _last_solution(output: str) -> tuple[str, ...]:
    """The rules that stand after the last mark of a solution."""
    rules: list[str] = []
    for line in output.splitlines():
        if _SOLUTION.search(line):
            rules = []
        elif found := _RULE.search(line.strip().removesuffix(".")):
            rules.append(found[0])
    return tuple(rules)


# FastLAS and ILASP


def _fastlas(command: str, folder: Path, limits: Learner, deadline: float) -> Learnt:  # noqa: ARG001 (as others)
    return _answer_set_rules([command, "--opl", str(folder / "task.las")], folder, deadline)


def _ilasp(command: str, folder: Path, limits: Learner, deadline: float) -> Learnt:
    longest = f"-ml={limits.max_literals + limits.max_where}"
    return _answer_set_rules([command, "--version=4", longest, str(folder / "task.las")], folder, deadline)


def _answer_set_rules(arguments: Sequence[str], folder: Path, deadline: float) -> Learnt:
    ran = _run(arguments, folder, max(0.0, deadline - time.perf_counter()))
    if not ran.finished:
        return Learnt(None, "time")
    if ran.failure:
        return Learnt(None, "finished", ran.failure)
    rules = []
    for line in ran.output.splitlines():
        text = line.strip()
        if text.startswith("c--"):  # the end of the first of several solutions
            break
        if text == "UNSATISFIABLE":
            return Learnt(None, "finished", "it found no rule")
        if not text or text.startswith("%"):
            continue
        if not _RULE.fullmatch(text.removesuffix(".")):
            return Learnt(None, "finished", f"its output was not understood: {text[:100]!r}")
        rules.append(text)
    return Learnt(tuple(rules), "finished")


# Running programs


class _Ran(NamedTuple):
    """What a program printed, whether it ended by itself, and how it failed if it did."""

    output: str
    complaints: str
    finished: bool
    failure: str | None


def _run(arguments: Sequence[str], folder: Path, seconds: float) -> _Ran:
    """Run a program in a folder; it and all that it started are killed when its seconds are over."""
    with (folder / "stdout").open("w+b") as said, (folder / "stderr").open("w+b") as complained:
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=complained,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill(process)
        output, complaints = _text_of(said), _text_of(complained)
    failure = None
    if code:
        last = [line.strip() for line in (output + complaints).splitlines() if line.strip()][-1:]
        failure = f"it failed with exit code {code}" + "".join(f": {line[:200]}" for line in last)
    return _Ran(output, complaints, code is not None, failure)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _text_of(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_MOST_OUTPUT).decode("utf-8", "replace")
