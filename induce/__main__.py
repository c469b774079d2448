"""``python -m induce``: the same command line as ``induce``."""

import sys

from induce.cli import main

if __name__ == "__main__":
    sys.exit(main())
