"""``induce explain``: which scenes forced each part of a check, and why a scene passes or fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from evaluator import json_text, sentence
from induce.commands import exit_codes, say
from induce.commands.inputs import (
    AsJson,
    CheckFile,
    Format,
    LabelColumn,
    ScenesFile,
    names,
    position_of,
    read_check,
)
from induce.scenes import LabelledScenes, load_scenes


def run(
    check: CheckFile,
    scenes: ScenesFile,
    scene: Annotated[
        list[str] | None,
        typer.Option("--scene", metavar="ID", help="Why this scene passes or fails; may be given again."),
    ] = None,
    fmt: Format = None,
    label_column: LabelColumn = "label",
    as_json: AsJson = False,
) -> None:
    """Say which scenes forced each part of a check, or why a scene passes or fails and what would turn it."""
    with exit_codes():
        wire = read_check(check)
        data = load_scenes(scenes, fmt=fmt, label_column=label_column)
        chosen = [position_of(name, data) for name in scene or []]
        if as_json:
            told = _forced_dict(wire, data) if not chosen else {"scenes": _scene_dicts(wire, data, chosen)}
            print(json_text({"sentence": sentence(wire), **told}))
            return
        say([f"check: {sentence(wire)}"])
        say(_scene_lines(wire, data, chosen) if chosen else _forced_lines(wire, data))


def _forced_lines(wire: dict[str, Any], data: LabelledScenes) -> Iterator[str]:
    from induce.explain import explain_result

    for part in explain_result(wire, data.scenes, data.require_labels(), data.ids):
        yield f"part: {part.sentence} ({part.place})"
        yield (
            f"  forced by {names(part.forced_by)}: wrong without it"
            if part.forced_by
            else "  forced by no scene: as many are right without it"
        )


def _forced_dict(wire: dict[str, Any], data: LabelledScenes) -> dict[str, Any]:
    from induce.explain import explain_result

    forced = explain_result(wire, data.scenes, data.require_labels(), data.ids)
    return {
        "parts": [
            {"place": part.place, "sentence": part.sentence, "forced_by": list(part.forced_by)}
            for part in forced
        ]
    }


def _scene_lines(wire: dict[str, Any], data: LabelledScenes, chosen: list[int]) -> Iterator[str]:
    from induce.explain import explain_scene

    for index in chosen:
        told = explain_scene(wire, data.scenes[index], data.scenes)
        label = data.labels[index]
        labelled = "" if label is None else f", labelled {label}"
        yield f"scene {names([data.ids[index]])}: {'passes' if told.passed else 'fails'}{labelled}"
        yield from (f"  {line}" for line in told.lines())


def _scene_dicts(wire: dict[str, Any], data: LabelledScenes, chosen: list[int]) -> list[dict[str, Any]]:
    from induce.explain import explain_scene

    return [
        {
            "id": data.ids[index],
            "label": data.labels[index],
            **explain_scene(wire, data.scenes[index], data.scenes).to_dict(),
        }
        for index in chosen
    ]
