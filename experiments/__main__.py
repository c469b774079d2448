"""``python -m experiments``: the same as the command ``experiments``."""

from experiments.cli import main

if __name__ == "__main__":
    main()
