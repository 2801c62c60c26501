"""The version of the suite, which is that of its distribution."""

__version__ = "0.1.0"
SUITE_VERSION = __version__
