"""Programs that cannot start programs: the launcher of everything that the agent operates.

A system-call filter refuses new processes (`fork`, `vfork`, and `clone` except for threads) to a
program and thus to everything the agent can make it do. No menu entry, desktop file, plug-in or key
binding leads to a shell, whatever the program offers. This module does not depend on which programs
run.
"""

import platform

__all__ = ["LAUNCHER", "launch_line"]

LAUNCHER = """\
import ctypes, os, platform, struct, sys

LOAD, EQUAL, ANY_OF, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE, CLONE_THREAD = 0x7FFF0000, 0x00050001, 0x00010000
NUMBERS = {"x86_64": ((57, 58), 56), "aarch64": ((), 220)}


def instruction(code, yes, no, value):
    return struct.pack("=HBBI", code, yes, no, value)


def program(forks, clone):
    steps = [instruction(LOAD, 0, 0, 0)]
    for number in forks:
        steps += [instruction(EQUAL, 0, 1, number), instruction(RETURN, 0, 0, REFUSE)]
    steps += [
        instruction(EQUAL, 0, 3, clone),
        instruction(LOAD, 0, 0, 16),
        instruction(ANY_OF, 1, 0, CLONE_THREAD),
        instruction(RETURN, 0, 0, REFUSE),
        instruction(RETURN, 0, 0, ALLOW),
    ]
    return b"".join(steps)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


code = program(*NUMBERS[platform.machine()])
filtered = Program(len(code) // 8, code)
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(filtered), 0, 0) < 0:
    sys.exit("the filter on new processes was refused")
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Source of the launcher; the sandbox's own filter already refuses `clone3` and other ABIs."""

_PLACE = "/usr/local/lib/desktop/launch.py"


def launch_line(arguments: str, log: str) -> str:
    """Return the shell line that starts a confined program in the background.

    Args:
        arguments: The program and its arguments, quoted for the shell.
        log: File for its output.

    Raises:
        NotImplementedError: If the filter does not support this machine's architecture.
    """
    if platform.machine() not in ("x86_64", "aarch64"):
        raise NotImplementedError(f"no filter for {platform.machine()}; x86_64 or aarch64 needed")
    return f"/usr/bin/python3 -ISE {_PLACE} {arguments} >>{log} 2>&1 </dev/null &"
