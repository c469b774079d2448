"""Keys of endpoints: taken from the environment, shown to nobody.

A key lives in one object that prints as `Key(***)`, is not pickled, and can take itself out of a text: a
server may put the key it was sent into its answer.
"""

from __future__ import annotations

import os
import re
from typing import NoReturn

_HIDDEN = "***"
_CARRIABLE = re.compile("[!-~]+")


class Key:
    """A secret that is sent in a header and must not be seen anywhere else. `Key(None)` is no key."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str | None) -> None:
        self._secret = None if secret is None else secret.strip()
        secret = None  # an error's frames are shown with their locals
        if self._secret is not None and not _CARRIABLE.fullmatch(self._secret):
            self._secret = None
            raise ValueError("the key is empty or holds what no header can carry; copy it again")

    def __repr__(self) -> str:
        return "Key(None)" if self._secret is None else f"Key({_HIDDEN})"

    def __bool__(self) -> bool:
        return self._secret is not None

    def __deepcopy__(self, _: object) -> Key:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled; build the provider in the process that uses it")

    def header(self, prefix: str = "") -> str:
        """The text of the header that carries the key: for the request alone."""
        return f"{prefix}{self._secret}"

    def scrub(self, text: str) -> str:
        """The text without the key."""
        return text if self._secret is None else text.replace(self._secret, _HIDDEN)


def find_key(given: str | Key | None, variable: str | None, usual: str, *, needed: bool) -> Key:
    """The key of an endpoint: the one given, else from the environment.

    `variable` is the environment variable that the user named, and then it has to be set; None means `usual`,
    whose absence is an error only where a key is `needed`. Raises `ValueError` without showing any value.
    """
    if isinstance(given, Key):
        return given
    if given is not None:
        return Key(given)
    name = variable or usual
    if os.environ.get(name, "").strip():
        try:
            return Key(os.environ[name])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if variable is not None:
        raise ValueError(f"the environment variable {variable}, which should hold the key, is not set")
    if needed:
        raise ValueError(f"a key is needed: set {usual}, or give key_variable= or key=")
    return Key(None)
