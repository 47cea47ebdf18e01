"""Launching rank processes: rank 0 is the caller and starts the others.

All run the same function on their own shares of the work. Exchanges between them are in
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
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.distributed.devices import GLOO, use_device
from hexathlon.baselines.learner.ranks import ALONE, Ranks

__all__ = ["LOST", "RankFailed", "join", "join_by", "leave", "other_ranks", "peer_is_gone"]

DEADLINE_S = 1_800.0
"""Timeout of an exchange between ranks; long, since rank 0 evaluates while the others wait."""

START_S = 180.0
"""Timeout of a rank's start."""

END_S = 120.0
"""Timeout of a rank's end, once rank 0 has finished."""

_PROCESS = "hexathlon.baselines.distributed.rank_process"
"""The module that each further rank runs."""

LOST = 3
"""Exit status of a rank that ended because another rank had ended."""


class RankFailed(Exception):
    """Another rank's process ended with an error."""


class _RankGone(RuntimeError):
    """Another rank ended early or did not start."""


@contextmanager
def other_ranks(entry: str, folder: Path, count: int) -> Iterator[Ranks]:
    """Start `count - 1` further rank processes for the duration of a block.

    Args:
        entry: `module:function` that the other processes call with `folder` and their `Ranks`.
        folder: The run's folder; takes each rank's output in `rank-N.log`.
        count: Total number of ranks; 1 starts nothing.

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
    """Wait until every other rank is ready to join.

    Raises:
        _RankGone: If one exits, or is not ready within `START_S`.
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
    """Return whether an error is a consequence of another rank's exit."""
    if isinstance(error, (_RankGone, subprocess.TimeoutExpired)):
        return True
    # Gloo has no exception type for a closed connection; its messages name its source files.
    return isinstance(error, RuntimeError) and "gloo/" in str(error)


def _explain(others: "list[subprocess.Popen[bytes]]", logs: list[Path], error: Exception) -> None:
    """Raise the root-cause failure, not one caused by a peer's exit."""
    codes: list[int | None] = []
    for process in others:
        try:
            codes.append(process.wait(5.0))
        except subprocess.TimeoutExpired:
            codes.append(None)
    failed = [number for number, code in enumerate(codes) if code]
    failed.sort(key=lambda number: codes[number] == LOST)
    for number in failed[:1]:
        lines = logs[number].read_text(errors="replace").strip().splitlines() or ["nothing"]
        raise RankFailed(
            f"rank {number + 1} ended with code {codes[number]} after {lines[-1]!r} (log: "
            f"{logs[number]}); fix this and run the recipe again to resume from its last state"
        ) from error


def join(store: Path, number: int, count: int) -> Ranks:
    """Join a run's process group.

    Args:
        store: The file by which the ranks find each other.
        number: This rank's number, from 0.
        count: Number of ranks.
    """
    import torch.distributed as dist

    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    shared = dist.FileStore(str(store), count)  # type: ignore[attr-defined]
    return join_by(shared, number, count, use_device(number, count))


def join_by(store: Any, number: int, count: int, backend: str = GLOO) -> Ranks:
    """Join a process group whose ranks rendezvous at one of torch's stores.

    Args:
        store: The store, such as a `TCPStore` that all ranks reach.
        number: This rank's number, from 0.
        count: Number of ranks.
        backend: The group's backend, see `devices`.
    """
    import torch.distributed as dist

    from hexathlon.baselines.distributed.collectives import DistributedRanks

    dist.init_process_group(
        backend,
        store=store,
        rank=number,
        world_size=count,
        timeout=timedelta(seconds=DEADLINE_S),
    )
    return DistributedRanks()


def leave() -> None:
    """Leave the process group."""
    import torch.distributed as dist

    dist.destroy_process_group()
