"""The process of one further rank: `python -m hexathlon.baselines.training.rank_process`.

Started by `hexathlon.baselines.training.ranks`; it does the same work as rank 0 on its own share.
"""

import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

from hexathlon.baselines.training.ranks import LOST, join, leave, peer_is_gone
from hexathlon.baselines.training.recipe import recipe_of
from hexathlon.baselines.training.run import train_rank

__all__ = ["main"]


def _end_with_first() -> None:
    """End this rank when the pipe from rank 0 breaks, however that one ended."""

    def wait() -> None:
        # Not sys.stdin: its lock would be held when the interpreter shuts down.
        os.read(0, 1)
        os._exit(LOST)

    threading.Thread(target=wait, name="end with rank 0", daemon=True).start()


def main(out: str, store: str, number: str, count: str) -> int:
    """Train as one of the further ranks; return an exit status."""
    _end_with_first()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal signals all ranks; the first decides
    recipe = recipe_of(json.loads((Path(out) / "recipe.json").read_text()))
    (Path(store).parent / f"ready-{number}").touch()
    ranks = join(Path(store), int(number), int(count))
    try:
        train_rank(recipe, Path(out), lambda phase, done, total, metrics: None, ranks)
    except Exception as error:
        traceback.print_exc()
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return LOST if peer_is_gone(error) else 1
    leave()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
