"""Exported checks, and files that are written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path

import pytest

from evaluator import CheckError, run_check
from induce.export import export_check, require_writable, write_atomically

CHECK = {"op": "lte", "path": "größe", "value": 500.0}


def test_json_is_readable_and_exact() -> None:
    defined = {
        "id": "size",
        "expr": CHECK,
        "meta": {"induction": {"lower_bound": math.inf, "weight": 0.1, "big": 2**70, "who": ["a"]}},
    }
    assert export_check(defined) == (
        "{\n"
        '  "id": "size",\n'
        '  "expr": {\n    "op": "lte",\n    "path": "größe",\n    "value": 500\n  },\n'
        '  "meta": {\n    "induction": {\n      "lower_bound": "Infinity",\n      "weight": 0.1,\n'
        '      "big": 1180591620717411303424,\n      "who": [\n        "a"\n      ]\n    }\n  }\n'
        "}\n"
    )
    assert json.loads(export_check(CHECK)) == CHECK
    assert run_check({"größe": 501}, json.loads(export_check(defined))).gap == 1


def test_only_well_formed_checks_in_known_formats() -> None:
    for broken in ({"op": "lt3"}, {"op": "lte", "path": "a", "value": math.inf}, {"value": "\ud800"}):
        with pytest.raises(CheckError):
            export_check({"op": "eq", "path": "a", "value": 1} | broken)
    with pytest.raises(
        ValueError, match=r"^unknown export format 'xml'; there are json, core, cel, python, las$"
    ):
        export_check(CHECK, "xml")


def test_writes_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "check.json"
    write_atomically(target, "one\n")
    write_atomically(str(target), "größer\n")
    assert target.read_bytes() == "größer\n".encode()
    assert os.listdir(tmp_path) == ["check.json"]


def test_permissions_are_what_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "check.json", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "check.json").stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_atomically(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "check.json"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=f"^{target}: cannot be written: no space left on device$"):
        write_atomically(target, "new")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(target, "\ud800")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["check.json"]


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "check.json", "new")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("act", [require_writable, lambda path: write_atomically(path, "x")])
def test_unusable_targets(tmp_path: Path, act: object) -> None:
    assert callable(act)
    with pytest.raises(IsADirectoryError, match=f"^{tmp_path}: is a folder; name a file$"):
        act(tmp_path)
    with pytest.raises(IsADirectoryError, match=r"is a folder; name a file$"):
        act(f"{tmp_path}/no/")
    with pytest.raises(FileNotFoundError, match=f"the folder {tmp_path}/no does not exist; make it first$"):
        act(tmp_path / "no" / "check.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError, match=r"does not exist; make it first$"):
        act(tmp_path / "file" / "check.json")
    with pytest.raises(OSError, match=r"is no usable file name: embedded null byte$"):
        act("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError, match=r"cannot be written to; choose another$"):
        require_writable(tmp_path / "check.json")
    tmp_path.chmod(0o755)


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_atomically(os.devnull, "x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
