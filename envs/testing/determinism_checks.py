"""Checks of determinism: seeds, instances, order, the global random state."""

import os
import random  # noqa: TID251 - its state is compared here, nothing is drawn for an episode
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hexathlon.envs.testing.fuzzing import random_calls
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.settings import process_settings
from hexathlon.envs.testing.subject import Subject, text_of
from hexathlon.envs.testing.tracing import canonical, first_difference, probe_actions, trace

__all__ = ["CHECKS"]

_MANY = 20


def two_instances(subject: Subject) -> None:
    """Play the same 50 actions in two instances."""
    for task in subject.tasks[:2]:
        actions = probe_actions(subject, task)
        _require_same(*(_alone(subject, task, actions) for _ in range(2)))


def interleaved(subject: Subject) -> None:
    """Step two instances alternately and compare each with the same episode alone."""
    tasks = (subject.tasks[0], subject.tasks[-1])
    plans = [probe_actions(subject, task) for task in tasks]
    alone = [_alone(subject, *pair) for pair in zip(tasks, plans, strict=True)]
    envs = [subject.make() for _ in tasks]
    try:
        seen = [
            [canonical(env.reset(seed=0, options={"task": task.id}))]
            for env, task in zip(envs, tasks, strict=True)
        ]
        running = [True, True]
        for turn in range(max(map(len, plans))):
            for i, env in enumerate(envs):
                if running[i] and turn < len(plans[i]):
                    result = env.step(subject.act(env, plans[i][turn]))
                    seen[i].append(canonical(result))
                    running[i] = not (result[2] or result[3])
    finally:
        for env in envs:
            env.close()
    for one, other in zip(alone, seen, strict=True):
        _require_same(one, other)


def seed_honoured(subject: Subject) -> None:
    """Reset by seed alone: equal seeds give equal openings, different seeds different ones."""
    env, other = subject.make(), subject.make()
    try:
        starts: set[tuple[str, str]] = set()
        for seed in range(12):
            first = canonical(env.reset(seed=seed))
            if first != canonical(other.reset(seed=seed)) or first != canonical(
                env.reset(seed=seed)
            ):
                raise CheckFailed(f"two resets with seed {seed} began differently")
            observation, info = env.reset(seed=seed)
            if info.get("seed") != seed:
                raise CheckFailed(f"reset(seed={seed}) reports the seed {info.get('seed')!r}")
            starts.add((info["task_id"], canonical(observation)))
        if len(starts) < 2 and len(subject.tasks) > 1:
            raise CheckFailed("twelve seeds gave the same opening")
    finally:
        env.close()
        other.close()


def global_state(subject: Subject) -> None:
    """Compare the process's global state before and after an episode."""
    subject.make().close()  # imports may set global state on first use
    with _drawn_on():
        before = _global_state()
        env = subject.make()
        for task in subject.tasks[:2]:
            subject.play(env, task, subject.source.oracle(task))
            subject.play(env, task, random_calls(task, subject.seed))
        env.close()
        before |= subject.settings
        after = {**_global_state(), **process_settings()}
    for name, value in before.items():
        if after[name] != value:
            raise CheckFailed(f"an episode changed {name}")


@contextmanager
def _drawn_on() -> Iterator[None]:
    """Set the global generators to a state that no seed gives; restore them at the end."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.random()
    np.random.random()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def _global_state() -> dict[str, str]:
    return {
        "the state of random": repr(random.getstate()),
        "the state of numpy.random": repr(np.random.get_state()),  # noqa: NPY002
        "os.environ": repr(sorted(os.environ.items())),
        "the working directory": os.getcwd(),
        "sys.path": repr(sys.path),
    }


def order_independence(subject: Subject) -> None:
    """Play tasks in several orders on one instance and compare each with a fresh instance."""
    tasks = subject.tasks[:6]
    plans = {task.id: probe_actions(subject, task, 20) for task in tasks}
    alone = {task.id: _alone(subject, task, plans[task.id]) for task in tasks}
    env = subject.make()
    try:
        for order in (tasks, tasks[::-1], tasks[1::2] + tasks[::2]):
            for task in order:
                seen = trace(subject.play_actions(env, task, plans[task.id]))
                difference = first_difference(alone[task.id], seen)
                if difference:
                    raise CheckFailed(f"{task.id} depends on earlier episodes: {difference}")
        _require_unchanged(env)
    finally:
        env.close()
    _require_same_openings(subject)


def _require_unchanged(env: Any) -> None:
    task = getattr(env, "task", None)
    if task is not None and task.model_copy().hash != task.hash:
        raise CheckFailed(f"an episode changed the record of its own task, {task.id}")


def _require_same_openings(subject: Subject) -> None:
    """Compare an instance's opening after many episodes with that of a fresh instance."""
    for solved in subject.solved[-_MANY::4]:
        env = subject.make()
        try:
            opening = subject.play_actions(env, solved.task, ()).opening
        finally:
            env.close()
        difference = first_difference([solved.opening], [text_of(opening)])
        if difference:
            raise CheckFailed(f"{solved.task.id} depends on the many episodes before: {difference}")


def _alone(subject: Subject, task: Any, actions: list[str]) -> list[str]:
    env = subject.make()
    try:
        return trace(subject.play_actions(env, task, actions))
    finally:
        env.close()


def _require_same(one: list[str], other: list[str]) -> None:
    difference = first_difference(one, other)
    if difference:
        raise CheckFailed(difference)


CHECKS = (
    ConformanceCheck(
        "seed_honoured",
        "pass the seed on: call super().reset(seed=seed) and draw from self.np_random only",
        seed_honoured,
    ),
    ConformanceCheck(
        "two_instances", "draw from self.np_random only, and keep clocks out", two_instances
    ),
    ConformanceCheck(
        "interleaved",
        "keep the episode's state on the instance, not on class or module",
        interleaved,
    ),
    ConformanceCheck(
        "global_state",
        "use self.np_random in place of random and numpy.random; leave os.environ, cwd, locale and "
        "other settings of the process alone",
        global_state,
    ),
    ConformanceCheck(
        "order_independence",
        "rebuild the world in on_reset; share nothing mutable",
        order_independence,
    ),
)
