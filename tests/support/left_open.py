"""Creates an environment, takes a step and exits without closing it, for tests of leaked resources.

Run as `python -m support.left_open KIND ENDING`. The descendants of the process are printed as a
JSON list. Then `exit` ends the interpreter, `delete` drops the environment and prints how many
descendants and which descriptors are left, `wait` prints `ready` and waits to be killed.
"""

import contextlib
import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium

import hexathlon  # noqa: F401 - registers the environments
from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.ladder import backend
from hexathlon.envs.workers.hosted import HostedEnvironment
from support import drill

CALLS = {
    "SQL": '{"name": "list_tables", "arguments": {}}',
    "Terminal": '{"name": "run", "arguments": {"command": "sleep 600 & echo started"}}',
    "Shopping": '{"name": "search", "arguments": {"query": "lamp"}}',
    "RolePlay": "Good morning.",
    "Web": '{"name": "noop", "arguments": {}}',
    "GUI": '{"name": "wait", "arguments": {}}',
}


def id_of(name: str) -> str:
    """The current id of an event."""
    (env_id,) = (i for i in ENVIRONMENTS if i.startswith(f"hexathlon/{name}-v"))
    return env_id


def event(name: str, **options: Any) -> Callable[[], Any]:
    def made() -> Any:
        env = gymnasium.make(id_of(name), **options)
        env.reset(seed=1, options={"level": "tiny"})
        env.step(CALLS[name])
        return env

    return made


def written_sql(backend: str) -> Any:
    """An environment on a database of its own, which statements may change."""
    env = gymnasium.make("hexathlon/SQL-v1", backend=backend)
    for seed in range(40):
        env.reset(seed=seed)
        if env.unwrapped.task.params.get("writes"):
            break
    env.step(CALLS["SQL"])
    return env


def vector(name: str, **options: Any) -> Any:
    env = gymnasium.make_vec(
        id_of(name), num_envs=2, vectorization_mode="vector_entry_point", **options
    )
    env.reset(seed=1)
    env.step([CALLS[name]] * 2)
    return env


def hosted() -> Any:
    env = HostedEnvironment(drill.HOSTED)
    env.reset(seed=1, options={"task": drill.TASK})
    env.step(drill.walk(1))
    return env


def screen() -> Any:
    env = event("Terminal")()
    env.step('{"name": "send_keys", "arguments": {"keys": "top\\n"}}')
    return env


def landlock() -> Any:
    """A sandbox alone: tasks of the event need paths that this backend does not have."""
    sandbox = backend("landlock").open(SandboxImage())
    sandbox.execute("sleep 600 & echo started", 20.0)
    sandbox.reset()
    sandbox.execute("sleep 600 & echo started", 20.0)
    return sandbox


KINDS: dict[str, Callable[[], Any]] = {
    "sql": event("SQL"),
    "sql duckdb": event("SQL", backend="duckdb"),
    "sql postgresql": lambda: written_sql(os.environ["POSTGRES_URL"]),
    "terminal": event("Terminal"),
    "terminal screen": screen,
    "landlock": landlock,
    "shopping": event("Shopping"),
    "roleplay": event("RolePlay"),
    "web": event("Web"),
    "web chromium": event("Web", backend="chromium"),
    "gui": event("GUI"),
    "gui desktop": event("GUI", taskset="desktop"),
    "worker": hosted,
    "vector": lambda: vector("SQL"),
    "vector terminal": lambda: vector("Terminal"),
}


def descendants() -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    result = [os.getpid()]
    for pid in result:
        result += [child for child, parent in parents.items() if parent == pid]
    return result[1:]


def descriptors() -> set[str]:
    """Targets of this process's descriptors, except mapped cache files."""
    targets = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that reads the directory
            target = os.readlink(entry)
            if not target.endswith(".npy"):
                targets.add(target)
    return targets


def main(kind: str, ending: str) -> None:
    before = descriptors()
    env = KINDS[kind]()
    sys.stdout.write(json.dumps(descendants()) + "\n")
    if ending == "wait":
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
    elif ending == "delete":
        del env
        gc.collect()
        sys.stdout.write(f"{len(descendants())}\n{json.dumps(sorted(descriptors() - before))}\n")
    else:
        assert ending == "exit"


if __name__ == "__main__":
    main(*sys.argv[1:])
