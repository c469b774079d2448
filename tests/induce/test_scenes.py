"""Labelled scenes from every kind of source: what is read, and every error by its sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import SceneError
from induce.scenes import LabelledScenes, load_json, load_scenes

FLAT: list[dict[str, Any]] = [
    {"id": "a", "label": "pass", "scene": {"kind": "rack", "order": {"total": 12.5, "late": False}, "n": 3}},
    {
        "id": "b",
        "label": "fail",
        "scene": {"kind": "007", "order": {"total": 900.0, "late": True}, "n": None},
    },
    {
        "id": "c",
        "label": None,
        "scene": {"kind": 'a,b\n"c"', "order": {"total": -1e-7, "late": None}, "n": 2**70},
    },
]


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def content(scenes: LabelledScenes) -> tuple[Any, ...]:
    return scenes.ids, scenes.labels, scenes.canonical, scenes.weights


def refuse(source: object, **options: Any) -> str:
    with pytest.raises(SceneError) as caught:
        load_scenes(source, **options)
    return str(caught.value)


# What is read


def test_formats_agree(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    expected = content(load_scenes(FLAT))
    assert expected[1] == ("pass", "fail", None)

    assert content(load_scenes(write_lines(tmp_path / "s.jsonl", FLAT))) == expected
    (tmp_path / "s.json").write_text(json.dumps(FLAT, indent=1))
    assert content(load_scenes(tmp_path / "s.json")) == expected

    (tmp_path / "s.csv").write_text(
        "id,label,kind,order.total,order.late,n\r\n"
        "a,pass,rack,12.5,false,3\r\n"
        "b,0,007,900,TRUE,\r\n"
        f'c,,"a,b\n""c""",-1e-7,,{2**70}\r\n',
        newline="",
    )
    assert content(load_scenes(tmp_path / "s.csv")) == expected
    (tmp_path / "s.tsv").write_text(
        "label\tid\tkind\tn\torder.late\torder.total\n1\ta\track\t3\tfalse\t12.50\n"
    )
    assert content(load_scenes(tmp_path / "s.tsv")) == tuple(part[:1] for part in expected)

    records = pandas.DataFrame([{**record, "scene": json.dumps(record["scene"])} for record in FLAT])
    records.to_parquet(tmp_path / "s.parquet")
    assert content(load_scenes(tmp_path / "s.parquet")) == expected
    assert content(load_scenes(records)) == expected
    assert content(load_scenes(pandas.DataFrame(FLAT))) == expected

    flat = pandas.DataFrame(
        {
            "id": ["a", "b", "c"],
            "label": ["pass", "fail", None],
            "kind": [record["scene"]["kind"] for record in FLAT],
            "order.total": [12.5, 900.0, -1e-7],
            "order.late": pandas.array([False, True, None], dtype="boolean"),
            "n": pandas.Series([3, math.nan, 2**70], dtype=object),
        }
    )
    assert content(load_scenes(flat)) == expected
    flat.iloc[:2].assign(n=[3, math.nan]).to_parquet(tmp_path / "flat.pq")
    assert content(load_scenes(tmp_path / "flat.pq")) == tuple(part[:2] for part in expected)

    for record in FLAT[:2]:
        folder = tmp_path / str(record["label"])
        folder.mkdir()
        (folder / f"{record['id']}.json").write_text(json.dumps(record["scene"]))
    folders = load_scenes(pass_dir=tmp_path / "pass", fail_dir=tmp_path / "fail")
    assert content(folders) == tuple(part[:2] for part in expected)


def test_labels_in_every_spelling() -> None:
    spelt: list[Any] = [
        "pass",
        "PASS",
        " Fail ",
        True,
        False,
        1,
        0,
        1.0,
        0.0,
        "1",
        "0",
        "True",
        "FALSE",
        None,
    ]
    scenes = load_scenes([{"label": label, "scene": n} for n, label in enumerate(spelt)])
    assert [label and label[0] for label in scenes.labels] == [*"ppfpfpfpfpfpf", None]
    assert load_scenes([{"scene": 1}]).labels == (None,)
    assert load_scenes([{"verdict": 1, "scene": 1}], label_column="verdict").labels == ("pass",)


