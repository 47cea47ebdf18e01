"""`train --watch RUN`: a live table of a training run, read from its files in another process."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon_cli.train.appended import AppendedLines

__all__ = ["watch"]

_EVERY_S = 1.0
_ROWS = 15
_COLUMNS = (
    ("step", "step", "{:.0f}"),
    ("reward", "reward", "{:.3f}"),
    ("success", "success", "{:.3f}"),
    ("dev", "dev/success", "{:.3f}"),
    ("loss", "loss/policy", "{:.4f}"),
    ("KL", "kl", "{:.4f}"),
    ("entropy", "entropy", "{:.3f}"),
    ("play s", "seconds/collect", "{:.1f}"),
    ("learn s", "seconds/learn", "{:.1f}"),
)
"""Heading, metric and format of each column."""


class _State(NamedTuple):
    """A snapshot of a run, read from its files."""

    name: str
    steps: int
    running: bool
    rows: list[Mapping[str, Any]]
    evaluated: dict[str, tuple[int, float]]
    """Trials recorded and their mean reward, of the evaluations `before` and `after`."""


def watch(run: Path) -> None:
    """Show a run's metrics until its training process ends, or until Ctrl-C.

    Raises:
        UsageError: If the folder contains no training run.
    """
    with suppress(KeyboardInterrupt):  # the usual way to leave
        (_draw if sys.stdout.isatty() else _write)(run)


def _write(run: Path) -> None:
    """Write a line per step, for a log file."""
    written = -1
    for state in _states(run):
        for row in state.rows:
            if row["step"] > written:
                written = row["step"]
                sys.stdout.write(_line(row, state.steps) + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"{_phase(state)}\n")


def _draw(run: Path) -> None:
    from rich.live import Live

    with Live(auto_refresh=False) as live:
        for state in _states(run):
            live.update(_table(state), refresh=True)


def _states(run: Path) -> Iterator[_State]:
    """Yield the state about once a second, the last one after the run has ended."""
    from hexathlon.baselines import interrupts

    reader = _RunReader(run)
    while True:
        state = reader.read()
        yield state
        if not state.running:
            return
        interrupts.check()
        time.sleep(_EVERY_S)


class _RunReader:
    """Reads a run's files; of metrics and records, only lines appended since the last call."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._metrics = AppendedLines(run / "metrics.jsonl")
        self._rows: list[Mapping[str, Any]] = []
        self._evaluations = {moment: _Rewards(run / moment) for moment in ("before", "after")}

    def read(self) -> _State:
        """Return the current state.

        Raises:
            UsageError: If the folder contains no training run.
        """
        from hexathlon.baselines.training.folder import is_training

        running = is_training(self._run)  # before the files, so that the last state is complete
        name, steps = _recipe(self._run)
        rows, continued = self._metrics.read()
        self._rows = [*(self._rows if continued else ()), *rows]
        evaluated = {moment: rewards.read() for moment, rewards in self._evaluations.items()}
        started = {moment: result for moment, result in evaluated.items() if result[0]}
        return _State(name, steps, running, self._rows, started)


class _Rewards:
    """The rewards recorded so far in the run directories below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Path, AppendedLines] = {}
        self._rewards: dict[Path, list[float]] = {}

    def read(self) -> tuple[int, float]:
        """Return the number of records and their mean reward."""
        from hexathlon.evaluators.records import RECORDS_FILE

        paths = set(self._folder.rglob(RECORDS_FILE)) if self._folder.is_dir() else set()
        for path in self._rewards.keys() - paths:
            del self._files[path], self._rewards[path]
        for path in paths:
            records, continued = self._files.setdefault(path, AppendedLines(path)).read()
            rewards = self._rewards.setdefault(path, [])
            if not continued:
                rewards.clear()
            rewards += [float(record.get("reward") or 0.0) for record in records]
        rewards = [reward for each in self._rewards.values() for reward in each]
        return len(rewards), sum(rewards) / max(1, len(rewards))


def _recipe(run: Path) -> tuple[str, int]:
    """Return the name and the number of steps of a run's recipe."""
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.training.folder import RECIPE_FILE

    try:
        recipe = json.loads((run / RECIPE_FILE).read_text())
        return str(recipe["name"]), int(recipe["steps"])
    except (OSError, ValueError, LookupError, TypeError):
        raise UsageError(
            f"{run} has no training run: expected the directory that `hexathlon train --out` names"
        ) from None


def _phase(state: _State) -> str:
    """Return the run's progress as one line."""
    done = int(state.rows[-1]["step"]) if state.rows else 0
    parts = [f"{state.name}: step {done} of {state.steps}"]
    parts += [
        f"{moment} {mean:.3f} on {count} tasks" for moment, (count, mean) in state.evaluated.items()
    ]
    if not state.running:
        ended = done >= state.steps and "after" in state.evaluated
        parts.append("ended" if ended else "not running; the same command continues it")
    return ", ".join(parts)


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [form.format(row[name]) if name in row else "" for _, name, form in _COLUMNS]


def _line(row: Mapping[str, Any], steps: int) -> str:
    named = zip(_COLUMNS, _cells(row), strict=True)
    return "  ".join(
        f"{cell}/{steps}" if heading == "step" else f"{heading} {cell}"
        for (heading, _, _), cell in named
        if cell
    )


def _table(state: _State) -> Any:
    from rich.table import Table

    table = Table(title=_phase(state), title_justify="left", box=None, pad_edge=False)
    for heading, _, _ in _COLUMNS:
        table.add_column(heading, justify="right")
    for row in state.rows[-_ROWS:]:
        table.add_row(*_cells(row))
    return table
