"""Reading YAML as JSON: the core schema of YAML 1.2, and strictly. Needs PyYAML.

PyYAML alone reads by version 1.1, where `yes` is true, `12:30` is 750, `010` is 8 and `2026-01-01` no text.
Here a plain scalar is null, true, false or a number only when it looks like that in JSON too (or like `0x1f`,
`0o17`); everything else is text. Refused is what JSON cannot hold or readers take differently: keys that are
not text or stand twice, merge keys, tags of one's own, NaN and infinite numbers, several documents, and more
levels than a check may have (the time PyYAML needs grows with the square of the depth).
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Final

import yaml

from evaluator.check import MAX_DEPTH
from evaluator.errors import kind_of
from evaluator.json_read import JsonTextError
from evaluator.values import quoted

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STANDARD: Final = "tag:yaml.org,2002:"
_STANDARD_TAGS: Final = frozenset(
    {_STANDARD + kind for kind in ("map", "seq", "null", "bool", "int", "float")}
)
_TEXT_TAGS: Final = frozenset({_STANDARD + "str", "!"})


def read_yaml(data: bytes) -> Any:
    """The value of a YAML text. Raises `JsonTextError` with line and column for what cannot be read."""
    builder = _Builder()
    try:
        for event in yaml.parse(data, Loader=yaml.SafeLoader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise JsonTextError(f"not YAML: {error.problem or error.context}", line, column) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise JsonTextError(f"not YAML: {' '.join(str(error).split())}") from None
    if not builder.documents:
        raise JsonTextError("the file is empty")
    return builder.root[0]


class _Builder:
    """Values put together from the parser's events, with a stack of the arrays and objects that are open."""

    def __init__(self) -> None:
        self.root: list[Any] = []
        self.documents = 0
        self._open: list[Any] = [self.root]
        self._keys: list[str | None] = [None]
        self._anchors: dict[str, Any] = {}

    def take(self, event: Any) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise _refusal("a second document starts; one is expected", event)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                if event.tag is not None and event.tag not in _STANDARD_TAGS:
                    raise _refusal(f"the tag {quoted(event.tag)} has no meaning in JSON", event)
                if len(self._open) > MAX_DEPTH:
                    raise _refusal(f"the text is more than {MAX_DEPTH} levels deep", event)
                container: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                self._add(container, event)
                self._open.append(container)
                self._keys.append(None)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._open.pop()
                self._keys.pop()
            case yaml.ScalarEvent():
                self._add(_scalar(event), event)
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise _refusal(f"no anchor has the name {quoted(event.anchor)}", event)
                self._add(self._anchors[event.anchor], event)

    def _add(self, value: Any, event: Any) -> None:
        """Put a value where it stands: into an array, or into an object as a key or behind one."""
        if event.anchor is not None and not isinstance(event, yaml.AliasEvent):
            self._anchors[event.anchor] = value
        container, key = self._open[-1], self._keys[-1]
        if isinstance(container, list):
            container.append(value)
        elif key is not None:
            container[key] = value
            self._keys[-1] = None
        elif not isinstance(value, str):
            raise _refusal(f"a key is text, got {kind_of(value)}; put it in quotes", event)
        elif value == "<<":
            raise _refusal("merge keys (<<) are not read; write the members out", event)
        elif value in container:
            raise _refusal(f"the key {quoted(value)} stands twice in one object", event)
        else:
            container[value] = None
            self._keys[-1] = value


def _scalar(event: Any) -> Any:
    text, tag = event.value, event.tag
    if tag in _TEXT_TAGS or (tag is None and event.style is not None):
        return text
    if tag is not None and tag not in _STANDARD_TAGS:
        raise _refusal(f"the tag {quoted(tag)} has no meaning in JSON", event)
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _refusal(f"{text} is no JSON number; put it in quotes if it is text", event)
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _OTHER_BASE.fullmatch(text):
            return int(text, 0)
    except ValueError:  # Python's limit on the digits of an integer
        raise _refusal("a whole number has too many digits to be read", event) from None
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not isfinite(number):
            raise _refusal("a number is too large for a double", event)
        return number
    return text


def _refusal(problem: str, event: Any) -> JsonTextError:
    return JsonTextError(problem, event.start_mark.line + 1, event.start_mark.column + 1)
