"""A learning task for other learners: ILASP and FastLAS (``task.las``), Popper (exs.pl, bk.pl, bias.pl).

Both are given the scenes as relations (`induce.export.relations`) and the tests that the grammar allows: is
this value, is at least or at most that one, has the word, is there; links lead to the elements of
collections. Comments say what every name stands for, so that what is learnt can be read back. What these
learners have no counterpart for is left out: a ``count`` with a ``where``, comparisons of two paths or with a
whole array, words in any case, costs in bits; Popper also has no ``not`` of a ``find``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from induce.examples import Examples
from induce.export.files import require_writable, write_atomically
from induce.export.logic_text import ascii_json
from induce.export.relations import Fact, Link, Relation, SceneRelations, scene_relations
from induce.grammar import Grammar
from induce.options import check_limits

TASK_FORMATS: Final = ("las", "popper")
_GREATEST_TERM: Final = 2**31 - 1
_HEAD: Final = "pass"


def export_task(
    scenes: Sequence[Any],
    labels: Sequence[Any],
    grammar: Grammar | Mapping[str, Any] | None = None,
    format: str = "las",  # noqa: A002 (the word of the command line)
    out_dir: str | os.PathLike[str] = ".",
    *,
    ids: Sequence[str] | None = None,
    sample_weight: Sequence[float] | None = None,
    penalty: int | None = 3,
    max_constants: int = 50,
    max_terms: int | None = None,
    max_literals: int = 4,
    max_where: int = 3,
    max_nesting: int = 2,
) -> tuple[Path, ...]:
    """Write the learning task of labelled scenes for other learners.

    Parameters
    ----------
    scenes, labels, grammar, ids, sample_weight, max_terms, max_literals, max_where, max_nesting
        As for `learn_check`. Equal scenes of one label are one example.
    format : {"las", "popper"}
        ``task.las`` for ILASP and FastLAS, or ``exs.pl``, ``bk.pl`` and ``bias.pl`` for Popper.
    out_dir : path
        A folder; made when it is absent.
    penalty : int or None
        In a ``.las`` task, what a misclassified scene of weight 1 costs, where a literal costs 1
        (`learn_check` charges some 10 bits for a literal and some 30 for a scene among few). None makes
        every example hard. Popper has a switch for noise instead.

    max_constants : int
        The most values, words and bounds that are asked for at one path, at least 2; a comment in the file
        says how many others there are. Values that stand once, and fields that name or date a row, have
        none.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    ValueError
        When an argument, a scene or a label is unusable.
    OSError
        When a file cannot be written.
    """
    if format not in TASK_FORMATS:
        raise ValueError(f"unknown task format {format!r}; there are {', '.join(TASK_FORMATS)}")
    if penalty is not None and (type(penalty) is not int or penalty < 1):
        raise ValueError(
            f"penalty: expected a whole number of literals, at least 1, or None, got {penalty!r}"
        )
    if type(max_constants) is not int or max_constants < 2:
        raise ValueError(f"max_constants: expected a whole number, at least 2, got {max_constants!r}")
    check_limits(max_terms=max_terms, max_literals=max_literals, max_where=max_where, max_nesting=max_nesting)
    if not os.fspath(out_dir):
        raise ValueError("an empty text is no name of a folder; name one")
    language = Grammar.of(grammar)
    examples = Examples.of(scenes, labels, sample_weight, ids)
    task = scene_relations(examples, language, max_nesting, max_constants)
    clauses = 4 if max_terms is None else max_terms
    if format == "las":
        texts = {"task.las": _las_task(task, language, penalty, max_literals)}
    else:
        texts = {
            "exs.pl": _popper_examples(task),
            "bk.pl": _popper_background(task, language),
            "bias.pl": _popper_bias(task, language, clauses, max_literals, max_where),
        }
    folder = Path(out_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(f"{folder}: is no folder; name one, it is made when absent") from None
    paths = tuple(folder / name for name in texts)
    for path in paths:
        require_writable(path)
    for path, text in zip(paths, texts.values(), strict=True):
        write_atomically(path, text)
    return paths


# What the names stand for


def _meanings(task: SceneRelations) -> Iterator[str]:
    """Comments: the scenes, the paths and the constants."""
    for number, names in enumerate(task.examples.ids):
        yield f"% s{number} = {', '.join(map(ascii_json, names))}"
    for link in task.links:
        yield f"% has_{link.name}(X,E): E is an element of {ascii_json(link.path)}"
    values: dict[str, Any] = {}
    for relation in task.relations:
        left_out = f"; {relation.left_out} more are left out" if relation.left_out else ""
        yield f"% {relation.name}: {_ABOUT[relation.kind]} {ascii_json(relation.path)}{left_out}"
        if relation.kind == "value":
            values.update(relation.constants)
        else:
            for term, meaning in relation.constants:
                yield f"%   {term} = {ascii_json(meaning)}"
    for term, meaning in values.items():
        yield f"% {term} = {ascii_json(meaning)}"


_ABOUT: Final = {
    "value": "the scalar at",
    "rank": "the ordinal of the number at",
    "word": "a text contained in the text at",
    "present": "something is at",
}


def _fact(fact: Fact) -> str:
    return f"{fact[0]}({','.join(fact[1:])})."


def _sizes(link: Link, grammar: Grammar) -> range:
    """Numbers of elements to ask for; one is asked for by the link itself."""
    return range(2, min(link.most, grammar.max_count) + 1) if grammar.allows("count") else range(0)


def _bounds(relation: Relation, grammar: Grammar) -> Iterator[tuple[str, str, list[str]]]:
    """The operators with a number, their sign, and the ordinals where they tell the rows apart."""
    ranks = [term for term, _ in relation.constants]
    if grammar.allows("gte"):
        yield "gte", ">=", ranks[1:]
    if grammar.allows("lte"):
        yield "lte", "<=", ranks[:-1]


# ILASP and FastLAS


def _las_task(task: SceneRelations, grammar: Grammar, penalty: int | None, max_literals: int) -> str:
    lines = [
        "% Which scenes pass: a learning task for ILASP and FastLAS.",
        *_meanings(task),
        "",
        *_las_background(task, grammar),
        "",
        *_las_modes(task, grammar),
        f"#maxv({1 + max_literals}).",
        "",
        *_las_examples(task, penalty),
    ]
    return "\n".join(lines) + "\n"


def _las_background(task: SceneRelations, grammar: Grammar) -> Iterator[str]:
    for link in task.links:
        if sizes := _sizes(link, grammar):
            yield from (f"size_of_{link.name}({size})." for size in sizes)
            counted = f"N <= #count {{ E : has_{link.name}(X,E) }}"
            yield f"many_{link.name}(X,N) :- {link.owner}(X), size_of_{link.name}(N), {counted}."
    for relation in task.relations:
        name, rows = relation.name, relation.rows
        if relation.kind == "rank":
            for op, sign, ranks in _bounds(relation, grammar):
                yield from (f"{op}_of_{name}({rank})." for rank in ranks)
                yield f"{op}_{name}(X,C) :- {name}(X,N), {op}_of_{name}(C), N {sign} C."
        if relation.kind == "present" and grammar.allows("missing"):
            yield f"no_{name}(X) :- {rows}(X), not {name}(X)."


def _las_modes(task: SceneRelations, grammar: Grammar) -> Iterator[str]:
    positive = "" if grammar.allows("not") or grammar.allows("neq") else ", (positive)"

    def mode(name: str, *arguments: str) -> str:
        return f"#modeb({name}({','.join(arguments)}){positive})."

    yield f"#modeh({_HEAD}(var(scene)))."
    for link in task.links:
        if grammar.allows("find"):
            yield mode(f"has_{link.name}", f"var({link.owner})", f"var({link.name})")
        if sizes := _sizes(link, grammar):
            yield mode(f"many_{link.name}", f"var({link.owner})", f"const(size_of_{link.name})")
            yield from (f"#constant(size_of_{link.name},{size})." for size in sizes)
    for relation in task.relations:
        name, row = relation.name, f"var({relation.rows})"
        match relation.kind:
            case "value" | "word":
                yield mode(name, row, f"const({name})")
                yield from (f"#constant({name},{term})." for term, _ in relation.constants)
            case "rank":
                for op, _, ranks in _bounds(relation, grammar):
                    yield mode(f"{op}_{name}", row, f"const({op}_of_{name})")
                    yield from (f"#constant({op}_of_{name},{rank})." for rank in ranks)
            case "present":
                yield from (mode(name, row) for _ in range(1) if grammar.allows("exists"))
                yield from (mode(f"no_{name}", row) for _ in range(1) if grammar.allows("missing"))


def _las_examples(task: SceneRelations, penalty: int | None) -> Iterator[str]:
    """Each scene with its own facts; one that may be got wrong for nothing is left out."""
    examples = task.examples
    charges = [0 if penalty is None else max(1, round(penalty * weight)) for weight in examples.weights]
    if sum(charges) > _GREATEST_TERM:
        raise ValueError("sample_weight: the penalties sum to more than 32 bits hold; scale the weights down")
    for number, facts in enumerate(task.facts):
        if examples.weights[number] == 0:
            continue
        charge = f"@{charges[number]}" if charges[number] else ""
        wanted = f"{{{_HEAD}(s{number})}}"
        sides = f"{wanted}, {{}}" if examples.passing[number] else f"{{}}, {wanted}"
        yield f"#pos(ex{number}{charge}, {sides}, {{"
        yield from (f"  {_fact(fact)}" for fact in facts)
        yield "})."


# Popper


def _popper_examples(task: SceneRelations) -> str:
    signs = {True: "pos", False: "neg"}
    kept = [number for number, weight in enumerate(task.examples.weights) if weight > 0]
    return "".join(f"{signs[task.examples.passing[i]]}({_HEAD}(s{i})).\n" for i in kept)


def _popper_background(task: SceneRelations, grammar: Grammar) -> str:
    lines = ["% Which scenes pass: the background of a learning task for Popper.", *_meanings(task)]
    grouped: dict[str, list[str]] = {}
    for fact in (fact for facts in task.facts for fact in facts):
        grouped.setdefault(fact[0], []).append(_fact(fact))
    for name in sorted(grouped):
        lines.extend(["", *grouped[name]])
    lines.append("")
    for _, _, rule in _popper_tests(task, grammar):
        lines.extend(rule)
    return "\n".join(lines) + "\n"


def _popper_bias(
    task: SceneRelations, grammar: Grammar, max_terms: int, max_literals: int, max_where: int
) -> str:
    lines = [
        f"max_vars({1 + max_literals}).",
        f"max_body({max_literals + max_where}).",
        f"max_clauses({max_terms}).",
        "",
        f"head_pred({_HEAD},1).",
        f"type({_HEAD},(scene,)).",
        f"direction({_HEAD},(in,)).",
    ]
    for link in task.links if grammar.allows("find") else ():
        name = f"has_{link.name}"
        lines.extend(["", f"body_pred({name},2).", f"type({name},({link.owner},{link.name}))."])
        lines.append(f"direction({name},(in,out)).")
    for name, rows, _ in _popper_tests(task, grammar):
        lines.extend(["", f"body_pred({name},1).", f"type({name},({rows},)).", f"direction({name},(in,))."])
    return "\n".join(lines) + "\n"


def _popper_tests(task: SceneRelations, grammar: Grammar) -> Iterator[tuple[str, str, Iterable[str]]]:
    """One predicate a test, since Popper's rules hold no constants: its name, type of row, and rules."""
    for link in task.links:
        for size in _sizes(link, grammar):
            name, listed = f"many_{link.name}_{size}", f"findall(E,has_{link.name}(X,E),L)"
            yield name, link.owner, [f"{name}(X) :- {listed}, length(L,N), N >= {size}."]
    for relation in task.relations:
        rows, base = relation.rows, relation.name
        match relation.kind:
            case "value" | "word":
                affirmed = grammar.allows("eq") or relation.kind == "word"
                denied = grammar.allows("neq") if relation.kind == "value" else grammar.allows("not")
                for term, _ in relation.constants:
                    if affirmed:
                        name = f"{base}_{term}"
                        yield name, rows, [f"{name}(X) :- {base}(X,{term})."]
                    if denied:
                        name = f"not_{base}_{term}"
                        yield name, rows, [f"{name}(X) :- {rows}(X), \\+ {base}(X,{term})."]
            case "rank":
                for op, sign, ranks in _bounds(relation, grammar):
                    for rank in ranks:
                        name = f"{op}_{base}_{rank}"
                        prolog = "=<" if sign == "<=" else sign
                        yield name, rows, [f"{name}(X) :- {base}(X,N), N {prolog} {rank}."]
            case "present":
                if grammar.allows("exists"):
                    yield base, rows, []
                if grammar.allows("missing"):
                    yield f"no_{base}", rows, [f"no_{base}(X) :- {rows}(X), \\+ {base}(X)."]
