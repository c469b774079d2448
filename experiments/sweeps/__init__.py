"""Runs as parts of sweeps: begun, recorded once, interrupted, found again by their hash, and gone on with.

:mod:`~experiments.sweeps.sweep` is a sweep as a whole and :mod:`~experiments.sweeps.job` one run, of a sweep
or alone; what they know of each other stands in the files of their folders.
"""
