"""Regular expressions, RE2's: no look-around and no back references, and time linear in the text.

The package google-re2 is an extra, loaded when the first pattern is compiled.
"""

from __future__ import annotations

from collections.abc import Callable

from evaluator.values import has_lone_surrogate, replace_lone_surrogates


class PatternError(ValueError):
    """The pattern is not one that RE2 takes; the text says why."""


def searcher(pattern: str) -> Callable[[str], bool]:
    """Whether a pattern is found in a text. Half of a surrogate pair in the text reads as U+FFFD.

    Raises `PatternError`, and `ImportError` where google-re2 is not installed.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise PatternError(reason) from None

    def search(text: str) -> bool:
        if has_lone_surrogate(text):
            text = replace_lone_surrogates(text)
        return compiled.search(text.encode()) is not None

    return search
