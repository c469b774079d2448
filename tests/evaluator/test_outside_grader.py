"""An outside grader on a pipe: whatever it does, there is an answer or one sentence; no process is left."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from evaluator.translate.automationbench.outside_grader import GraderError, ask_grader

_ECHO = """
import json, sys
def reply(line):
    question = json.loads(line)
    return json.dumps({"idx": question["idx"], "satisfied": question["assertion"]["holds"]})
"""


@pytest.fixture
def grader(tmp_path: Path):
    """The command of a grader with this text."""

    def made(text: str) -> str:
        path = tmp_path / "grader.py"
        path.write_text(_ECHO + text)
        return shlex.join([sys.executable, str(path)])

    return made


def questions(total: int, filler: int = 10) -> Iterator[bytes]:
    world = {"app": "x" * filler}
    for index in range(total):
        line = {"idx": index, "assertion": {"type": "t", "holds": index % 3 == 0}, "world": world}
        yield json.dumps(line).encode() + b"\n"


def expected(total: int) -> list[bool]:
    return [index % 3 == 0 for index in range(total)]


def test_answers_are_put_in_the_order_of_the_questions(grader) -> None:
    command = grader("for line in sys.stdin: print(reply(line), flush=True)")
    assert ask_grader(command, questions(30), 30) == expected(30)


@pytest.mark.parametrize("order", ["lines", "lines[::-1]"])
def test_ten_thousand_answers_only_at_the_end(grader, order: str) -> None:
    command = grader(f"lines = list(sys.stdin)\nfor line in {order}: print(reply(line))")
    assert ask_grader(command, questions(10_000, filler=300), 10_000) == expected(10_000)


def test_full_pipes_on_every_side_do_not_deadlock(grader) -> None:
    """It fills its output and standard error with more than a pipe holds before it reads on."""
    command = grader(
        "for line in sys.stdin:\n"
        "    sys.stderr.write('x' * 100_000)\n"
        "    print(reply(line), ' ' * 60_000, flush=True)"
    )
    assert ask_grader(command, questions(40, filler=200_000), 40) == expected(40)


def test_a_slow_grader_is_waited_for_while_it_gets_on(grader) -> None:
    command = grader(
        "import time\nfor line in sys.stdin:\n    time.sleep(0.1)\n    print(reply(line), flush=True)"
    )
    assert ask_grader(command, questions(5), 5, patience=20) == expected(5)


def test_progress_is_told(grader) -> None:
    told: list[int] = []
    ask_grader(grader("for line in sys.stdin: print(reply(line))"), questions(4), 4, progress=told.append)
    assert told == [1, 2, 3, 4]


def test_extra_keys_blank_lines_and_exit_status_after_all_answers_are_no_fault(grader) -> None:
    command = grader(
        "for line in sys.stdin:\n"
        "    print()\n"
        "    print(json.dumps({**json.loads(reply(line)), 'why': 'so'}))\n"
        "sys.exit(3)"
    )
    assert ask_grader(command, questions(3), 3) == expected(3)


FAULTS = {
    "hangs at once": (
        "import time\ntime.sleep(60)",
        "neither read nor answered for 3 seconds, after 0 of 5",
    ),
    "hangs half-way": (
        "import time\nprint(reply(sys.stdin.readline()), flush=True)\ntime.sleep(60)",
        "neither read nor answered for 3 seconds, after 1 of 5",
    ),
    "prints blank lines for ever": (
        "while True: print(flush=True)",
        "neither read nor answered",
    ),
    "dies at once": (
        "sys.exit('out of memory')",
        "ended with exit status 1 after 0 of 5 answers; it said: out of",
    ),
    "dies half-way": (
        "print(reply(sys.stdin.readline()), flush=True)\nraise KeyError('users')",
        "ended with exit status 1 after 1 of 5 answers; it said: KeyError: 'users'",
    ),
    "is killed": ("import os\nos.kill(os.getpid(), 9)", "was ended by signal 9 after 0 of 5"),
    "leaves some out": (
        "for line in list(sys.stdin)[1:]: print(reply(line))",
        "ended with exit status 0 after 4 of 5 answers",
    ),
    "answers no JSON": (
        "print('ready', flush=True)\nsys.stdin.read()",
        'answered "ready", which is not JSON',
    ),
    "answers an array": ("print('[1]', flush=True)\nsys.stdin.read()", "answered [1]; an answer is"),
    "answers without a number": (
        'print(\'{"idx": true, "satisfied": true}\', flush=True)\nsys.stdin.read()',
        "an answer is",
    ),
    "gives no verdict": (
        'print(\'{"idx": 0, "error": "unknown type"}\', flush=True)\nsys.stdin.read()',
        'no verdict on question 0 ("unknown type")',
    ),
    "gives a verdict that is none": (
        'sys.stdin.readline()\nprint(\'{"idx": 0, "satisfied": 1}\', flush=True)\nsys.stdin.read()',
        "no verdict on question 0",
    ),
    "answers twice": (
        "line = sys.stdin.readline()\nprint(reply(line))\nprint(reply(line), flush=True)\nsys.stdin.read()",
        "answered question 0 twice",
    ),
    "answers what was not asked": (
        'sys.stdin.read()\nprint(\'{"idx": 7, "satisfied": true}\')',
        "answered question 7, which it was not asked",
    ),
    "answers for ever": (
        "line = sys.stdin.readline()\nwhile True: print(reply(line))",
        "answered question 0 twice",
    ),
    "answers a line without an end": (
        "while True: sys.stdout.write('1' * 1000)",
        "the grader answered",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_grader_is_one_sentence(grader, name: str) -> None:
    text, message = FAULTS[name]
    with pytest.raises(GraderError) as raised:
        ask_grader(grader(text), questions(5), 5, patience=3 if "neither" in message else 60)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/no/such/grader --fast", "/no/such/grader cannot be started: no such file"),
        ("", "command is empty"),
        ("grader 'half", "cannot be read: no closing quotation"),
    ],
)
def test_a_grader_that_cannot_be_started(command: str, message: str) -> None:
    with pytest.raises(GraderError, match=message):
        ask_grader(command, questions(1), 1)


def test_the_process_is_ended_with_its_children(grader, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = grader(
        "import os, subprocess, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(60)"
    )
    with pytest.raises(GraderError, match="neither read nor answered"):
        ask_grader(command, questions(1), 1, patience=5)
    assert not [pid for pid in map(int, pids.read_text().split()) if runs(pid)]


def runs(pid: int) -> bool:
    with suppress(FileNotFoundError):  # a process that ended but was not waited for is no longer running
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc").is_dir()
