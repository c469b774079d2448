"""The version of the library, as recorded in what it learns."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("check-induction")
except PackageNotFoundError:
    __version__ = "0+unknown"
