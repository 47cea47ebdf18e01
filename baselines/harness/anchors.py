"""Anchor agents of a score: the oracle as its ceiling, all trivial policies as its floor."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.baselines.agents.imitating import lesson_split
from hexathlon.evaluators.anchors import IMITATING_AGENTS
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.taskset import build_task

__all__ = ["anchor_agents"]


def anchor_agents(plan: Mapping[str, Any]) -> list[str]:
    """Return the names of the built-in agents that can play a plan, except the run's own agent.

    Policies such as `dump` exist only for some task sources; they are included if every source of
    the plan has them, according to its first task.
    """
    policies: set[str] | None = None
    seen: set[str] = set()
    for _, task_id, _, _ in plan["keys"]:
        name = parse_address(task_id).source
        if name in seen:
            continue
        seen.add(name)
        source = get_source(name)
        offered = set(source.policies(build_task(task_id)))
        policies = offered if policies is None else policies & offered
    known = [name for name in ("dump", "majority") if name in (policies or ())]
    imitating = IMITATING_AGENTS if all(map(_has_lessons, plan["keys"])) else ()
    own = plan["model"]["name"] if plan["model"]["kind"] == "agent" else None
    names = ("noop", "random", *known, *imitating, "oracle")
    return [name for name in names if name != own]


def _has_lessons(key: Sequence[Any]) -> bool:
    """Whether there are tasks of the same source and level in another split."""
    address = parse_address(key[1])
    return lesson_split(address.source, address.split, address.level) is not None
