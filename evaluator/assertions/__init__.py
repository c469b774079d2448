"""Assertions over agent traces: the expect DSL of the attest framework as operators of the check language.

`judgement.py` says what an assertion answers, `view.py` how a trace is read, `method.py` how a method is
declared and run. Each family of methods is a module and lists its own in `METHODS`.
"""
