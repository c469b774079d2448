"""`evaluator mcp`: the agent tools as a server of the Model Context Protocol on standard input and output."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Any

from evaluator.commands import UnusableInputError
from evaluator.tools import SHORTEST_CAP
from evaluator.version import installed_version

_EPILOG = """\
Tools: check_scene, gap and diagnose. A client starts the server itself, for example with
  {"mcpServers": {"evaluator": {"command": "evaluator", "args": ["mcp"]}}}
A malformed check is answered with {"error": ...} and the place to change. A message that is too long, or that
is no strict JSON (a key twice, NaN, half a surrogate pair), is answered with an error of the protocol.
"""
_LEAST_BYTES = 1_024
_MOST_BYTES = 1 << 30


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "mcp",
        help="serve the agent tools over the Model Context Protocol",
        description="Serve the agent tools over the Model Context Protocol on standard input and output.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--max-bytes",
        type=int,
        default=8_388_608,
        metavar="N",
        help="the longest message that is read, in bytes (default %(default)s)",
    )
    parser.add_argument(
        "--max-chars",
        type=int,
        default=20_000,
        metavar="N",
        help="the longest answer of a tool, in characters (default %(default)s)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    if not _LEAST_BYTES <= args.max_bytes <= _MOST_BYTES:
        allowed = f"from {_LEAST_BYTES} to {_MOST_BYTES}"
        raise UnusableInputError(f"--max-bytes is a number of bytes {allowed}, got {args.max_bytes}")
    if args.max_chars < SHORTEST_CAP:
        raise UnusableInputError(f"--max-chars is at least {SHORTEST_CAP}, got {args.max_chars}")
    if sys.stdin is None:
        raise UnusableInputError("standard input is closed; a client sends its messages there")
    if find_spec("mcp") is None:
        advice = "install it with: pip install 'check-induction[mcp]'"
        raise UnusableInputError(f"serving needs the package mcp, version 2; {advice}")
    try:
        from evaluator.mcp_server import Limits, serve
    except ImportError as error:
        raise UnusableInputError(f"serving needs the package mcp, version 2 ({error})") from None

    serve(Limits(args.max_bytes, args.max_chars), installed_version() or "")
    return 0
