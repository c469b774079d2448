"""Content: what the text of the output, or of a step's arguments or result, says.

Texts are searched as they are, after lower-casing code point by code point unless the case counts (`İ`
becomes `i`, a capital sigma becomes the same letter at the end of a word as within; nothing is folded or
normalised). A target that is no text is read as its JSON text, null as the empty text. An absent target
fails, soft or not, also where the absence of a text is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from msgspec import Meta

from evaluator.assertions.json_value import at_dot_path
from evaluator.assertions.judgement import Judge, Judgement, SpecError, failed, passed
from evaluator.assertions.method import Method
from evaluator.assertions.view import TraceView
from evaluator.json_write import json_text
from evaluator.pattern import PatternError, searcher
from evaluator.values import MISSING, compact, quoted

_LONGEST_PATTERN: Final = 10_000
_TARGET: Final = r"^(?:output(?:\.[\s\S]+)?|steps\[\?name=='[^']+'\]\.(?:args|result)(?:\.[\s\S]+)?)$(?!\n)"
_STEP_TARGET: Final = re.compile(r"steps\[\?name=='([^']+)'\]\.(args|result)(?:\.(.+))?", re.DOTALL)
_SIGMA: Final = "\N{GREEK SMALL LETTER SIGMA}"
_MESSAGE: Final = "output.message"
Target = Annotated[str, Meta(pattern=_TARGET)]
"""`output`, `output.<path>`, `steps[?name=='N'].args[.<path>]` or the same of `result`; paths go by dots."""

Texts = tuple[str, ...]
_Said = Callable[[str], Judgement]


def text_of(value: Any) -> str:
    """The text that a value is searched as: a string itself, null the empty text, else its JSON text."""
    if type(value) is str:
        return value
    return "" if value is None else json_text(value, compact=True)


def lower(text: str) -> str:
    """The text in lower case, one code point for each."""
    return text.lower() if text.isascii() else text.replace("İ", "i").replace("Σ", _SIGMA).lower()


def output_contains(*, value: str, case_sensitive: bool = False) -> Judge:
    """`output.message` contains `value`."""
    return content_contains(target=_MESSAGE, value=value, case_sensitive=case_sensitive)


def content_contains(*, target: Target, value: str, case_sensitive: bool = False) -> Judge:
    """The text of `target` contains `value`."""
    search = _Search(case_sensitive)
    wanted = search.prepared(value)

    def judge(text: str) -> Judgement:
        if wanted in search.prepared(text):
            return passed(f"{target} contains {quoted(value)}")
        return failed(1, lambda: f"{target}: expected string containing {quoted(value)}, got {compact(text)}")

    return _of_target(target, judge)


def output_not_contains(*, value: str, case_sensitive: bool = False) -> Judge:
    """`output.message` does not contain `value`. The gap is the number of occurrences that do not overlap."""
    search = _Search(case_sensitive)
    unwanted = search.prepared(value)

    def judge(text: str) -> Judgement:
        number = search.prepared(text).count(unwanted) if unwanted else 1
        if not number:
            return passed(f"{_MESSAGE} does not contain {quoted(value)}")
        return failed(number, f"{_MESSAGE}: expected no {quoted(value)}, found {number}")

    return _of_target(_MESSAGE, judge)


def output_matches_regex(*, pattern: str) -> Judge:
    """The regular expression `pattern`, RE2's, is found in `output.message`. Needs the package google-re2."""
    search = _compiled(pattern)

    def judge(text: str) -> Judgement:
        if search(text):
            return passed(f"{_MESSAGE} matches /{pattern}/")
        return failed(1, lambda: f"{_MESSAGE}: expected match of /{pattern}/, got {compact(text)}")

    return _of_target(_MESSAGE, judge)