def test_ids_are_texts_given_or_by_place(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"scene": 1}\r\n\r\n  \n{"scene": 2, "id": 7}\n'
        b'{"scene": 3, "id": "line-1"}\n{"scene": 4, "id": 2.5}'
    )
    scenes = load_scenes(path)
    assert scenes.ids == ("line-1~2", "7", "line-1", "2.5")
    assert scenes.places == tuple(f"{path}:{line}" for line in (1, 4, 5, 6))
    assert load_scenes([{"scene": 1}, {"scene": 2, "id": None}]).ids == ("scene-1", "scene-2")
    (tmp_path / "s.csv").write_text("id,label,a\n,1,5\n007,0,6\n")
    assert load_scenes(tmp_path / "s.csv").ids == ("row-1", "007")


def test_same_stem_in_both_folders_is_told_apart(tmp_path: Path) -> None:
    for folder, names in (("good", ["1", "2", "10"]), ("bad", ["2"])):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.json").write_text("{}")
    (tmp_path / "good" / "notes.txt").write_text("no scene")
    scenes = load_scenes(pass_dir=tmp_path / "good", fail_dir=str(tmp_path / "bad"))
    assert scenes.ids == ("1", "10", "pass/2", "fail/2")
    assert scenes.labels == ("pass", "pass", "pass", "fail")
    assert load_scenes(pass_dir=tmp_path / "good").counts == {"pass": 3, "fail": 0}


def test_csv_cells_are_typed_by_rule(tmp_path: Path) -> None:
    cells = {
        "": None,
        "true": True,
        "False": False,
        "12": 12,
        " 12 ": 12,
        "-0.5": -0.5,
        "1E3": 1000.0,
        "12345678901234567890123": 12345678901234567890123,
        "007": "007",
        "+5": "+5",
        ".5": ".5",
        "5.": "5.",
        "1_000": "1_000",
        "0x10": "0x10",
        "null": "null",
        "yes": "yes",
        " a ": " a ",
        "\u0661": "\u0661",
    }
    path = tmp_path / "s.csv"
    path.write_text("cell,label\n" + "".join(f'"{cell}",1\n' for cell in cells), encoding="utf-8")
    found = [scene["cell"] for scene in load_scenes(path).scenes]
    assert found == list(cells.values())
    assert [type(cell) for cell in found] == [type(cell) for cell in cells.values()]


def test_weights() -> None:
    scenes = load_scenes([{"scene": 1, "weight": weight} for weight in (2, 0, 0.25, None)] + [{"scene": 1}])
    assert scenes.weights == (2.0, 0.0, 0.25, 1.0, 1.0)


def test_a_weight_column_of_a_flat_table_is_part_of_the_scene_unless_named(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("label,weight,id,kg\n1,2.5,x,3\n")
    assert load_scenes(path).scenes == ({"weight": 2.5, "kg": 3},)
    named = load_scenes(path, weight_column="weight", id_column="")
    assert (named.scenes, named.weights, named.ids) == (({"id": "x", "kg": 3},), (2.5,), ("row-1",))


def test_standard_input_is_jsonl(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.TextIOWrapper(io.BytesIO(b'{"label": 1, "scene": {}}\n{"label": 0, "scene": "\xc3\xa9"}\n'))
    monkeypatch.setattr(sys, "stdin", data)
    scenes = load_scenes("-")
    assert scenes.scenes == ({}, "é")
    assert scenes.places == ("standard input:1", "standard input:2")


def test_line_separators_of_unicode_do_not_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"scene": "a\u2028b\u0085c"}\n{"scene": 1}\n', encoding="utf-8")
    assert load_scenes(path).scenes == ("a\u2028b\u0085c", 1)


def test_other_keys_are_left_out_and_told() -> None:
    scenes = load_scenes([{"scene": 1, "note": "x"}, {"scene": 2, "author": "y"}])
    assert scenes.ignored_keys == ("author", "note")


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=4)
    ),
)


