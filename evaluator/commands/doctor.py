"""`evaluator doctor`: what is installed, what each missing package would add, and how to get it."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from evaluator.audit import CORPORA, golden_folder
from evaluator.json_write import json_text
from evaluator.version import installed_version


class _Package(NamedTuple):
    """A package, the module it brings, what it is for, and what pip is asked for to get it."""

    name: str
    module: str
    purpose: str
    get: str


_GROUPS: Final[dict[str, tuple[_Package, ...]]] = {
    "needed": (_Package("msgspec", "msgspec", "everything", "msgspec"),),
    "extras": (
        _Package("rich", "rich", "tables on a terminal", "rich"),
        _Package("pyyaml", "yaml", "packs in YAML", "check-induction[yaml]"),
        _Package("google-re2", "re2", "the operator matches", "check-induction[re]"),
        _Package("backports.zstd", "backports.zstd", "reading .zst files", "check-induction[zst]"),
        _Package("numpy", "numpy", "evaluate_many and SceneTable", "numpy"),
        _Package("mcp", "mcp", "the command mcp", "check-induction[mcp]"),
        _Package("pytest", "pytest", "checks as tests, -p evaluator.pytest_plugin", "pytest"),
        _Package(
            "opentelemetry-api", "opentelemetry", "recording scenes as span events", "opentelemetry-api"
        ),
    ),
    "learning": (
        _Package("clingo", "clingo", "the learner's solver", "check-induction"),
        _Package("scikit-learn", "sklearn", "the learner as an estimator", "check-induction"),
        _Package("mlflow", "mlflow", "tracking experiments", "check-induction"),
    ),
}


def add_parser(commands: Any) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "doctor",
        help="say what is installed, what is missing and how to get it",
        description="Say which versions and optional packages are installed, and how to get what is missing.",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the report. Returns 0: what is missing is optional."""
    report = _report()
    if args.format == "json":
        sys.stdout.write(json_text(report) + "\n")
    else:
        _print(report)
    return 0


def _report() -> dict[str, Any]:
    groups = {group: [_state(package) for package in packages] for group, packages in _GROUPS.items()}
    folder = golden_folder()
    cases = [] if folder is None else [name for name in CORPORA if (folder / f"{name}.jsonl").is_file()]
    return {
        "check-induction": installed_version(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "packages": groups,
        "providers": {
            "world_models": "functions of your program, made known by register_world_model(name, fn)"
        },
        "golden": {"folder": None if folder is None else str(folder), "corpora": cases},
    }


def _state(package: _Package) -> dict[str, Any]:
    installed = _is_there(package.module)
    if package.module == "backports.zstd" and not installed and _is_there("compression.zstd"):
        return {"name": "compression.zstd", "version": platform.python_version(), "purpose": package.purpose}
    state: dict[str, Any] = {"name": package.name, "version": None, "purpose": package.purpose}
    if installed:
        state["version"] = installed_version(package.name) or "unknown"
    else:
        state["get"] = f"pip install '{package.get}'"
    return state


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # of the package above it
        return False


def _print(report: dict[str, Any]) -> None:
    version = report["check-induction"] or "(not installed)"
    python = f"Python {report['python']} ({report['implementation']})"
    print(f"check-induction {version}, {python}, {report['platform']}")
    for group, states in report["packages"].items():
        print(f"\n{group}")
        for state in states:
            line = f"  {state['name']:<18} {state['version'] or 'missing':<12} {state['purpose']}"
            print(line + (f"; get it: {state['get']}" if "get" in state else ""))
    print(f"\nproviders\n  world models       {report['providers']['world_models']}")
    golden = report["golden"]
    cases = f"{', '.join(golden['corpora'])} in {golden['folder']}" if golden["corpora"] else "not installed"
    print(f"\nrecorded cases (evaluator audit)\n  {cases}")
