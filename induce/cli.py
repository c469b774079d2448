"""The command line ``induce``: learn a check from labelled scenes and say how far it can be trusted.

Results go to stdout, notes and progress to stderr. The exit code is 0 when a check was learnt, 2 when the
input was unusable, with one sentence that says why, and 130 after an interrupt (Ctrl-C, SIGTERM): what was
found by then is written, a second interrupt ends at once. What is slow to import is imported when needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from evaluator import json_text
from induce.commands import INTERRUPTED, UNUSABLE, Commands, complain, exit_codes, note, say
from induce.commands.inputs import read_grammar
from induce.commands.learning import Learner
from induce.commands.rules import by_rule, learn_by_rule, pack_id_of
from induce.crossval import (
    DEFAULT_FOLDS,
    class_sizes,
    stratified_folds,
)
from induce.export import export_check, require_writable, write_atomically
from induce.scenes import FORMATS, LabelledScenes, load_scenes
from induce.summary import HeldOut, held_out_lines, result_lines, scene_lines, to_dict
from induce.version import __version__

if TYPE_CHECKING:
    from induce.result import InductionResult

app = typer.Typer(
    name="induce",
    cls=Commands,
    help="Learn the smallest readable check that separates passing from failing scenes.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `arguments` are those of the process by default."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        _speak_utf8(stream)
    try:
        status = app(
            None if arguments is None else list(arguments), prog_name="induce", standalone_mode=False
        )
    except _CLICK_ERRORS as error:
        return complain(_usage(error), UNUSABLE)
    return status if isinstance(status, int) else 0


_CLICK_ERRORS = tuple(  # typer may bring its own click, whose base class of errors it does not export
    base
    for base in typer.BadParameter.__mro__
    if base.__name__ == "ClickException" and issubclass(base, Exception)
)


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = "induce" if context is None else context.command_path
    return f"{error.format_message().rstrip('.')} (see {command} --help)"


def _speak_utf8(stream: TextIO | Any) -> None:
    """Scenes are UTF-8 whatever the locale; a file name that is not is shown with escapes."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"induce {__version__}")
        raise typer.Exit


