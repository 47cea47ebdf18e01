"""Samplers that predict the difficulty of a task from that of other tasks.

They suit unbounded splits, in which a task hardly ever recurs.
"""

import zlib
from collections.abc import Sequence
from itertools import islice

import numpy as np

from hexathlon.baselines.algorithms.samples import Array
from hexathlon.baselines.pipeline.samplers import SAMPLERS, check_count
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics

__all__ = ["embedded", "environments", "predicted_success", "reference"]

_WIDTH = 256


def embedded(texts: Sequence[str]) -> Array:
    """Return unit vectors of texts, `[texts, 256]`: hashed counts of words and pairs of words."""
    vectors = np.zeros((len(texts), _WIDTH))
    for row, text in zip(vectors, texts, strict=True):
        words = "".join(each if each.isalpha() else " " for each in text.lower()).split()
        for word in [*words, *map(" ".join, zip(words, words[1:], strict=False))]:
            row[zlib.crc32(word.encode()) % _WIDTH] += 1.0
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return vectors


def predicted_success(
    tasks: Sequence[str], known: TaskStatistics, references: int, sharpness: float
) -> Array:
    """Return each task's success as the attention-weighted mean over tried tasks, `[tasks]`.

    Weights are softmax(`sharpness` * cosine) over the `references` most recently tried tasks;
    without any, the prior's success is returned.
    """
    tried = list(islice(reversed(known.counts), references))
    if not tried:
        return known.success(tasks)
    texts = [known.text(task) for task in (*tasks, *tried)]
    vectors = embedded(texts)
    likeness = sharpness * vectors[: len(tasks)] @ vectors[len(tasks) :].T
    weights = np.exp(likeness - likeness.max(axis=1, keepdims=True))
    predicted: Array = weights @ known.success(tried) / weights.sum(axis=1)
    return predicted


@SAMPLERS.register("reference")
def reference(
    tasks: Sequence[str],
    known: TaskStatistics,
    count: int,
    draw: np.random.Generator,
    *,
    target: float = 0.5,
    temperature: float = 0.1,
    references: int = 256,
    sharpness: float = 10.0,
) -> list[int]:
    """By difficulty predicted from similar tasks (difficulty-targeted selection).

    Tasks are drawn without replacement by exp(-|d - target| / temperature), d the success of tried
    tasks weighted by attention. Combine with the replay `recent`. Chosen here: the reference set
    are the most recently tried tasks, whose rollouts cost nothing more, and the embeddings are
    hashed words of the instruction instead of a trained encoder's.

    Raises:
        ValueError: If a parameter is not positive, or there are fewer tasks than `count`.
    """
    if min(temperature, references, sharpness) <= 0:
        raise ValueError(
            f"expected positive values, got temperature={temperature}, references={references} and "
            f"sharpness={sharpness}"
        )
    check_count(tasks, count)
    success = predicted_success(tasks, known, references, sharpness)
    scores = -np.abs(success - target) / temperature + draw.gumbel(size=len(tasks))
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]


@SAMPLERS.register("environments")
def environments(
    tasks: Sequence[str],
    known: TaskStatistics,
    count: int,
    draw: np.random.Generator,
    *,
    active: int = 4,
    target: float = 0.5,
) -> list[int]:
    """Tasks of the environments at the frontier, each at its own level (after SCALER).

    An environment is a source and template; its tasks are those of the level whose tried tasks
    have a mean success closest to `target` (an untried level counts as at the target), so each
    environment gets harder as it is solved. The `active` environments closest to the target are
    played, solved and hopeless ones rotate out; when they have too few candidates, the next ones
    follow. Chosen here: success is that of `TaskStatistics`, whose discount lets it follow the
    policy. Ties are drawn.

    Raises:
        ValueError: If `active` is below 1, or there are fewer tasks than `count`.
    """
    if active < 1:
        raise ValueError(f"expected at least 1, got active={active}")
    check_count(tasks, count)
    tried = list(known.counts)
    sums: dict[tuple[str, str], list[float]] = {}
    for task, success in zip(tried, known.success(tried), strict=True):
        sums.setdefault(_kind(task), []).append(float(success))
    gap = {kind: abs(float(np.mean(each)) - target) for kind, each in sums.items()}
    kinds = sorted({_kind(task) for task in tasks})
    tie = dict(zip(kinds, draw.random(len(kinds)), strict=True))
    ranked = sorted(kinds, key=lambda kind: (gap.get(kind, 0.0), tie[kind]))
    best = {kind[0]: kind for kind in reversed(ranked)}  # the level of each environment
    frontier = [kind for kind in ranked if best[kind[0]] == kind]
    later = [kind for kind in ranked if best[kind[0]] != kind]
    rank = {kind: max(number - active + 1, 0) for number, kind in enumerate([*frontier, *later])}
    noise = draw.random(len(tasks))
    order = sorted(range(len(tasks)), key=lambda place: (rank[_kind(tasks[place])], noise[place]))
    return order[:count]


def _kind(task: str) -> tuple[str, str]:
    """Return a task's environment and level; ids of another form are their own environment."""
    parts = task.split("/")
    return ("/".join(parts[:2]), parts[2]) if len(parts) == 5 else (task, "")
