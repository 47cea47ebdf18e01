"""A scripted model that solves one task, through whatever tools a program offers it.

It stands behind a program under test, so it finds the tools by their names: those of the event,
with any prefix, or the program's own shell.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.harness.environments import environment_for_task
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address, play
from hexathlon.tasks.taskset import build_task

SHELLS = ("bash", "shell", "shell_command", "exec_command", "run_shell_command", "local_shell")
_MARK = "submit"


def gold_actions(task: str, seed: int = 0) -> list[dict[str, Any]]:
    """Return the oracle's calls, without the last one that hands the work in."""
    env = gymnasium.make(environment_for_task(task).id)
    env.reset(seed=seed, options={"task": task})
    calls: list[dict[str, Any]] = []

    def respond(action: str) -> str | None:
        observation, _, terminated, truncated, _ = env.step(action)
        calls.append(json.loads(action))
        return None if terminated or truncated else observation

    play(get_source(parse_address(task).source).oracle(build_task(task)), respond)
    env.close()
    return [call for call in calls if call["name"] != _MARK]


class GoldModel:
    """Answers with the next call of the oracle, and with a sentence after the last one."""

    def __init__(self, task: str) -> None:
        self._actions = gold_actions(task)

    def __call__(self, call: ApiCall) -> dict[str, Any]:
        """Return the next message."""
        messages, tools = call.request.messages, call.request.tools
        taken = sum(len(message.get("tool_calls") or ()) for message in messages)
        if not tools or taken >= len(self._actions):
            return {"content": "The work is done."}
        name, arguments = through(tools, self._actions[taken])
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        return {"tool_calls": [{"id": f"c{taken}", "type": "function", "function": function}]}


def through(
    tools: Sequence[Mapping[str, Any]], action: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return name and arguments of a call in the terms of a program's tools."""
    for tool in tools:
        if tool["name"] == action["name"] or tool["name"].endswith(f"_{action['name']}"):
            return tool["name"], action["arguments"]
    for tool in tools:
        if tool["name"] in SHELLS:
            return tool["name"], _shell_arguments(tool, action["arguments"]["command"])
    raise AssertionError(f"no tool for {action['name']}: {[tool['name'] for tool in tools]}")


def _shell_arguments(tool: Mapping[str, Any], command: str) -> dict[str, Any]:
    properties = tool["parameters"].get("properties", {})
    key = "command" if "command" in properties else "cmd"
    if properties.get(key, {}).get("type") == "array":
        return {key: ["bash", "-lc", command]}
    given: dict[str, Any] = {key: command}
    for name in tool["parameters"].get("required", ()):
        if name not in given:
            given[name] = "work" if properties[name].get("type") == "string" else False
    return given
