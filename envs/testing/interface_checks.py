"""Checks of the interface: Gymnasium's own, info, observations, options, closing, fuzz."""

import copy
import re
import time
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

from gymnasium.utils.env_checker import check_env

from hexathlon.envs.status import Status
from hexathlon.envs.testing.fuzzing import do_nothing, fuzzed_actions, random_calls
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.subject import RecordedEpisode, Subject
from hexathlon.envs.testing.tracing import canonical, probe_actions

__all__ = ["CHECKS"]

_RESET_KEYS = {
    "task_id": str,
    "task_hash": str,
    "seed": int,
    "system_prompt": str,
    "tools": tuple,
    "status": str,
    "reward_terms": dict,
    "turn": int,
}
_STEP_KEYS = {
    "status": str,
    "reward_terms": dict,
    "turn": int,
    "tool_errors": int,
    "cut_chars": int,
}
_PATH = re.compile(r"(?<![\w/.])/(?:tmp|home|root|usr|var|etc|opt|proc)/\S+|\b[A-Za-z]:\\\S+")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,16}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I)
_A_DAY = 86_400.0


def gymnasium_checker(subject: Subject) -> None:
    """Run Gymnasium's checker with warnings as errors."""
    env = subject.make()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            no_spec = env.spec is None
            check_env(env, skip_render_check=no_spec, skip_close_check=no_spec)
    except Exception as error:
        raise CheckFailed(f"{type(error).__name__}: {error}") from error
    finally:
        env.close()


def close_twice(subject: Subject) -> None:
    """Close before and after an episode, twice each."""
    for started in (False, True):
        env = subject.make()
        if started:
            env.reset(seed=0, options={"task": subject.tasks[0].id})
        try:
            env.close()
            env.close()
        except Exception as error:
            raise CheckFailed(f"closing raised {error!r}") from error


def unknown_option(subject: Subject) -> None:
    """Pass a reset option that cannot exist."""
    env = subject.make()
    try:
        env.reset(seed=0, options={"no_such_option": 1})
    except Exception as error:
        if "no_such_option" not in str(error):
            raise CheckFailed(f"the error does not name the option: {error!r}") from error
    else:
        raise CheckFailed("reset(options={'no_such_option': 1}) was accepted")
    finally:
        env.close()


def info_fixed(subject: Subject) -> None:
    """Compare the keys and types of info over several episodes with the contract."""
    resets, steps = set(), set()
    for episode in _episodes(subject):
        _require_types("reset", episode.reset_info, _RESET_KEYS)
        resets.add(tuple(sorted(episode.reset_info)))
        for number, (_, _, terminated, truncated, info) in enumerate(episode.steps, 1):
            _require_types(f"step {number}", info, _STEP_KEYS)
            steps.add(tuple(sorted(info)))
            status = Status(info["status"])
            if (status.terminated, status.truncated) != (bool(terminated), bool(truncated)):
                raise CheckFailed(
                    f"step {number} has status {status.value!r} with terminated={terminated}, "
                    f"truncated={truncated}"
                )
    for where, keys in (("resets", resets), ("steps", steps)):
        if len(keys) > 1:
            one, other, *_ = sorted(keys)
            raise CheckFailed(f"the keys change between {where}: {one} and {other}")


def _require_types(where: str, info: dict[str, Any], wanted: dict[str, type]) -> None:
    for key, kind in wanted.items():
        if key not in info:
            raise CheckFailed(f"info at {where} lacks {key!r}; it has {sorted(info)}")
        if not isinstance(info[key], kind):
            actual = type(info[key]).__name__
            raise CheckFailed(f"info[{key!r}] at {where} is {actual}, expected {kind.__name__}")
    if any(type(value) is not float for value in info["reward_terms"].values()):
        raise CheckFailed(f"reward_terms at {where} must be floats: {info['reward_terms']}")


def info_plain(subject: Subject) -> None:
    """Search info for times, uuids, paths and memory addresses."""
    for episode in _episodes(subject):
        infos = [episode.reset_info, *(step[4] for step in episode.steps)]
        for info in infos:
            for key, value in info.items():
                for leaf in _leaves(value):
                    problem = _impurity(leaf)
                    if problem:
                        raise CheckFailed(f"info[{key!r}] holds {problem}: {str(leaf)[:80]}")


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _impurity(value: Any) -> str:
    if isinstance(value, uuid.UUID) or (isinstance(value, str) and _UUID.search(value)):
        return "a uuid"
    if isinstance(value, str):
        if _PATH.search(value):
            return "a path"
        if _ADDRESS.search(value):
            return "an address"
        return "today's date" if time.strftime("%Y-%m-%d") in value else ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for unit in (1.0, 1e3, 1e6, 1e9):
            if abs(value / unit - time.time()) < _A_DAY:
                return "a clock"
        if isinstance(value, float) and value > 1 and abs(value - time.monotonic()) < _A_DAY:
            return "a clock"
    return ""


