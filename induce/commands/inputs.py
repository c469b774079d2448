"""What commands read: a check in a file, and labelled scenes with the options that say how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from evaluator import CheckError, compile_check, json_text
from induce.scenes import FORMATS, LabelledScenes, load_json

CheckFile = Annotated[
    str, typer.Argument(metavar="CHECK", help="A check, bare or defined, as `induce learn -o` writes it.")
]
ScenesFile = Annotated[
    str, typer.Argument(metavar="SCENES", help="Labelled scenes, as `induce learn` reads them.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help=f"{', '.join(FORMATS)}; by default the suffix decides."),
]
LabelColumn = Annotated[str, typer.Option(metavar="NAME", help="Key or column of the label.")]
GrammarFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Grammar as JSON: operators, paths, costs.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")]


def read_check(path: str) -> dict[str, Any]:
    """The check in a file, judged; raises ValueError that names the file and the place."""
    wire = load_json(path)
    if not isinstance(wire, dict):
        raise ValueError(f"{path}: expected a check, a JSON object")
    try:
        compile_check(wire)
    except CheckError as error:
        raise ValueError(f"{path}: {error}") from None
    return wire


def read_grammar(path: str | None) -> dict[str, Any] | None:
    """The grammar in a file, judged; None without one."""
    if path is None:
        return None
    from induce.grammar import Grammar

    grammar = load_json(path)
    if not isinstance(grammar, dict):
        raise ValueError(f"{path}: expected a grammar, a JSON object")
    try:
        Grammar.of(grammar)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return grammar


def position_of(name: str, scenes: LabelledScenes) -> int:
    """Where the scene with an id stands."""
    if name not in scenes.ids:
        raise ValueError(f"no scene has the id {json_text(name)}; there are {names(scenes.ids, 5)}")
    return scenes.ids.index(name)


def names(ids: Sequence[str], most: int = 20) -> str:
    """Ids as text, the first of many."""
    shown = ", ".join(name if name.isprintable() else json_text(name) for name in ids[:most])
    return f"{shown} and {len(ids) - most} more" if len(ids) > most else shown


def bits_text(bits: float) -> str:
    """Bits to two decimals."""
    return f"{bits:.2f}".rstrip("0").rstrip(".")
