"""Training runs behind submissions: algorithm, seed, learning curve and compute.

Read from the files that a training run leaves beside its evaluations: ``recipe.json`` and
``metrics.jsonl``. Runs of one recipe that differ only in their seed share a page and a band.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.leaderboard.text import slug

__all__ = ["Method", "TrainingCurve", "methods_of", "training_folder"]

_MAX_BYTES = 64 << 20
_SHOWN = ("success", "reward", "entropy", "kl", "loss/policy", "grad_norm")
_MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class TrainingCurve:
    """One training run."""

    folder: Path
    seed: Any
    recipe: Mapping[str, Any]
    rows: tuple[Mapping[str, float], ...]
    """By step; at most 400 of them."""

    def values(self, metric: str) -> list[tuple[float, float]]:
        """Return (step, value) where the metric was measured."""
        return [(row["step"], row[metric]) for row in self.rows if metric in row]

    @property
    def seconds(self) -> float:
        """Total time of collecting and learning, as far as it was measured."""
        return math.fsum(v for row in self.rows for n, v in row.items() if n.startswith("seconds/"))


@dataclass(frozen=True, slots=True)
class Method:
    """Training runs of one recipe."""

    name: str
    anchor: str
    recipe: Mapping[str, Any]
    runs: tuple[TrainingCurve, ...]

    @property
    def algorithm(self) -> str:
        """Names of the parts that make the algorithm, as the recipe gives them."""
        parts = self.recipe.get("algorithm")
        if isinstance(parts, Mapping):
            return ", ".join(f"{name} {value}" for name, value in sorted(parts.items()) if value)
        return str(parts or "")

    @property
    def metrics(self) -> list[str]:
        """Metrics that every run has, those of evaluations first."""
        names = [{name for row in run.rows for name in row} for run in self.runs]
        shared = set.intersection(*names) if names else set()
        evaluated = sorted(name for name in shared if name == "dev/success")
        return evaluated + [name for name in _SHOWN if name in shared]

    def band(self, metric: str) -> list[tuple[float, float, float, float]]:
        """Return (step, mean, least, greatest) over the runs, where all have the step."""
        by_step: dict[float, list[float]] = {}
        for run in self.runs:
            for step, value in run.values(metric):
                by_step.setdefault(step, []).append(value)
        whole = {step: values for step, values in by_step.items() if len(values) == len(self.runs)}
        return [(s, math.fsum(v) / len(v), min(v), max(v)) for s, v in sorted(whole.items())]


def training_folder(run: Path) -> Path | None:
    """Return the training run beside which a run was evaluated, or None."""
    parent = run.resolve().parent
    known = (parent / "recipe.json").is_file() and (parent / "metrics.jsonl").is_file()
    return parent if known else None


def methods_of(folders: Sequence[Path]) -> list[Method]:
    """Return the methods of training runs; folders that cannot be read are left out."""
    groups: dict[str, list[TrainingCurve]] = {}
    for folder in dict.fromkeys(folders):
        curve = _curve(folder)
        if curve is not None:
            key = {name: value for name, value in curve.recipe.items() if name != "seed"}
            groups.setdefault(content_hash(key), []).append(curve)
    return [
        Method(
            name=str(runs[0].recipe.get("name") or "unnamed"),
            anchor=f"{slug(str(runs[0].recipe.get('name') or 'unnamed'))}-{digest[:6]}",
            recipe=runs[0].recipe,
            runs=tuple(sorted(runs, key=lambda run: str(run.seed))),
        )
        for digest, runs in groups.items()
    ]


def _curve(folder: Path) -> TrainingCurve | None:
    try:
        recipe = json.loads(_text(folder / "recipe.json"))
        rows = list(_rows(_text(folder / "metrics.jsonl")))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(recipe, dict) or not rows:
        return None
    kept = rows[:: max(1, math.ceil(len(rows) / _MOST_POINTS))]
    return TrainingCurve(folder, recipe.get("seed"), recipe, tuple(kept))


def _text(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is not a file of a training run")
    return path.read_text("utf-8")


def _rows(text: str) -> Iterator[dict[str, float]]:
    for line in text.splitlines():
        row = json.loads(line)
        numbers = {
            str(name): float(value)
            for name, value in row.items()
            if type(value) in (int, float) and math.isfinite(value)
        }
        if "step" in numbers:
            yield numbers