def observation_bounded(subject: Subject) -> None:
    """Check that every observation is in the space, and the longest within the limit."""
    env = subject.make()
    space = env.observation_space
    env.close()
    for episode in _episodes(subject):
        observations = [episode.opening, *(step[0] for step in episode.steps)]
        for number, observation in enumerate(observations):
            if observation not in space:
                raise CheckFailed(
                    f"observation {number} is not in {space}: {str(observation)[:80]!r}"
                )


def fresh_observations(subject: Subject) -> None:
    """Check that neither returned objects nor options and actions are modified afterwards."""
    env = subject.make()
    task = subject.tasks[0]
    kept: list[tuple[Any, str]] = []
    try:
        options = {"task": task.id}
        kept.append(_keep(options))
        kept.append(_keep(env.reset(seed=0, options=options)))
        for text in probe_actions(subject, task, 12):
            action = subject.act(env, text)
            kept.append(_keep(action))
            result = env.step(action)
            kept.append(_keep(result))
            if result[2] or result[3]:
                break
        env.reset(seed=1, options={"task": task.id})
    finally:
        env.close()
    for number, (value, before) in enumerate(kept):
        if canonical(value) != before:
            raise CheckFailed(f"object {number}, {before[:60]}, was changed by a later call")


def _keep(value: Any) -> tuple[Any, str]:
    return value, canonical(copy.deepcopy(value))


def fuzzed(subject: Subject) -> None:
    """Send fuzzed actions over several tasks; nothing may be raised."""
    env = subject.make()
    sent = 0
    try:
        while sent < subject.fuzz:
            for task in subject.tasks:
                sent += _fuzz_episode(subject, env, task, subject.fuzz - sent, sent)
                if sent >= subject.fuzz:
                    break
    finally:
        env.close()


def _fuzz_episode(subject: Subject, env: Any, task: Any, count: int, salt: int) -> int:
    env.reset(seed=salt, options={"task": task.id})
    for number, action in enumerate(fuzzed_actions(task, count, subject.seed + salt), 1):
        try:
            observation, _, terminated, truncated, _ = env.step(subject.act(env, action))
        except Exception as error:
            raise CheckFailed(
                f"{type(error).__name__}: {error} after the action {action[:120]!r} in {task.id}"
            ) from error
        if observation not in env.observation_space:
            raise CheckFailed(f"the action {action[:120]!r} gave an observation outside the space")
        if terminated or truncated:
            return number
    return count


def _episodes(subject: Subject) -> list[RecordedEpisode]:
    """Return correct, random, idle and hostile episodes; computed once per subject."""
    cached: list[RecordedEpisode] | None = subject.__dict__.get("_episodes")
    if cached is None:
        env = subject.make()
        cached = []
        try:
            for task in subject.tasks[:3]:
                cached.append(subject.play(env, task, subject.source.oracle(task)))
                cached.append(subject.play(env, task, random_calls(task, subject.seed)))
                cached.append(subject.play(env, task, do_nothing(task)))
                fuzz = fuzzed_actions(task, 50, subject.seed)
                cached.append(subject.play_actions(env, task, fuzz))
        finally:
            env.close()
        subject.__dict__["_episodes"] = cached
    return cached


CHECKS = (
    ConformanceCheck(
        "gymnasium_checker",
        "run gymnasium.utils.env_checker.check_env on the environment and follow its message",
        gymnasium_checker,
    ),
    ConformanceCheck(
        "close_twice",
        "make close() idempotent",
        close_twice,
    ),
    ConformanceCheck(
        "unknown_option",
        "raise hexathlon.envs.errors.UnknownOption for reset options you do not know",
        unknown_option,
    ),
    ConformanceCheck(
        "info_keys",
        "return the same keys with the same types from every reset and from every step",
        info_fixed,
    ),
    ConformanceCheck(
        "info_plain", "keep clocks, uuids, paths and addresses out of info; log them", info_plain
    ),
    ConformanceCheck(
        "observation_bounded",
        "cut observations to the space's bound with hexathlon.envs.messages.cut_middle",
        observation_bounded,
    ),
    ConformanceCheck(
        "fresh_observations",
        "return new objects from every call, not reused buffers; do not modify arguments",
        fresh_observations,
    ),
    ConformanceCheck(
        "fuzzed_actions",
        "answer a malformed action with an observation; raise only EnvFault, and not for actions",
        fuzzed,
    ),
)
