"""The paper: every table of what the learner does, from runs, beside other learners, in one folder.

A paper is a list of sweeps under the names of its sections (``paper.sections`` of the configuration; the
preset ``paper`` has one). They are run one after another, each as a command line of ``experiments``, so that
one that was interrupted goes on where it stopped; then their runs are read back and told as Markdown, JSON
and SVG. What a clock measured is kept apart (``times.*``): all other files come out the same, byte for byte.
"""
