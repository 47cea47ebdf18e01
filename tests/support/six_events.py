"""One recipe with tasks of all six events, for comparisons of the places where it can run."""

from pathlib import Path
from typing import Any

__all__ = ["EVENTS", "six_events"]

EVENTS = {
    "sql": "hexathlon/SQL-v0",
    "shopping": "hexathlon/Shopping-v0",
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
name = "six-events"
steps = {steps}
save_every = 1
ranks = {ranks}
{tasks}
[policy]
checkpoint = "{policy}"

[rollout]
groups = 6
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


def six_events(path: Path, policy: Path, **values: Any) -> Path:
    """Write the recipe.

    Args:
        path: The file to write.
        policy: Checkpoint with which it starts.
        values: `steps`, `members`, `ranks`, `engines`, `workers` and further lines of `[cluster]`,
            `places`.
    """
    tasks = "".join(_TASKS.format(env=env, source=source) for source, env in EVENTS.items())
    chosen = {"steps": 1, "members": 2, "ranks": 1, "engines": 1, "workers": 1, "places": ""}
    path.write_text(_RECIPE.format(tasks=tasks, policy=policy, **{**chosen, **values}))
    return path
