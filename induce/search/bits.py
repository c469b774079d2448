"""Packed bit-vectors: one bit a scene, 64 scenes a word, little-endian in bytes and bits.

Bit ``i`` of a row sits in word ``i // 64`` at position ``i % 64``; bits past the last scene are
zero. This is the layout of every truth column that the search reads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

WORD = 64


def word_count(scenes: int) -> int:
    """Words that hold ``scenes`` bits."""
    return (scenes + WORD - 1) // WORD


def pack(rows: Bools) -> Words:
    """Pack bool[n, scenes] into uint64[n, ceil(scenes / 64)]."""
    n, scenes = rows.shape
    out = np.zeros((n, word_count(scenes) * 8), dtype=np.uint8)
    if scenes:
        packed = np.packbits(rows, axis=1, bitorder="little")
        out[:, : packed.shape[1]] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, scenes: int) -> Bools:
    """Unpack uint64[n, ceil(scenes / 64)] into bool[n, scenes]."""
    as_bytes = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    if scenes == 0:
        return np.zeros((words.shape[0], 0), dtype=np.bool_)
    bits: Bools = np.unpackbits(as_bytes, axis=1, count=scenes, bitorder="little").view(np.bool_)
    return bits