@app.callback()
def _induce(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@app.command()
def learn(
    scenes: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENES",
            show_default=False,
            help='Labelled scenes, a file or - for stdin: JSONL with {"label": "pass", "scene": {…}} a line, '
            'or JSON, CSV, TSV, Parquet by suffix. With {"labels": {"budget": "fail", …}} a check is learnt '
            "for each rule, and written as a pack.",
        ),
    ] = None,
    pass_dir: Annotated[
        str | None,
        typer.Option("--pass", metavar="DIR", help="Folder of passing scenes, one .json file each."),
    ] = None,
    fail_dir: Annotated[
        str | None,
        typer.Option("--fail", metavar="DIR", help="Folder of failing scenes, one .json file each."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help='Labels of recorded runs and of scenes without labels: JSONL, {"id", "label"} a line.',
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the check here, as `evaluator check` reads it."
        ),
    ] = None,
    check_id: Annotated[
        str, typer.Option("--id", metavar="NAME", help="The id of the written check.")
    ] = "induced",
    fmt: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help=f"{', '.join(FORMATS)}; by default the suffix decides."
        ),
    ] = None,
    label_column: Annotated[
        str, typer.Option(metavar="NAME", help="Key or column of the label: pass/fail, true/false or 1/0.")
    ] = "label",
    id_column: Annotated[
        str, typer.Option(metavar="NAME", help="Column of the id in a table of flat scenes.")
    ] = "id",
    weight_column: Annotated[
        str,
        typer.Option(
            metavar="NAME", show_default=False, help="Column of the weight in a table of flat scenes."
        ),
    ] = "",
    grammar: Annotated[
        str | None, typer.Option(metavar="FILE", help="Grammar as JSON: operators, paths, costs.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(metavar="auto|enumerate|asp", help="Heuristic, mining and proof by clingo, or both."),
    ] = "auto",
    max_terms: Annotated[
        int | None, typer.Option(metavar="N", help="Most terms joined by or; by default the learner decides.")
    ] = None,
    max_literals: Annotated[int, typer.Option(metavar="N", help="Most literals in a term.")] = 4,
    max_where: Annotated[int, typer.Option(metavar="N", help="Most conjuncts inside find and count.")] = 3,
    max_nesting: Annotated[int, typer.Option(metavar="N", help="Most levels of find and count.")] = 2,
    penalty: Annotated[
        str, typer.Option(metavar="auto|BITS", help="What a misclassified scene of weight 1 costs.")
    ] = "auto",
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="For learning a check and its cross-validation, which is left a third; reading is not cut.",
        ),
    ] = 60.0,
    work_limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Search nodes at most, for all folds as many again; no clock decides."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Labelled scenes to test on, instead of cross-validation."),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(metavar="K", help=f"Folds of the cross-validation, {DEFAULT_FOLDS} by default."),
    ] = None,
    cv: Annotated[
        bool, typer.Option("--cv/--no-cv", help="Cross-validate where there are scenes enough.")
    ] = True,
    seed: Annotated[int, typer.Option(metavar="N", help="For the learner's draws and the folds.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Folds to learn from at a time; the result is the same.")
    ] = None,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            show_default=False,
            help="How far it has come, on standard error; by default on a terminal only.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no report, notes or progress, only errors.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
) -> None:
    """Learn a check from labelled scenes and report how far it can be trusted."""
    columns = {"label_column": label_column, "id_column": id_column, "weight_column": weight_column}
    with exit_codes():
        if (scenes is None) == (pass_dir is None and fail_dir is None):
            raise ValueError("give SCENES or the folders --pass DIR and --fail DIR, one of the two")
        if folds is not None and not cv:
            raise ValueError("--folds and --no-cv exclude each other")
        if quiet and output is None and not as_json:
            raise ValueError("--quiet would leave nothing to see; give -o FILE or --json with it")
        if jobs == 0:
            raise ValueError("--jobs: expected a number of workers, or -1 for all cores, got 0")
        if output == "-":
            raise ValueError("-o - would be a file of that name; --json prints the check to standard output")
        if output is not None:
            require_writable(output)
        training = load_scenes(
            scenes, fmt=fmt, pass_dir=pass_dir, fail_dir=fail_dir, labels=labels, **columns
        )
        unseen = None if test is None else load_scenes(test, fmt=fmt, **columns)
        settings = {
            "grammar": read_grammar(grammar),
            "engine": engine,
            "max_terms": max_terms,
            "max_literals": max_literals,
            "max_where": max_where,
            "max_nesting": max_nesting,
            "penalty": _penalty(penalty),
            "random_state": seed,
        }
        learner = Learner(settings, time_limit, work_limit, jobs, False if quiet else progress)
        tell = _keep_quiet if as_json or quiet else say
        warn = _say_nothing if quiet else note
        judged = cv and (as_json or not quiet)
        if by_rule(training):

            def seen_of(rule: str) -> LabelledScenes | None:
                return (unseen.for_rule(rule) or None) if unseen is not None else None

            def folds_of(rule: str, part: LabelledScenes) -> int | str | None:
                wanted = judged and (seen_of(rule) is None or folds is not None)
                return _plan_folds(part, folds, wanted)

            def held_out_of(rule: str, part: LabelledScenes, result: InductionResult) -> HeldOut:
                return learner.hold_out(result, part, seen_of(rule), folds_of(rule, part), seed)

            _note_ignored(training, warn)
            pack_id = pack_id_of(check_id)
            report, left = learn_by_rule(training, learner, folds_of, held_out_of, pack_id, output, tell)
            if as_json:
                print(json_text(report))
            if left is not None:
                raise typer.Exit(complain(_interrupted(output, left), INTERRUPTED))
            return
        for labelled in (training, unseen):
            if labelled is not None:
                labelled.require_labels()
        planned = _plan_folds(training, folds, wanted=judged and (unseen is None or folds is not None))
        _note_ignored(training, warn)

        tell(scene_lines(training))
        result = learner.learn(training, planned)
        if output is not None:
            write_atomically(output, export_check(result.to_check(id=check_id)))
        _note_unusable(result, warn)
        tell(result_lines(training, result, time_limit, learner.kept_for(planned)))
        if output is not None:
            tell([f"written: {output}"])
        interrupted = result.stopped == "interrupted"
        held_out = HeldOut() if interrupted else learner.hold_out(result, training, unseen, planned, seed)
        tell(held_out_lines(held_out))
        if as_json:
            print(json_text(to_dict(training, result, held_out, output)))
        if interrupted:
            raise typer.Exit(complain(_interrupted(output), INTERRUPTED))


def _interrupted(output: str | None, left: Sequence[str] = ()) -> str:
    """What an interrupt leaves: `left` are rules that were not learnt."""
    kept = "is the best so far" if output is None else f"that was written to {output} is the best so far"
    return f"interrupted; the check {kept}" + (f"; rules not learnt: {', '.join(left)}" if left else "")


def _plan_folds(scenes: LabelledScenes, folds: int | None, wanted: bool) -> int | str | None:
    """The number of folds, or the reason why there are none; ValueError when too many are asked for."""
    if not wanted:
        return None
    if folds is not None:
        stratified_folds(scenes, folds)
        return folds
    sizes = class_sizes(scenes)
    fewest = min(sizes, key=lambda label: sizes[label])
    if sizes[fewest] >= DEFAULT_FOLDS:
        return DEFAULT_FOLDS
    return (
        f"{sizes[fewest]} different {fewest} scenes are too few for {DEFAULT_FOLDS} folds "
        "(--folds K or --test FILE)"
    )


def _penalty(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'--penalty: expected "auto" or a number of bits but found {text!r}') from None


def _note_ignored(scenes: LabelledScenes, warn: Callable[[str], None]) -> None:
    if scenes.ignored_keys:
        keys = ", ".join(json_text(key) for key in scenes.ignored_keys)
        warn(f"keys beside id, label, scene and weight were ignored: {keys}")


def _note_unusable(result: InductionResult, warn: Callable[[str], None]) -> None:
    if result.unusable_keys:
        keys = ", ".join(json_text(key) for key in result.unusable_keys[:10])
        warn(f"no check speaks of these keys, which a path cannot address or which lie too deep: {keys}")


def _keep_quiet(lines: Iterable[str]) -> None:
    """With --json there is one object at the end instead of lines."""


def _say_nothing(message: str) -> None:
    """With --quiet there are no notes."""
