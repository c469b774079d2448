"""The expect DSL: demands on one run of an agent, collected, run and enforced, in tests and outside them.

`expectation.py` has `expect` and the chain, `*_methods.py` its methods by family, `policy.py` what is made of
soft failures and of missing evidence, `trials.py` repetition, `world.py` a world for tests. The pytest half
is in `pytest_chains.py` and `pytest_trials.py`, which `evaluator/pytest_plugin.py` brings along.
"""

from evaluator.expecting.assertion import Assertion
from evaluator.expecting.enforcing import (
    ExpectationError,
    NotEvaluatedError,
    NotEvaluatedWarning,
    enforce,
)
from evaluator.expecting.expectation import Expectation, WorldExpectation, expect
from evaluator.expecting.policy import Policy
from evaluator.expecting.result import AgentResult, JudgedAssertion
from evaluator.expecting.session import set_session_providers
from evaluator.expecting.trials import trials
from evaluator.expecting.trials_result import Trial, TrialsResult
from evaluator.expecting.world import World
from evaluator.expecting.world_methods import related

__all__ = [
    "AgentResult",
    "Assertion",
    "Expectation",
    "ExpectationError",
    "JudgedAssertion",
    "NotEvaluatedError",
    "NotEvaluatedWarning",
    "Policy",
    "Trial",
    "TrialsResult",
    "World",
    "WorldExpectation",
    "enforce",
    "expect",
    "related",
    "set_session_providers",
    "trials",
]
