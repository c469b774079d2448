"""``python -m experiments.benchmark``: the same as the command ``experiments benchmark``."""

import sys

from experiments.benchmark.cli import main

if __name__ == "__main__":
    sys.exit(main())
