"""Runs a server and stops it once its caller has exited, even if the caller was killed.

Run as `python guard.py GRACE COMMAND...` in its own process group, by path: only the standard
library is imported. The caller holds the other end of standard input. When that closes, the whole
group gets SIGTERM, and after GRACE seconds SIGKILL. The exit status is the server's.
"""

import os
import signal
import subprocess
import sys
import threading
import time

__all__ = ["main"]


def _end_with_caller(grace: float) -> None:
    while os.read(0, 4096):
        continue
    os.killpg(0, signal.SIGTERM)
    time.sleep(grace)
    os.killpg(0, signal.SIGKILL)


def main(grace: str, *command: str) -> int:
    """Run the command to its end; return its exit status, 128 + N after signal N."""
    # The server answers SIGTERM. A handler is not inherited, as ignoring the signal would be.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_with_caller, args=(float(grace),), daemon=True).start()
    status = server.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
