"""`evaluator schema`: the JSON Schema of checks."""

from __future__ import annotations

import argparse
import json
from typing import Any

from evaluator.schema import check_json_schema


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of checks",
        description="Print the JSON Schema (draft 2020-12) of a check, bare or defined.",
        epilog="exit status: 0",
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Print the schema. Returns 0."""
    print(json.dumps(check_json_schema(), indent=2, ensure_ascii=False))
    return 0