@given(
    st.lists(
        st.tuples(JSON_VALUES, st.sampled_from(["pass", "fail", None]), st.floats(0, 1e9)),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_jsonl_round_trip(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("trip") / "s.jsonl"
    records = [
        {"id": f"n{n}", "scene": scene, "label": label, "weight": weight}
        for n, (scene, label, weight) in enumerate(rows)
    ]
    text = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    path.write_text(text, encoding="utf-8", newline="")
    scenes = load_scenes(path)
    again = [
        {"id": name, "scene": scene, "label": label, "weight": weight}
        for name, scene, label, weight in zip(
            scenes.ids, scenes.scenes, scenes.labels, scenes.weights, strict=True
        )
    ]
    assert "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in again) == text


# What is refused


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"label": "pass", "scene": {"items": [1, {"price": NaN}]}}',
            "$.scene.items[1].price: NaN is not JSON; leave the key out or write null (column 52)",
        ),
        (
            '{"label": 1, "scene": {"a": 1,}}',
            '$.scene: not JSON, expected a key in double quotes but found "}" (column 31)',
        ),
        (
            '{"label": 1, "scene": 1e400}',
            "$.scene: the number 1e400 is beyond the range of a double (column 23)",
        ),
        (
            '{"label": 1, "scene": ["\\ud800"]}',
            '$.scene[0]: the text "\\ud800" holds a lone surrogate, which is no character (column 24)',
        ),
        (
            '{"label": "maybe", "scene": 1}',
            '$.label: unknown label "maybe"; expected "pass" or "fail" (or true and false, 1 and 0)',
        ),
        (
            '{"label": 2, "scene": 1}',
            '$.label: unknown label the number 2; expected "pass" or "fail" (or true and false, 1 and 0)',
        ),
        ('{"lable": "pass", "scene": 1}', 'unknown key "lable"; did you mean "label"?'),
        ('{"Label": "pass", "scene": 1}', 'unknown key "Label"; did you mean "label"?'),
        ('{"label": "pass", "scenes": 1}', 'unknown key "scenes"; did you mean "scene"?'),
        (
            '{"label": "pass", "total": 3}',
            'no "scene"; write {"label": "pass", "scene": {…}}, the state to judge inside "scene"',
        ),
        (
            "7",
            'expected an object but found the number 7; write {"label": "pass", "scene": {…}}',
        ),
        (
            '{"scene": 1, "weight": -1}',
            "$.weight: expected a finite weight of at least 0 but found a negative number",
        ),
        ('{"scene": 1, "weight": true}', "$.weight: expected a finite weight of at least 0 but found true"),
        (
            '{"scene": 1, "weight": "2"}',
            '$.weight: expected a finite weight of at least 0 but found the text "2"',
        ),
        ('{"scene": 1, "id": ["x"]}', "$.id: expected a text as id but found an array"),
        ('{"scene": 1, "id": true}', "$.id: expected a text as id but found true"),
        ('{"scene": 1, "id": ""}', "$.id: the id is empty; leave it out or write a text"),
        (
            '{"scene": 1, "id": "first"}',
            '$.id: the id "first" was given before, at s.jsonl:1; ids must be unique',
        ),
        ('{"scene": {"k": 1, "k": 2}}', '$.scene: the key "k" is given twice in one object (column 20)'),
        (
            '{"scene": ' + "[" * 5_000 + "]" * 5_000 + "}",
            "$.scene[0][0][0][0][0][0][0]…[0][0][0][0]: nested deeper than 200 levels (column 210)",
        ),
    ],
)
def test_a_bad_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.jsonl").write_text(f'{{"scene": 1, "id": "first"}}\n\n{line}\n', encoding="utf-8")
    assert refuse("s.jsonl") == f"s.jsonl:3: {message}"


def test_a_huge_weight_is_refused() -> None:
    assert "beyond the range of a double" in refuse([{"scene": 1, "weight": 10**400}])


def test_an_array_in_a_jsonl_file_gets_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('[\n{"scene": 1}\n]')
    assert refuse(path).endswith("(column 2); for one array of records, name the format json")
    assert load_scenes(path, fmt="json").ids == ("scene-1",)


