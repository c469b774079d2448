"""`evaluator audit`: how far this evaluator agrees with the recorded behaviour of the original one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from evaluator.audit import CORPORA, Tally, audit_corpus, golden_folder
from evaluator.commands import UnusableInputError
from evaluator.json_write import json_text
from evaluator.scene_lines import reason

_EPILOG = """\
Every case is put to this evaluator and compared with what the original answered: verdict, gap as a double,
and why to the letter. Refusing a malformed check agrees with an error of the original; it also does where the
original goes on with a check that lacks a field or has one of another type.

exit status: 0 all cases agree, 1 some disagree, 2 there are no cases
"""


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "audit",
        help="compare this evaluator with the original on recorded cases",
        description="Put recorded cases of the original evaluator to this one and count where they agree.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--golden", metavar="DIR", help="folder with the cases (default: those that ship with the project)"
    )
    parser.add_argument(
        "--show", type=int, default=5, metavar="N", help="disagreements to print for each file (default 5)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print total, agree, disagree and equivalence. Returns 0 when all cases agree, else 1."""
    folder = _folder(args.golden)
    names = [name for name in CORPORA if (folder / f"{name}.jsonl").is_file()]
    if not names:
        expected = ", ".join(f"{name}.jsonl" for name in CORPORA)
        raise UnusableInputError(f"{folder}: no recorded cases; expected some of {expected}")
    try:
        tallies = [audit_corpus(folder, name) for name in names]
    except OSError as error:
        raise UnusableInputError(f"{error.filename}: {reason(error)}") from None
    except ValueError as error:
        raise UnusableInputError(str(error)) from None
    if args.format == "json":
        sys.stdout.write(json_text(_wire(tallies, args.show)) + "\n")
    else:
        _print(tallies, args.show)
    return 1 if any(tally.disagreements for tally in tallies) else 0


def _folder(given: str | None) -> Path:
    if given is None:
        shipped = golden_folder()
        if shipped is None:
            problem = "the recorded cases are not installed; --golden DIR names a folder with them"
            raise UnusableInputError(f"{problem} (tests/golden/autocheck in a clone)")
        return shipped
    folder = Path(given)
    if not folder.is_dir():
        raise UnusableInputError(f"{given}: no such folder; expected one with recorded cases")
    return folder / "autocheck" if (folder / "autocheck").is_dir() else folder


def _sums(tallies: list[Tally]) -> tuple[int, int, str]:
    total = sum(tally.total for tally in tallies)
    agree = sum(tally.agreeing for tally in tallies)
    hundredths = agree * 10_000 // max(total, 1)  # rounded down: 100 is said only of all
    return total, agree, f"{hundredths // 100}.{hundredths % 100:02d}"


def _print(tallies: list[Tally], show: int) -> None:
    total, agree, percent = _sums(tallies)
    print(f"{'corpus':<10}{'total':>8}{'agree':>8}{'disagree':>10}")
    for tally in tallies:
        print(f"{tally.corpus:<10}{tally.total:>8}{tally.agreeing:>8}{len(tally.disagreements):>10}")
        for case, ours, original in tally.disagreements[:show]:
            print(f"  {case}\n    ours:     {ours}\n    original: {original}")
    print(f"{'all':<10}{total:>8}{agree:>8}{total - agree:>10}")
    print(f"equivalence: {percent} %")


def _wire(tallies: list[Tally], show: int) -> dict[str, Any]:
    total, agree, percent = _sums(tallies)
    corpora = [
        {
            "corpus": tally.corpus,
            "total": tally.total,
            "agree": tally.agreeing,
            "disagree": len(tally.disagreements),
            "cases": [one._asdict() for one in tally.disagreements[:show]],
        }
        for tally in tallies
    ]
    disagree = total - agree
    return {
        "total": total,
        "agree": agree,
        "disagree": disagree,
        "equivalence": float(percent),
        "corpora": corpora,
    }
