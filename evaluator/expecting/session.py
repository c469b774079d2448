"""The providers of a session, for chains that were given none of their own."""

from __future__ import annotations

from threading import Lock

from evaluator.assertions.run import current_providers
from evaluator.providers import Providers

_lock = Lock()
_set: Providers | None = None
_from_environment: Providers | None = None


def set_session_providers(providers: Providers | None) -> Providers | None:
    """Give chains without providers of their own these; returns those set before, to be put back.

    None goes back to what the environment describes (`default_providers`), which is built once, when a chain
    first needs it.
    """
    global _set
    with _lock:
        before, _set = _set, providers
    return before


def session_providers() -> Providers:
    """Those around the call (`providing`), else those that were set, else the environment's.

    Raises `ValueError` when the environment describes none that can be built.
    """
    global _from_environment
    around = current_providers()
    if around is not None:
        return around
    with _lock:
        if _set is not None:
            return _set
        if _from_environment is None:
            from evaluator.providers.environment import default_providers  # brings the clients along

            _from_environment = default_providers()
        return _from_environment
