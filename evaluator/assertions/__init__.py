"""Assertions over agent traces: the expect DSL of the attest framework as operators of the check language.

`judgement.py` says what an assertion answers, `view.py` how a trace is read, `method.py` how a method is declared and
run; every other module is one family of methods, listed in its `METHODS`.
"""
