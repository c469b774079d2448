"""Benchmarks: how fast the parts are, measured side by side in one run.

Times are CPU seconds of this process, the best of several rounds in which everything takes its turn: on a
shared machine the clock on the wall measures the neighbours as well. Quote ratios rather than rates.
"""
