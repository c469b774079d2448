"""Addresses of stores: how they are shown, and what they lead to."""

from __future__ import annotations

import re
from urllib.parse import urlsplit
from urllib.request import url2pathname

SQLITE = "sqlite:///"


def masked(uri: str) -> str:
    """The address without the name and password it may carry."""
    return re.sub(r"(?<=://)[^/]*@", "", uri)


def look(uri: str, experiment_id: str, run_id: str) -> str:
    """A command or an address that shows a run."""
    if uri.startswith(("http://", "https://")):
        return f"{masked(uri).rstrip('/')}/#/experiments/{experiment_id}/runs/{run_id}"
    return f"mlflow ui --backend-store-uri {masked(uri)}"


def local(uri: str) -> str:
    """A file's address as a path, any other address as it is."""
    return url2pathname(urlsplit(uri).path) if uri.startswith("file:") else uri