def output_has_all_keywords(*, keywords: Texts, case_sensitive: bool = False) -> Judge:
    """`output.message` contains each of `keywords`; the score is the share of them that it does."""
    search = _Search(case_sensitive)
    wanted = search.all_prepared(keywords)

    def judge(text: str) -> Judgement:
        text = search.prepared(text)
        missing = [keyword for keyword, prepared in wanted if prepared not in text]
        if not missing:
            return passed(f"{_MESSAGE} contains all of {len(wanted)} keywords")
        why = f"{_MESSAGE}: expected all of {len(wanted)} keywords, missing: {', '.join(missing)}"
        return failed(len(missing), why, (len(wanted) - len(missing)) / len(wanted))

    return _of_target(_MESSAGE, judge)


def output_has_any_keyword(*, keywords: Texts, case_sensitive: bool = False) -> Judge:
    """`output.message` contains one of `keywords` at least; it fails when there are none."""
    search = _Search(case_sensitive)
    wanted = search.all_prepared(keywords)
    expected = f"{_MESSAGE}: expected one of: {', '.join(keywords)}"

    def judge(text: str) -> Judgement:
        text = search.prepared(text)
        for keyword, prepared in wanted:
            if prepared in text:
                return passed(f"{_MESSAGE} contains {quoted(keyword)}")
        return failed(1, expected)

    return _of_target(_MESSAGE, judge)


def output_forbids(*, terms: Texts) -> Judge:
    """`output.message` contains none of `terms`, in upper or lower case. The gap is how many it does."""
    search = _Search(case_sensitive=False)
    unwanted = search.all_prepared(terms)

    def judge(text: str) -> Judgement:
        text = search.prepared(text)
        found = [term for term, prepared in unwanted if prepared in text]
        if not found:
            return passed(f"{_MESSAGE} contains none of {len(unwanted)} forbidden terms")
        why = f"{_MESSAGE}: expected none of the forbidden terms, found: {', '.join(found)}"
        return failed(len(found), why)

    return _of_target(_MESSAGE, judge)


class _Search:
    """How texts are prepared before one is searched in the other."""

    __slots__ = ("prepared",)

    def __init__(self, case_sensitive: bool) -> None:
        self.prepared: Callable[[str], str] = str if case_sensitive else lower

    def all_prepared(self, texts: Texts) -> list[tuple[str, str]]:
        """Each text beside its prepared form."""
        return [(text, self.prepared(text)) for text in texts]


def _of_target(target: str, said: _Said) -> Judge:
    """The judge that reads a target and hands its text on."""
    get = _reader(target)
    absent = failed(1, f"{target}: expected text, got nothing", soft_heeded=False, reason="target")

    def judge(view: TraceView) -> Judgement:
        found = get(view)
        return absent if found is MISSING else said(text_of(found))

    return judge


def _reader(target: str) -> Callable[[TraceView], Any]:
    of_step = _STEP_TARGET.fullmatch(target)
    if of_step:
        name, field, path = of_step.groups()
        keys = (field, *path.split(".")) if path else (field,)

        def of_first_step(view: TraceView) -> Any:
            names = view.names
            return at_dot_path(view.steps[names.index(name)], keys) if name in names else MISSING

        return of_first_step
    keys = tuple(target.split("."))[1:]
    return lambda view: at_dot_path(view.output, keys)


def _compiled(pattern: str) -> Callable[[str], bool]:
    if len(pattern.encode("utf-8", "surrogatepass")) > _LONGEST_PATTERN:
        raise SpecError(f"pattern: expected at most {_LONGEST_PATTERN:,} bytes", "pattern")
    try:
        return searcher(pattern)
    except ImportError:
        problem = 'it needs the package google-re2: install it, or this package with its extra "re"'
        raise SpecError(problem) from None
    except PatternError as error:
        reason = f"not a regular expression that RE2 takes: {error}"
        raise SpecError(f"pattern: {reason}", "pattern") from None


METHODS: Final = (
    Method("output_contains", "content", output_contains),
    Method("output_not_contains", "content", output_not_contains),
    Method("output_matches_regex", "content", output_matches_regex),
    Method("output_has_all_keywords", "content", output_has_all_keywords),
    Method("output_has_any_keyword", "content", output_has_any_keyword),
    Method("output_forbids", "content", output_forbids, soft=False),
    Method("content_contains", "content", content_contains),
)
