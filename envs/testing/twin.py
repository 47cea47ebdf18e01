"""Episodes and builds as digests, in the kit's own process and in a fresh one.

The fresh process gets the text of this file and imports nothing from the kit, so that an
environment that behaves differently while it is checked is detected. The process reads one JSON
object from standard input: `path`, `entry_point`, `kwargs`, `episodes` (a list of task id, seed,
actions), `builds` (a list of task ids). It writes a marker and the digests as JSON to standard
output.
"""

import hashlib
import importlib
import json
import sys
from typing import Any

import numpy as np

__all__ = ["MARK", "canonical", "digest", "main"]

MARK = "\x02digests\x02"
"""Precedes the digests; earlier output is the environment's."""


def canonical(value: Any) -> str:
    """Return a string that is equal for equal data; arrays and types are covered."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=True)


def digest(env: Any, episodes: list[Any], builds: list[str]) -> dict[str, Any]:
    """Play each episode and build each task.

    Returns:
        The SHA-256 (hex) of the traces as `episodes`, and pairs of id and task hash as `builds`.
    """
    from hexathlon.envs.messages import assistant_message, parse_text
    from hexathlon.envs.spaces import Unicode
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


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return ["array", value.dtype.str, list(value.shape), digest]
    if isinstance(value, np.generic):
        return [type(value).__name__, value.item()]
    if isinstance(value, dict):
        return {f"{type(key).__name__}:{key}": _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return ["tuple", *map(_plain, value)]
    if isinstance(value, list):
        return ["list", *map(_plain, value)]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return [type(value).__name__, repr(value)]


if __name__ == "__main__":
    main()
