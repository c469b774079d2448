"""The local model: offline from its package, deterministic, and good enough to tell topics apart."""

from __future__ import annotations

import subprocess
import sys
from math import isfinite, sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import LocalEmbeddings, ProviderError, Providers, evaluate_assertion

ROOT = Path(__file__).parents[2]


def similarity(one: str, other: str) -> float:
    embed = LocalEmbeddings()
    left, right = embed(one), embed(other)
    product = sum(x * y for x, y in zip(left, right, strict=True))
    return product / sqrt(sum(x * x for x in left) * sum(y * y for y in right))


def test_it_loads_without_network_torch_or_the_code_of_its_package(tmp_path: Path) -> None:
    script = """
import socket, sys
def refuse(*_, **__): raise AssertionError("the network was asked")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
import logging
from evaluator import LocalEmbeddings
assert "tokenizers" not in sys.modules
vector = LocalEmbeddings()("Berth 7 is yours.")
assert not logging.getLogger().handlers
print(len(vector), sorted({"torch", "transformers", "wordllama", "requests", "httpx"} & set(sys.modules)))
"""
    home = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=home, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("256 []\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "alike", "unlike"),
    [
        (
            "Your refund has been issued.",
            "We have refunded your payment.",
            "The pilot boards at buoy K2.",
        ),
        (
            "High tide is at 11:48 in the harbour.",
            "The tide in the harbor is highest shortly before noon.",
            "Your library card has expired.",
        ),
        (
            "The order was cancelled at the customer's request.",
            "As the customer asked, we cancelled the order.",
            "Photosynthesis turns light into sugar.",
        ),
    ],
)
def test_what_is_about_the_same_is_similar(text: str, alike: str, unlike: str) -> None:
    assert similarity(text, text) == pytest.approx(1)
    assert similarity(text, alike) > 0.6
    assert similarity(text, unlike) < 0.3


def test_negation_is_not_seen() -> None:
    """A known limit, told in the module and the README: should this fail, tell the news there."""
    assert similarity("Your refund was issued.", "Your refund was not issued.") > 0.9


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_has_a_finite_vector(text: str) -> None:
    vector = LocalEmbeddings()(text)
    assert len(vector) == 256
    assert all(map(isfinite, vector))
    assert vector == LocalEmbeddings()(text)


def test_edges() -> None:
    embed = LocalEmbeddings()
    assert embed("") == [0.0] * 256
    assert embed("a \ud800") == embed("a ?")
    assert embed("tide " * 100_000) == pytest.approx(embed("tide " * 1000), abs=1e-3)
    assert embed("a", model="l2_supercat_256") == embed("a")
    with pytest.raises(ProviderError, match='the local embeddings are "l2_supercat_256", not "big"'):
        embed("a", model="big")


def test_it_serves_an_assertion() -> None:
    trace = {"steps": [], "output": {"message": "We have refunded your payment."}}
    providers = Providers(embed=LocalEmbeddings())

    def status_of(reference: str) -> str:
        args = {"reference": reference, "threshold": 0.6}
        return evaluate_assertion(trace, {"method": "output_similar_to", "args": args}, providers).status

    assert status_of("Your refund has been issued.") == "pass"
    assert status_of("The pilot boards at buoy K2.") == "hard_fail"
