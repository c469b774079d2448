"""How sure a share of scenes is."""

from __future__ import annotations

from statistics import NormalDist


def wilson(right: int, total: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share (Wilson 1927); ``total`` is at least 1."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, weight = right / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * (share * (1 - share) / total + weight / (4 * total)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)