def test_faults_of_a_json_array(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('[\n {"scene": 1},\n {"scene": {"a": Infinity}}]')
    assert (
        refuse(path)
        == f"{path}:3: $[1].scene.a: Infinity is not JSON; write a number or leave the key out (column 18)"
    )
    path.write_text('[{"scene": 1}, {"scene": 1, "label": "x"}]')
    assert refuse(path).startswith(f'{path}: $[1].label: unknown label "x"')
    path.write_text('{"scene": 1}')
    assert refuse(path) == (
        f"{path}: expected an array of records but found an object; "
        "for one record a line, name the format jsonl"
    )


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.csv"])
@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_empty_input(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert refuse(path).startswith(f"{path}: no scenes")


def test_empty_collections(tmp_path: Path) -> None:
    assert refuse([]) == "records: no scenes; expected at least one"
    (tmp_path / "s.csv").write_text("label,a\n")
    assert refuse(tmp_path / "s.csv") == f"{tmp_path}/s.csv: no scenes; expected at least one"
    assert refuse(None, pass_dir=tmp_path / "s.csv").endswith("cannot be read as a folder: not a directory")
    (tmp_path / "empty").mkdir()
    assert refuse(None, fail_dir=tmp_path / "empty") == (
        f"{tmp_path}/empty: no scenes; expected files that end in .json, one scene each"
    )


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"scene": 1}\n{"scene": "caf\xe9"}\n')
    assert refuse(path) == f"{path}:2: not UTF-8 at byte 15 of the line; save it as UTF-8"
    path.write_bytes('{"scene": 1}\n'.encode("utf-16"))
    assert refuse(path) == f"{path}:1: not UTF-8 but UTF-16, by its byte order mark; save it as UTF-8"
    path.write_bytes(b"[\n\n\xff]")
    assert refuse(path, fmt="json") == f"{path}:3: not UTF-8 at byte 1 of the line; save it as UTF-8"


PACKED = {
    "gzip": (gzip.compress, "gzip -dc < FILE"),
    "bzip2": (bz2.compress, "bzip2 -dc < FILE"),
    "xz": (lzma.compress, "xz -dc < FILE"),
    "zstd": (lambda data: b"\x28\xb5\x2f\xfd" + data, "zstd -dc < FILE"),  # its mark, then anything
    "zip": (lambda data: b"PK\x03\x04" + data, "unzip -p FILE"),
}


@pytest.mark.parametrize("how", PACKED)
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet", ".jsonl.gz"])
def test_compressed_files_are_named_as_such(tmp_path: Path, how: str, suffix: str) -> None:
    pack, command = PACKED[how]
    path = tmp_path / f"s{suffix}"
    path.write_bytes(pack(b'{"label": "pass", "scene": 1}\n'))
    assert refuse(path) == f"{path}: compressed with {how}; unpack it first ({command})"


def test_compressed_files_beside_the_scenes(tmp_path: Path) -> None:
    scenes = write_lines(tmp_path / "s.jsonl", [{"id": "a", "scene": 1}])
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(gzip.compress(b'{"id": "a", "label": "pass"}\n'))
    assert refuse(scenes, labels=labels).startswith(f"{labels}: compressed with gzip; unpack it first")
    (tmp_path / "pass").mkdir()
    (tmp_path / "pass" / "a.json").write_bytes(gzip.compress(b"1"))
    assert "a.json: compressed with gzip" in refuse(None, pass_dir=tmp_path / "pass")


def test_a_file_named_as_compressed_that_is_not_is_read(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl.gz", [{"id": "a", "label": "pass", "scene": 1}])
    assert load_scenes(path).scenes == (1,)
    assert refuse(tmp_path / "s.gz").startswith(f"{tmp_path}/s.gz: cannot tell the format by the suffix")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_labels_and_scenes_in_another_encoding(tmp_path: Path, encoding: str) -> None:
    scenes = write_lines(tmp_path / "s.jsonl", [{"id": "a", "scene": 1}])
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes('{"id": "a", "label": "pass"}\n'.encode(encoding))
    problem = f"{labels}:1: not UTF-8 but {encoding.upper()}, by its byte order mark; save it as UTF-8"
    assert refuse(scenes, labels=labels) == problem
    assert refuse(labels) == problem


def test_sources_that_are_no_files(tmp_path: Path) -> None:
    assert (
        refuse(tmp_path)
        == f"{tmp_path}: is a folder; scenes in folders are given by label, as pass_dir and fail_dir"
    )
    (tmp_path / "d.jsonl").mkdir()
    assert refuse(tmp_path / "d.jsonl") == f"{tmp_path}/d.jsonl: is a folder; expected a file"
    assert refuse(tmp_path / "no.jsonl") == f"{tmp_path}/no.jsonl: cannot be read: no such file or directory"
    assert refuse("a\0.jsonl") == "a\0.jsonl: cannot be read: embedded null byte"
    assert refuse("scenes.txt").startswith("scenes.txt: cannot tell the format by the suffix (known: .jsonl,")
    assert refuse("s.jsonl", fmt="jsonll") == 'unknown format "jsonll"; did you mean "jsonl"?'
    assert refuse(None).startswith("no source")
    assert refuse(5).startswith("cannot load scenes from a value of type int")
    assert refuse({"scene": 1}).startswith("cannot load scenes from a value of type dict")
    assert refuse("s.jsonl", pass_dir="x").startswith("give either a source or the folders")


def test_python_records_must_be_json() -> None:
    assert refuse([{"scene": 1}, {"scene": {"at": (1,)}}]) == (
        "records: $[1].scene.at: a value of type tuple is not JSON; convert it first"
    )
    assert refuse([{"scene": {"\ud800": 1}}]).startswith(
        'records: $[0].scene: the key "\\ud800" holds a lone surrogate'
    )
    assert refuse([[1]]).startswith("records: $[0]: expected an object but found an array")
    assert refuse([{"scene": 1, "id": "x"}, {"scene": 2, "id": "x"}]) == (
        'records: $[1].id: the id "x" was given before, at records[0]; ids must be unique'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,a\n1,2\n1\n", ":3: expected 2 cells as in the header but found 1"),
        ('label,a\n"1\n', ":2: not CSV, unexpected end of data"),
        ("label,a\n1,NaN\n", ":2: $.a: NaN is not JSON; leave the cell empty for null"),
        ("label,a\n1,-inf\n", ":2: $.a: -inf is not JSON; leave the cell empty for null"),
        ("label,a\n1,2\n\n1,1e999\n", ":4: $.a: the number 1e999 is beyond the range of a double"),
        (
            "label,a\nok,2\n",
            ':2: $.label: unknown label "ok"; expected "pass" or "fail" (or true and false, 1 and 0)',
        ),
        ("id,label,a\nx,1,2\nx,1,3\n", ':3: $.id: the id "x" was given before, at {}:2; ids must be unique'),
        ("lable,a\n1,2\n", ': no column "label"; did you mean "lable"?'),
        ("verdict,a\n1,2\n", ': no column "label"; there are "verdict", "a"'),
        (",label,a\n0,1,2\n", ": column 1 has no name; name it, or leave it out if it is an index"),
        ("label,a,a\n1,2,3\n", ': there are two columns "a"; names must be unique'),
        (
            "label,a,a.b\n1,2,3\n",
            ': the columns "a" and "a.b" exclude each other; "a" would be a value and an object',
        ),
        (
            "label,a..b\n1,2\n",
            ': the column "a..b" has an empty part; a dot separates the keys of nested objects',
        ),
        ("label,id\n1,2\n", ": no columns beside label, id and weight; a flat scene needs at least one"),
        (
            'label,scene\n1,"{""a"": nan}"\n',
            ":2: $.scene.a: NaN is not JSON; leave the key out or write null (column 7 of the text)",
        ),
    ],
)
def test_a_bad_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text)
    assert refuse(path) == f"{path}{message.format(path)}"


