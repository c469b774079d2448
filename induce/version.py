"""The version of the library, as recorded in what it learns."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("check-induction")
except PackageNotFoundError:
    VERSION = "0+unknown"
