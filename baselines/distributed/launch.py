"""The launch of rank processes: rank 0 is the caller, the others are started by it.

All run the same function on their own share of the work. How they exchange it is left to
`hexathlon.baselines.distributed.collectives`.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from hexathlon.baselines import interrupts
from hexathlon.baselines.learner.ranks import ALONE, Ranks

__all__ = ["LOST", "RankFailed", "join", "leave", "other_ranks", "peer_is_gone"]

DEADLINE_S = 1_800.0
"""Longest that ranks wait for each other, such as for an evaluation by rank 0."""

START_S = 180.0
"""Longest that a rank may take to start."""

END_S = 30.0
"""Longest that a rank may take to end once rank 0 is done."""

_PROCESS = "hexathlon.baselines.distributed.rank_process"
"""The module that each further rank runs."""

LOST = 3
"""Exit status of a rank that ended because another one was gone."""


class RankFailed(Exception):
    """Another rank's process ended with an error."""


class _RankGone(RuntimeError):
    """Another rank is not there any more, or never was."""


@contextmanager
def other_ranks(entry: str, folder: Path, count: int) -> Iterator[Ranks]:
    """Work together with `count - 1` further processes for the length of a block.

    Args:
        entry: `module:function` that the other processes call with `folder` and their `Ranks`.
        folder: The run's folder; takes each rank's output in `rank-N.log`.
        count: Ranks in all; 1 starts nothing.

    Raises:
        RankFailed: If one of the others ends with an error.
    """
    if count == 1:
        yield ALONE
        return
    with tempfile.TemporaryDirectory(prefix="hexathlon-ranks-") as meeting:
        store = Path(meeting) / "store"
        logs = [folder / f"rank-{number}.log" for number in range(1, count)]
        others = [_started(entry, folder, store, n + 1, count, log) for n, log in enumerate(logs)]
        try:
            _await_ready(Path(meeting), others)
            ranks = join(store, 0, count)
            try:
                yield ranks
            finally:
                leave()
            if any(process.wait(END_S) for process in others):
                raise _RankGone("a rank ended with an error after the run was over")
        except Exception as error:
            if peer_is_gone(error):
                _explain(others, logs, error)
            raise
        finally:
            for process in others:
                process.kill()
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()


def _await_ready(folder: Path, others: "list[subprocess.Popen[bytes]]") -> None:
    """Wait until every other rank is about to join.

    Raises:
        _RankGone: One has ended instead, or is not there in time.
    """
    until = time.monotonic() + START_S
    while not all((folder / f"ready-{n + 1}").exists() for n in range(len(others))):
        if any(process.poll() is not None for process in others):
            raise _RankGone("a rank ended before it joined")
        if time.monotonic() > until:
            raise _RankGone(f"the other ranks have not started within {START_S:.0f} s")
        interrupts.check()
        time.sleep(0.02)


def _started(
    entry: str, folder: Path, store: Path, number: int, count: int, log: Path
) -> "subprocess.Popen[bytes]":
    arguments = [entry, str(folder), str(store), str(number), str(count)]
    command = [sys.executable, "-m", _PROCESS, *arguments]
    with log.open("wb") as file:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT
        )


def peer_is_gone(error: Exception) -> bool:
    """Whether an error says that another rank is gone, rather than what went wrong here."""
    if isinstance(error, (_RankGone, subprocess.TimeoutExpired)):
        return True
    # Gloo has no type of its own for a closed connection; its messages name its source files.
    return isinstance(error, RuntimeError) and "gloo/" in str(error)


def _explain(others: "list[subprocess.Popen[bytes]]", logs: list[Path], error: Exception) -> None:
    """Raise what the rank said that failed first: one that did not end for want of another."""
    codes: list[int | None] = []
    for process in others:
        try:
            codes.append(process.wait(5.0))
        except subprocess.TimeoutExpired:
            codes.append(None)
    failed = [number for number, code in enumerate(codes) if code]
    failed.sort(key=lambda number: codes[number] == LOST)
    for number in failed[:1]:
        said = logs[number].read_text(errors="replace").strip().splitlines() or ["nothing"]
        raise RankFailed(
            f"rank {number + 1} ended with code {codes[number]} and said {said[-1]!r} (all of it "
            f"is in {logs[number]}); mend that and run the recipe again, it goes on from its last "
            "state"
        ) from error


def join(store: Path, number: int, count: int) -> Ranks:
    """Join the process group of a run as one of its ranks."""
    import torch.distributed as dist

    from hexathlon.baselines.distributed.collectives import DistributedRanks

    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group(
        "gloo",
        store=dist.FileStore(str(store), count),  # type: ignore[attr-defined]
        rank=number,
        world_size=count,
        timeout=timedelta(seconds=DEADLINE_S),
    )
    return DistributedRanks()


def leave() -> None:
    """Leave the process group."""
    import torch.distributed as dist

    dist.destroy_process_group()
