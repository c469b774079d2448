"""What a provider can fail with. It leaves an assertion not evaluated, neither passed nor failed."""

from __future__ import annotations


class ProviderError(RuntimeError):
    """A provider gave no answer: refused, failed after its retries, answered nonsense, or may not be asked.

    The text is one sentence that can be shown and stored: no key is ever in it. The assertion that asked is
    not evaluated, with reason `provider`.
    """


class HistoryError(ProviderError):
    """The score history cannot be read or written."""


class BudgetExceededError(RuntimeError):
    """The next call could exceed the budget of the session. It was not made, and none will be.

    It is no `ProviderError`: it leaves the assertion, the chain and the test, so that a run does not go on
    without its judge. `budget` says which limit it was: "calls" or "usd".
    """

    def __init__(self, problem: str, budget: str) -> None:
        super().__init__(problem)
        self.budget = budget

    def __reduce__(self) -> tuple[type[BudgetExceededError], tuple[str, str]]:
        return type(self), (str(self), self.budget)
