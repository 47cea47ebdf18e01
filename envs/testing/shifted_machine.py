"""Gives a fresh Python process another host name, another login and another number of CPUs.

Its source is run by the second process of the kit's machine check, so it imports only the standard
library. Only the results of Python's own functions change, not the files of the system.
"""

import os
import platform
import pwd
import socket
from typing import Any

__all__ = ["shift_machine"]


def shift_machine(name: str) -> None:
    """Make the functions that describe the machine describe one with this name."""
    real = os.uname()
    uname = os.uname_result((real.sysname, name, real.release, real.version, real.machine))
    count = os.cpu_count() or 1
    cpus = count - 1 if count > 1 else 2
    os.uname = lambda: uname
    platform.node = lambda: name
    socket.gethostname = lambda: name
    socket.getfqdn = lambda name=name: name
    os.getlogin = lambda: name
    os.getloadavg = lambda: (7.5, 7.5, 7.5)
    os.cpu_count = lambda: cpus
    if hasattr(os, "process_cpu_count"):  # since Python 3.13
        os.process_cpu_count = os.cpu_count
    if hasattr(os, "sched_getaffinity"):
        os.sched_getaffinity = lambda pid: set(range(cpus))
    os.sysconf = _of_cpus(os.sysconf, cpus)
    pwd.getpwuid = _of_user(pwd.getpwuid, name)


def _of_cpus(real: Any, cpus: int) -> Any:
    def sysconf(name: Any) -> int:
        return cpus if name in ("SC_NPROCESSORS_ONLN", "SC_NPROCESSORS_CONF") else int(real(name))

    return sysconf


def _of_user(real: Any, name: str) -> Any:
    def getpwuid(number: int) -> pwd.struct_passwd:
        entry = list(real(number))
        return pwd.struct_passwd([name, *entry[1:4], name, f"/home/{name}", entry[6]])

    return getpwuid
