"""Second process of the two-process check: plays the requested episodes and prints a digest.

Reads one JSON object from standard input: `path`, `entry_point`, `kwargs`, `episodes` (a list of
task id, seed, actions), `builds` (a list of task ids). Writes a mark and the digests as JSON to
standard output.
"""

import hashlib
import importlib
import json
import sys
from typing import Any

__all__ = ["MARK", "digest", "main"]

MARK = "\x02digests\x02"
"""Stands before the digests; what comes earlier was printed by the environment."""


def digest(env: Any, episodes: list[Any], builds: list[str]) -> dict[str, Any]:
    """Play each episode and build each task.

    Returns:
        The SHA-256 (hex) of the traces as `episodes`, and pairs of id and task hash as `builds`.
    """
    from hexathlon.envs.messages import assistant_message, parse_text
    from hexathlon.envs.spaces import Unicode
    from hexathlon.envs.testing.tracing import canonical
    from hexathlon.tasks.registry import get_source

    text_form = isinstance(env.action_space, Unicode)
    seen = hashlib.sha256()
    for task_id, seed, actions in episodes:
        seen.update(canonical(env.reset(seed=seed, options={"task": task_id})).encode())
        for action in actions:
            result = env.step(action if text_form else assistant_message(parse_text(action)))
            seen.update(canonical(result).encode())
            if result[2] or result[3]:
                break
    source = get_source(env.get_wrapper_attr("taskset"))
    built = [[task_id, source.build(task_id).hash] for task_id in builds]
    return {"episodes": seen.hexdigest(), "builds": built}


def main() -> None:
    """Play the episodes requested on standard input."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    module, _, name = request["entry_point"].partition(":")
    env = getattr(importlib.import_module(module), name)(**request["kwargs"])
    try:
        seen = digest(env, request["episodes"], request["builds"])
        sys.stdout.write(MARK + json.dumps(seen))
    finally:
        env.close()


if __name__ == "__main__":
    main()
