"""Role-play episodes for tests: whole scripts, or the oracle with one turn changed."""

import json
from typing import Any

from hexathlon.envs.roleplay.env import RolePlayEnv
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Task


def build(task_id: str) -> Task:
    return get_source(task_id.split("/")[0]).build(task_id)


def call(name: str, /, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def right(task: Task) -> list[str]:
    """Return the oracle's actions; its scripts do not depend on observations."""
    return list(get_source(task.generator).oracle(task))


def play(task: Task, actions: list[str], **options: Any) -> tuple[list[str], Verdict]:
    """Play actions until the end; return the observations, and the verdict."""
    env = RolePlayEnv(**options)
    heard = [env.reset(seed=0, options={"task": task.id})[0]]
    for action in actions:
        observation, _, terminated, truncated, _ = env.step(action)
        heard.append(observation)
        if terminated or truncated:
            break
    verdict = env.verdict()
    env.close()
    return heard, verdict


def changed(task: Task, place: int, **arguments: Any) -> Verdict:
    """Play the oracle with some arguments of one turn changed."""
    actions = right(task)
    turn = json.loads(actions[place])
    turn["arguments"] |= arguments
    actions[place] = json.dumps(turn, ensure_ascii=False)
    return play(task, actions)[1]


def turns_of(task: Task) -> list[dict[str, Any]]:
    """Return the oracle's turns as the verifier sees them."""
    env = RolePlayEnv()
    env.reset(seed=0, options={"task": task.id})
    for action in right(task):
        env.step(action)
    turns: list[dict[str, Any]] = env.final_state()["turns"]
    env.close()
    return turns


def claims_of(task: Task, place: int) -> list[str]:
    """Return the spellings of a line's false claim; empty if it makes none."""
    corrected = task.checks[0].params["beats"][place]["act"] == "correct"
    return list(task.params["lines"][place]["keep"]) if corrected else []


def place_of(task: Task, act: str, **wanted: Any) -> int:
    """Return the first beat with this act and these expected values."""
    for place, beat in enumerate(task.checks[0].params["beats"]):
        if beat["act"] == act and all(beat[key] == value for key, value in wanted.items()):
            return place
    raise AssertionError(f"{task.id} has no such beat: {act} {wanted}")
