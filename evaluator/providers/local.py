"""Embeddings from a model on this machine: offline, on the processor, tens of microseconds a sentence.

The model is WordLlama's l2_supercat: 32,000 token vectors of 256 numbers. Its weights come inside the package
wordllama, whose code is not imported, since that sets up the program's logging and may download. The vector
of a text is the mean of its tokens' vectors. It tells what a text is about but knows neither the order of
words nor negation: "was issued" and "was not issued" are close to each other. Ask a judge for those.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evaluator.providers.errors import ProviderError

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TOKENS_AT_ONCE = 65_536


class LocalEmbeddings:
    """The bundled model: `LocalEmbeddings()(text)` is a list of 256 numbers, the same on every run.

    The weights are read when the first one of a process is built. A text without tokens is the zero vector,
    to which nothing is similar. Raises `ModuleNotFoundError` when the extra `embeddings` is not installed.
    """

    name = "l2_supercat_256"

    def __init__(self) -> None:
        self._tokenizer, self._vectors = _model()

    def __repr__(self) -> str:
        return "LocalEmbeddings()"

    def __call__(self, text: str, /, *, model: str | None = None) -> list[float]:
        """The vector of a text. Raises `ProviderError` when a `model` other than this one is named."""
        if model is not None and model != self.name:
            raise ProviderError(f'the local embeddings are "{self.name}", not "{model:.80}"')
        readable = text.encode("utf-8", "replace").decode("utf-8")  # without lone surrogates
        tokens = self._tokenizer.encode(readable, add_special_tokens=False).ids
        chunks = [tokens[start : start + _TOKENS_AT_ONCE] for start in range(0, len(tokens), _TOKENS_AT_ONCE)]
        total = sum(self._vectors[chunk].sum(axis=0, dtype="float64") for chunk in chunks or [[]])
        vector: list[float] = (total / max(1, len(tokens))).tolist()
        return vector


@cache
def _model() -> tuple[Any, Any]:
    """The tokenizer and the array of token vectors, shape (32000, 256), float16."""
    found = {name: find_spec(name) for name in ("wordllama", "safetensors", "tokenizers")}
    missing = [name for name, spec in found.items() if spec is None]
    package = found["wordllama"]
    if missing or package is None or package.origin is None:
        raise ModuleNotFoundError(
            "local embeddings need the packages wordllama, safetensors and tokenizers: "
            "pip install 'check-induction[embeddings]'",
            name=missing[0] if missing else "wordllama",
        )
    from safetensors import safe_open
    from tokenizers import Tokenizer

    folder = Path(package.origin).parent
    for part in (_WEIGHTS, _TOKENIZER):
        if not (folder / part).is_file():
            raise ModuleNotFoundError(
                f"this release of wordllama does not bring {part}: pip install 'check-induction[embeddings]'",
                name="wordllama",
            )
    with safe_open(folder / _WEIGHTS, framework="np") as weights:
        vectors = weights.get_tensor("embedding.weight")
    return Tokenizer.from_file(str(folder / _TOKENIZER)), vectors
