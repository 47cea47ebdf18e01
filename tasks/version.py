"""The version of the installed distribution, for records and the command."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["VERSION"]

try:
    VERSION = version("hexathlon")
except PackageNotFoundError:  # the sources are on the path, but nothing was installed
    VERSION = "0+unknown"
