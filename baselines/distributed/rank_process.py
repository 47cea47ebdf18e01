"""The process of one further rank: `python -m hexathlon.baselines.distributed.rank_process`.

Started by `hexathlon.baselines.distributed.launch`; it runs the function named there.
"""

import os
import signal
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path

from hexathlon.baselines.distributed.launch import LOST, join, leave, peer_is_gone

__all__ = ["main"]


def _end_with_first() -> None:
    """Exit when the pipe from rank 0 breaks, however rank 0 ended."""

    def wait() -> None:
        # Not sys.stdin, whose lock would be held when the interpreter shuts down.
        os.read(0, 1)
        os._exit(LOST)

    threading.Thread(target=wait, name="end with rank 0", daemon=True).start()


def main(entry: str, folder: str, store: str, number: str, count: str) -> int:
    """Run a function as one of the further ranks.

    Args:
        entry: `module:function`; called with the folder and the ranks.
        folder: The run's folder.
        store: The file by which the ranks find each other.
        number: This rank's number, from 1.
        count: Number of ranks.

    Returns:
        The exit status: 0, 1 after an error of this rank, `LOST` after another rank's end.
    """
    _end_with_first()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal signals all ranks; the first decides
    module, _, name = entry.partition(":")
    run = getattr(import_module(module), name)
    (Path(store).parent / f"ready-{number}").touch()
    ranks = join(Path(store), int(number), int(count))
    try:
        run(Path(folder), ranks)
    except Exception as error:
        traceback.print_exc()
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return LOST if peer_is_gone(error) else 1
    leave()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