def test_a_table_that_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "s.parquet").write_bytes(b"PAR1 but not really")
    assert refuse(tmp_path / "s.parquet").startswith(f"{tmp_path}/s.parquet: cannot be read as Parquet: ")


def test_frames_with_values_that_are_no_json() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"label": [1, 0], "at": pandas.to_datetime(["2026-01-01", None])})
    assert refuse(frame).startswith("DataFrame: $[0].at: a value of type pandas.")
    assert refuse(pandas.DataFrame({"label": [1], "a": [math.inf]})) == (
        "DataFrame: $[0].a: an infinite number is not JSON; leave the key out or write null"
    )
    assert refuse(pandas.DataFrame({"label": [1], 0: [1]})) == (
        "DataFrame: the column 0 is not named by a text; rename it"
    )


def test_a_labelled_record_in_a_folder_of_scenes_is_refused(tmp_path: Path) -> None:
    """Learnt as a scene, it would leak its label."""
    (tmp_path / "a.json").write_text('{"label": "pass", "scene": {}}')
    assert "this is a labelled record" in refuse(None, pass_dir=tmp_path)
    (tmp_path / "a.json").write_text('{\n"a": 1e999}')
    assert refuse(None, pass_dir=tmp_path).startswith(f"{tmp_path}/a.json:2: $.a: the number 1e999 is beyond")


