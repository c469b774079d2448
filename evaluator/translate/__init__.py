"""Checks of other benchmarks, translated into this language and graded with it."""
