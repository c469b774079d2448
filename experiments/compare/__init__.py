"""Comparisons of finished runs: who is compared, whether they differ beyond chance, and how that is told.

Everything is read from the files that runs have left (:mod:`experiments.report`); nothing is learnt again.
"""
