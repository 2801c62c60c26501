"""Which compilers and interpreters of other languages can be used on this machine."""

import functools
import shutil
import subprocess


@functools.cache
def works(tool: str) -> bool:
    """Whether ``tool`` is on the PATH and runs: a manager's stand-in may have nothing behind it."""
    if shutil.which(tool) is None:
        return False
    return subprocess.run([tool, "--version"], capture_output=True).returncode == 0
