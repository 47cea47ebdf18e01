"""Recipes for comparisons of the places where they can run; one has tasks of all six events."""

from pathlib import Path
from typing import Any

__all__ = ["EVENTS", "placed_recipe", "six_events"]

EVENTS = {
    "sql": "hexathlon/SQL-v1",
    "shopping": "hexathlon/Shopping-v1",
    "terminal": "hexathlon/Terminal-v1",
    "roleplay": "hexathlon/RolePlay-v1",
    "web": "hexathlon/Web-v0",
    "gui": "hexathlon/GUI-v0",
}
"""Environments by source."""

_TASKS = """
[[tasks]]
env = "{env}"
source = "{source}"
level = "tiny"
turns = 2
"""

_RECIPE = """
name = "places"
steps = {steps}
save_every = 1
ranks = {ranks}
{tasks}
[policy]
checkpoint = "{policy}"

[rollout]
groups = {groups}
members = {members}
max_tokens = 8

[engine]
invariant = true

[credit]
estimator = {{ name = "reinforce", parameters = {{ baseline = 0.5 }} }}

[learn]
optimiser = {{ learning_rate = 1e-3, eps = 1e-4 }}

[evaluation]
tasks = 1
every = 0

[cluster]
engines = {engines}
workers = {workers}
{places}
"""


def placed_recipe(path: Path, policy: Path, tasks: str, **values: Any) -> Path:
    """Write a recipe.

    Args:
        path: The file to write.
        policy: Checkpoint with which it starts.
        tasks: Its tables of tasks.
        values: `steps`, `groups`, `members`, `ranks`, `engines`, `workers` and further lines of
            `[cluster]`, `places`.
    """
    chosen = {"steps": 1, "groups": 2, "members": 2, "ranks": 1, "engines": 1, "workers": 1}
    given = {**chosen, "places": "", **values}
    path.write_text(_RECIPE.format(tasks=tasks, policy=policy, **given))
    return path


def six_events(path: Path, policy: Path, **values: Any) -> Path:
    """Write a recipe with a group of each event; see `placed_recipe`."""
    tasks = "".join(_TASKS.format(env=env, source=source) for source, env in EVENTS.items())
    return placed_recipe(path, policy, tasks, groups=len(EVENTS), **values)
