"""Addresses of stores: how they are shown, and what they lead to."""

from __future__ import annotations

import re
from urllib.parse import urlsplit
from urllib.request import url2pathname

SQLITE = "sqlite:///"
# A password may hold a slash, by mistake; a port before a slash is no password.
_ACCOUNT = re.compile(r"(?<=://)(?:[^/\s]*|[^/\s:]+:(?!\d+/)\S*)@")
_SECRET = re.compile(r"(?i)([?&;](?:password|passwd|pwd|token|secret|sslpassword)=)[^&;\s'\"]*")


def masked(uri: str) -> str:
    """The address, or a text with addresses, without the names, passwords and tokens that they carry."""
    return _SECRET.sub(r"\1…", _ACCOUNT.sub("", uri))


def look(uri: str, experiment_id: str, run_id: str) -> str:
    """A command or an address that shows a run."""
    if uri.startswith(("http://", "https://")):
        return f"{masked(uri).rstrip('/')}/#/experiments/{experiment_id}/runs/{run_id}"
    return f"mlflow ui --backend-store-uri {masked(uri)}"


def local(uri: str) -> str:
    """A file's address as a path, any other address as it is."""
    return url2pathname(urlsplit(uri).path) if uri.startswith("file:") else uri
