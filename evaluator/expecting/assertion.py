"""One assertion of a chain: what it demands, and the id under which its scores are remembered.

Ids follow scheme 2: made from the scope (the test), the method, the spec and the number of the occurrence
among equal specs of that scope. Adding, dropping or moving other assertions changes none. Neither does making
an assertion soft, or another snapshot of the world: they are not what is measured.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from msgspec import Struct

from evaluator.conversion import to_scene
from evaluator.expecting.scope import Scope
from evaluator.json_write import canonical_json

CHECK: Final = "check"
"""The method of an assertion that is a check of the check language; its argument is `check`."""
_NOT_IN_ID: Final = ("soft", "snapshot")


class Assertion(Struct, frozen=True):
    """One assertion as it was collected.

    Attributes:
        id: stable from run to run, unique in its scope.
        method: its name in the expect DSL (`required_tools`, `world_count`), or `check`.
        args: its arguments as JSON, `soft` and `snapshot` among them where they were given.
    """

    id: str
    method: str
    args: dict[str, Any]

    @property
    def soft(self) -> bool:
        """Whether a failure is asked to be a soft one."""
        return self.args.get("soft") is True

    def to_dict(self) -> dict[str, Any]:
        """The assertion as JSON, which `evaluate_assertion` takes; a copy."""
        copied: dict[str, Any] = to_scene({"id": self.id, "method": self.method, "args": self.args})
        return copied


def identified(method: str, args: dict[str, Any], scope: Scope) -> Assertion:
    """The assertion with its id in this scope."""
    spec = canonical_json([method, {name: args[name] for name in args if name not in _NOT_IN_ID}])
    told = canonical_json([scope.name, spec, scope.occurrence(spec)])
    return Assertion(f"2:{sha256(told.encode()).hexdigest()[:24]}", method, args)
