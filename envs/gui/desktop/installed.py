"""Whether the desktop's programs are installed on this machine."""

import glob
import shutil

from hexathlon.envs.errors import BackendMissing
from hexathlon.tasks.gui.desktop.programs import FILES, PROGRAMS, SERVICES

__all__ = ["missing_packages", "require_programs"]

_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
"""Where Debian puts programs; the sandbox shows these directories."""


def missing_packages() -> list[str]:
    """Return the Debian packages to install before a desktop can start."""
    wanted = [*SERVICES.items(), *((each.command[0], each.package) for each in PROGRAMS.values())]
    missing = {package for command, package in wanted if shutil.which(command, path=_PATH) is None}
    missing |= {package for pattern, package in FILES.items() if not glob.glob(pattern)}
    return sorted(missing)


def require_programs() -> None:
    """Check that all programs are installed.

    Raises:
        BackendMissing: If some are not; the message says how to install them.
    """
    missing = missing_packages()
    if missing:
        raise BackendMissing(
            "the desktop needs programs that are not installed: "
            f"apt-get install --no-install-recommends {' '.join(missing)}"
        )
