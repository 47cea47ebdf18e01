"""Saved states of a run: written atomically, resumed bit for bit."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from hexathlon.baselines.distributed.launch import peer_is_gone
from hexathlon.baselines.learner.parallelism import Replicated
from hexathlon.baselines.learner.ranks import ALONE, Ranks

__all__ = [
    "CorruptState",
    "StateNotSaved",
    "StateStore",
    "latest_state",
    "load_average",
    "load_state",
    "save_state",
]

AVERAGE_FILE = "average.pt"
"""The moving average of the weights, if a run keeps one."""


class StateStore(Protocol):
    """Writes and reads the state of a model and its optimisers: a `Parallelism`, or an endpoint."""

    def save(self, folder: Path, model: Any, optimisers: Any) -> None:
        """Write the state to a folder."""
        ...

    def load(self, folder: Path, model: Any, optimisers: Any) -> None:
        """Read a state."""
        ...


class CorruptState(Exception):
    """A saved state has a missing or damaged file."""


class StateNotSaved(Exception):
    """A state could not be written, for example to a full disk; earlier states are intact."""


def save_state(
    folder: Path,
    step: int,
    model: Any,
    optimisers: Any,
    extra: dict[str, Any],
    critic: Any = None,
    memory: Any = None,
    average: Any = None,
    parallelism: StateStore | None = None,
    ranks: Ranks = ALONE,
) -> None:
    """Write the state after a step and delete all but the last two states; every rank calls this.

    It is written under a temporary name and then renamed, so a crash leaves the previous state
    intact.
    The parallelism writes model and optimisers, rank 0 the rest.

    Raises:
        StateNotSaved: If a file cannot be written.
    """
    part, whole = folder / f"{step:06d}.part", folder / f"{step:06d}"
    if ranks.first:
        shutil.rmtree(part, ignore_errors=True)
        with _writing(part, step):
            part.mkdir(parents=True)
    ranks.wait()
    with _writing(part, step):
        (parallelism or Replicated(ranks)).save(part, model, optimisers)
    ranks.wait()
    if ranks.first:
        with _writing(part, step):
            _save_rest(part, {"step": step, **extra}, critic, memory, average)
        shutil.rmtree(whole, ignore_errors=True)
        part.rename(whole)
        for old in _states(folder)[:-2]:
            shutil.rmtree(old, ignore_errors=True)
    ranks.wait()


@contextmanager
def _writing(part: Path, step: int) -> Iterator[None]:
    """Name the failure to write a state, and delete its files; libraries raise several kinds."""
    try:
        yield
    except Exception as error:
        if peer_is_gone(error):
            raise
        shutil.rmtree(part, ignore_errors=True)
        raise StateNotSaved(
            f"cannot save the state after step {step} in {part.parent} ({_first_line(error)}); "
            "earlier states are intact: free disk space, then run the recipe again to resume"
        ) from error


def _save_rest(part: Path, rest: dict[str, Any], critic: Any, memory: Any, average: Any) -> None:
    """Write what only rank 0 has, and sync all files of the state to disk."""
    import torch

    if critic is not None:
        torch.save(critic.state(), str(part / "critic.pt"))
    if memory is not None:
        torch.save(_tensors(memory.state()), str(part / "memory.pt"))
    if average is not None:
        torch.save(average, str(part / AVERAGE_FILE))
    (part / "state.json").write_text(json.dumps(rest))
    for file in part.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())


def _states(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name.isdigit() and path.is_dir())


def latest_state(folder: Path) -> Path | None:
    """Return the newest state, or None."""
    states = _states(folder)
    return states[-1] if states else None


def load_state(
    path: Path,
    model: Any,
    optimisers: Any,
    critic: Any = None,
    memory: Any = None,
    parallelism: StateStore | None = None,
) -> dict[str, Any]:
    """Read a state into a model, its optimisers, critic and memory, and return its other fields.

    Raises:
        CorruptState: If a file is missing, cannot be read, or belongs to another model.
    """
    import torch

    try:
        rest: dict[str, Any] = json.loads((path / "state.json").read_text())
        (parallelism or Replicated(ALONE)).load(path, model, optimisers)
        if critic is not None:
            critic.load(torch.load(str(path / "critic.pt"), weights_only=True))
        if memory is not None:
            memory.load(_arrays(torch.load(str(path / "memory.pt"), weights_only=True)))
    except Exception as error:
        raise _torn(path, error) from None
    return rest


def load_average(path: Path) -> Any:
    """Return the moving average of the weights of a state; None if it has none.

    Raises:
        CorruptState: If it cannot be read.
    """
    import torch

    if not (path / AVERAGE_FILE).exists():
        return None
    try:
        return torch.load(str(path / AVERAGE_FILE), weights_only=True)
    except Exception as error:
        raise _torn(path, error) from None


def _torn(path: Path, error: Exception) -> CorruptState:
    return CorruptState(
        f"cannot resume from {path} ({_first_line(error)}); delete it to resume from the previous "
        "state"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _tensors(value: Any) -> Any:
    """Replace arrays by tensors, which are loaded without running code."""
    import numpy as np
    import torch

    return _mapped(value, np.ndarray, torch.from_numpy)


def _arrays(value: Any) -> Any:
    import torch

    return _mapped(value, torch.Tensor, lambda tensor: tensor.numpy())


def _mapped(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(item, kind, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(item, kind, change) for item in value)
    return value