def test_load_json(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text('\ufeff{"max_count": 3}', encoding="utf-8")
    assert load_json(path) == {"max_count": 3}


# What is done with them


def test_missing_labels_are_an_error_only_when_asked_for(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [{"scene": n} for n in range(5)] + [{"scene": 6, "label": 1}])
    scenes = load_scenes(path)
    assert scenes.summary() == "6 scenes: 1 pass, 0 fail, 5 unlabelled"
    with pytest.raises(SceneError) as caught:
        scenes.require_labels()
    assert str(caught.value) == (
        f"{path}:1, {path}:2, {path}:3 and 2 more: no label; "
        'learning needs "pass" or "fail" for every scene (6 scenes: 1 pass, 0 fail, 5 unlabelled)'
    )
    assert scenes.subset([5]).require_labels() == ("pass",)


def test_contradictions_compare_as_json_does() -> None:
    scenes = load_scenes(
        [
            {"id": "z", "label": 1, "scene": {"a": 1, "b": [0.5]}},
            {"id": "b", "label": 0, "scene": {"b": [0.5], "a": 1.0}},
            {"id": "true", "label": 0, "scene": {"a": True, "b": [0.5]}},
            {"id": "text", "label": 0, "scene": {"a": "1", "b": [0.5]}},
            {"id": "twice", "label": 1, "scene": None},
            {"id": "again", "label": 1, "scene": None},
            {"id": "open", "label": None, "scene": True},
            {"id": "shut", "label": 0, "scene": True},
            {"id": "0", "label": 0, "scene": 0},
            {"id": "-0", "label": 1, "scene": -0.0},
            {"id": "00", "label": 1, "scene": 0},
        ]
    )
    assert scenes.contradictions() == (("-0", "0", "00"), ("b", "z"))
    assert repr(scenes) == "<LabelledScenes: 11 scenes: 5 pass, 5 fail, 1 unlabelled>"


def test_digest_is_of_what_is_learnt_from() -> None:
    records: list[dict[str, Any]] = [
        {"id": str(n), "label": n % 2, "scene": {"a": n, "b": {"c": [n, None]}}} for n in range(9)
    ]
    digest = load_scenes(records).digest()
    assert len(digest) == 64
    shuffled = random.Random(1).sample(records, len(records))
    assert load_scenes(shuffled).digest() == digest
    same = [
        {"scene": {"b": r["scene"]["b"], "a": float(r["scene"]["a"])}, "label": bool(r["label"])}
        for r in records
    ]
    assert load_scenes(same).digest() == digest
    for change in ({"label": 1}, {"scene": {"a": False}}, {"weight": 2}, {"label": None}):
        assert load_scenes([{**records[0], **change}, *records[1:]]).digest() != digest
