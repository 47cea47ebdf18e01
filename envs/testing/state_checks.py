"""Checks of state: fork and restore, specs and pickles, the vector environment."""

import itertools
import json
import pickle
from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from hexathlon.envs.errors import ForkUnsupported
from hexathlon.envs.forking import fork, restore, snapshot
from hexathlon.envs.testing.fuzzing import random_calls
from hexathlon.envs.testing.report import CheckFailed, CheckSkipped, ConformanceCheck
from hexathlon.envs.testing.solving import Solved
from hexathlon.envs.testing.subject import Subject
from hexathlon.envs.testing.tracing import canonical, first_difference, probe_actions
from hexathlon.envs.vector import VectorEnvironment
from hexathlon.envs.wrappers import ChatHistory, EpisodeRecorder

__all__ = ["CHECKS"]

_MOST_TURNS = 40
_SEARCHED = 200


def fork_contract(subject: Subject) -> None:
    """Fork at several points: same actions, same bytes; the parent is not affected."""
    _require_support(subject)
    for wrapped in (False, True):
        task = subject.tasks[0]
        actions = probe_actions(subject, task, 16)
        whole = _run(_begun(subject, task, wrapped), subject, actions, close=True)
        for point in sorted({0, min(1, len(whole) - 1), len(whole) // 2}):
            env = _begun(subject, task, wrapped)
            _run(env, subject, actions[:point])
            _fork_here(subject, env, actions[point:], whole[point:])


def _fork_here(subject: Subject, env: Any, rest: list[str], expected: list[str]) -> None:
    clones = fork(env, 2)
    try:
        ahead = _run(clones[0], subject, rest)
        _require_same("a fork diverged from its parent", expected, ahead)
        parent = _run(env, subject, rest)
        _require_same("the parent was changed by its fork's actions", expected, parent)
        late = _run(clones[1], subject, rest)
        _require_same("a fork was changed by its parent's or its sibling's actions", expected, late)
    finally:
        for each in (env, *clones):
            each.close()


def fork_every_turn(subject: Subject) -> None:
    """Fork at every turn of the longest oracle episodes, on several templates.

    At each turn one clone takes other actions, another plays the rest, and the parent continues;
    the last two must see the same as an episode without forks.
    """
    _require_support(subject)
    for solved in _longest(subject.solved, 3):
        actions = list(solved.actions)
        stray = list(itertools.islice(random_calls(solved.task, subject.seed), 2))
        whole = _run(_begun(subject, solved.task, False), subject, actions, close=True)
        env = _begun(subject, solved.task, False)
        try:
            for turn in range(min(len(whole), _MOST_TURNS)):
                clones = fork(env, 2)
                try:
                    _run(clones[0], subject, stray)
                    rest = _run(clones[1], subject, actions[turn:])
                    where = f"a fork before step {turn + 1} of {solved.task.id}"
                    _require_same(f"{where} diverged", whole[turn:], rest)
                finally:
                    for clone in clones:
                        clone.close()
                seen = _run(env, subject, actions[turn : turn + 1])
                fault = f"the parent was changed by forks before step {turn + 1}"
                _require_same(fault, whole[turn : turn + 1], seen)
        finally:
            env.close()


def _longest(solved: Sequence[Solved], count: int) -> list[Solved]:
    """Return the longest oracle episodes, of different templates where there are several."""
    ranked = sorted(solved[:_SEARCHED], key=lambda each: -len(each.actions))
    by_template = {each.task.template: each for each in reversed(ranked)}
    return sorted(by_template.values(), key=lambda each: -len(each.actions))[:count]


def restore_contract(subject: Subject) -> None:
    """Restore a snapshot twice, in the same instance and in a fresh one."""
    _require_support(subject)
    for wrapped in (False, True):
        task = subject.tasks[0]
        actions = probe_actions(subject, task, 12)
        whole = _run(_begun(subject, task, wrapped), subject, actions, close=True)
        half = len(whole) // 2
        env = _begun(subject, task, wrapped)
        _run(env, subject, actions[:half])
        state = snapshot(env)
        expected = _run(env, subject, actions[half:])
        fresh = _begun(subject, subject.tasks[-1], wrapped)
        try:
            for target in (env, fresh, env):
                restore(target, state)
                seen = _run(target, subject, actions[half:])
                _require_same("a restored episode diverged", expected, seen)
        finally:
            env.close()
            fresh.close()


def _require_support(subject: Subject) -> None:
    env = subject.make()
    try:
        if getattr(env, "supports_fork", True):
            return
        env.reset(seed=0, options={"task": subject.tasks[0].id})
        try:
            fork(env)
        except ForkUnsupported as refusal:
            if not getattr(env, "fork_obstacle", ""):
                raise CheckFailed("supports_fork is False and fork_obstacle is empty") from refusal
            raise CheckSkipped(str(refusal)) from refusal
        raise CheckFailed("supports_fork is False, but fork() does not refuse")
    finally:
        env.close()


def _begun(subject: Subject, task: Any, wrapped: bool) -> Any:
    env = subject.make()
    if wrapped:
        env = EpisodeRecorder(ChatHistory(TimeLimit(env, 10_000)))
    env.reset(seed=3, options={"task": task.id})
    return env


def _run(env: Any, subject: Subject, actions: list[str], *, close: bool = False) -> list[str]:
    seen = []
    for action in actions:
        result = env.step(subject.act(env, action))
        seen.append(canonical(result))
        if result[2] or result[3]:
            break
    if close:
        env.close()
    return seen


def _require_same(fault: str, expected: list[str], seen: list[str]) -> None:
    difference = first_difference(expected, seen)
    if difference:
        raise CheckFailed(f"{fault}: {difference}")


def spec_round_trip(subject: Subject) -> None:
    """Write the spec as JSON, read it, make the environment, compare its opening."""
    if subject.spec is None:
        raise CheckSkipped("made by a constructor, without a spec")
    original = gymnasium.make(subject.spec, **subject.kwargs)
    try:
        text = original.spec.to_json() if original.spec is not None else ""
        json.loads(text)
        again = gymnasium.make(EnvSpec.from_json(text))
    except Exception as error:
        raise CheckFailed(f"{type(error).__name__}: {error}") from error
    try:
        if canonical(original.reset(seed=5)) != canonical(again.reset(seed=5)):
            raise CheckFailed("the environment made from the JSON begins differently")
    finally:
        original.close()
        again.close()


def pickle_round_trip(subject: Subject) -> None:
    """Pickle the spec and a snapshot, and use the unpickled copies."""
    env = subject.make()
    task = subject.tasks[0]
    try:
        if subject.spec is not None and pickle.loads(pickle.dumps(env.spec)) != env.spec:
            raise CheckFailed("pickling changed the spec")
        if getattr(env, "supports_fork", True):
            actions = probe_actions(subject, task, 8)
            env.reset(seed=3, options={"task": task.id})
            state = pickle.loads(pickle.dumps(snapshot(env)))
            expected = _run(env, subject, actions)
            restore(env, state)
            _require_same("a pickled state differs", expected, _run(env, subject, actions))
    except (CheckFailed, CheckSkipped):
        raise
    except Exception as error:
        raise CheckFailed(f"{type(error).__name__}: {error}") from error
    finally:
        env.close()


def vector_equals_single(subject: Subject) -> None:
    """Step three environments in hexathlon's vector and in Gymnasium's, and compare."""
    if subject.spec is not None and subject.spec.vector_entry_point is None:
        raise CheckFailed("the id has no vector_entry_point")
    task = subject.tasks[0]
    options = {"task": task.id}
    actions = probe_actions(subject, task, 10)
    mode = AutoresetMode.NEXT_STEP
    theirs = SyncVectorEnv([subject.make] * 3, autoreset_mode=mode)
    ours = _our_vector(subject, mode)
    try:
        _compare(ours.reset(seed=1, options=options), theirs.reset(seed=1, options=options))
        for action in actions:
            batch = (subject.act(ours.envs[0], action),) * 3
            if isinstance(batch[0], dict):
                raise CheckSkipped("compared in text form only")
            _compare(ours.step(batch), theirs.step(batch))
    finally:
        ours.close()
        theirs.close()


def _our_vector(subject: Subject, mode: AutoresetMode) -> Any:
    if subject.spec is None:
        return VectorEnvironment([subject.make] * 3, autoreset_mode=mode)
    return gymnasium.make_vec(subject.spec, 3, autoreset_mode=mode, **subject.kwargs)


def _compare(ours: Any, theirs: Any) -> None:
    mine = [canonical(_without_masks(part)) for part in ours]
    other = [canonical(_without_masks(part)) for part in theirs]
    if mine != other:
        parts = ("observations", "rewards", "terminations", "truncations", "infos")
        names = parts if len(mine) == 5 else ("observations", "infos")
        wrong = [name for name, a, b in zip(names, mine, other, strict=True) if a != b]
        raise CheckFailed(f"the vector's {', '.join(wrong)} differ from those of single instances")


def _without_masks(part: Any) -> Any:
    """Convert object arrays, which hold Python values, to a comparable form."""
    if isinstance(part, dict):
        return {key: _without_masks(part[key]) for key in part}
    return part.tolist() if getattr(getattr(part, "dtype", None), "kind", "") == "O" else part


CHECKS = (
    ConformanceCheck(
        "fork_contract",
        "let save() return immutable or copied data and load() copy what it gets",
        fork_contract,
    ),
    ConformanceCheck(
        "fork_every_turn",
        "let save() return everything that later turns depend on, however late in the episode",
        fork_every_turn,
    ),
    ConformanceCheck(
        "restore_contract",
        "let load() replace the whole world, sharing nothing mutable with the payload",
        restore_contract,
    ),
    ConformanceCheck(
        "spec_round_trip",
        "register a string entry point and keyword arguments that are flat JSON values",
        spec_round_trip,
    ),
    ConformanceCheck(
        "pickle_round_trip",
        "let save() return plain data; no handles, no lambdas",
        pickle_round_trip,
    ),
    ConformanceCheck(
        "vector_equals_single",
        "register vector_entry_point with hexathlon.envs.vector.vectorised",
        vector_equals_single,
    ),
)
