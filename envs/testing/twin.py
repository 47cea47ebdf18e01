"""Second process of the two-process check: plays the requested episodes and prints a digest.

Reads one JSON object from standard input: `path`, `entry_point`, `kwargs`, `episodes` (a list of
task id, seed, actions). Writes the SHA-256 of the traces to standard output.
"""

import hashlib
import importlib
import json
import sys
from typing import Any

__all__ = ["digest", "main"]


def digest(env: Any, episodes: list[Any]) -> str:
    """Play each episode and return the SHA-256 (hex) of the traces."""
    from hexathlon.envs.messages import assistant_message, parse_text
    from hexathlon.envs.spaces import Unicode
    from hexathlon.envs.testing.tracing import canonical

    text_form = isinstance(env.action_space, Unicode)
    seen = hashlib.sha256()
    for task_id, seed, actions in episodes:
        seen.update(canonical(env.reset(seed=seed, options={"task": task_id})).encode())
        for action in actions:
            result = env.step(action if text_form else assistant_message(parse_text(action)))
            seen.update(canonical(result).encode())
            if result[2] or result[3]:
                break
    return seen.hexdigest()


def main() -> None:
    """Play the episodes requested on standard input."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    module, _, name = request["entry_point"].partition(":")
    env = getattr(importlib.import_module(module), name)(**request["kwargs"])
    try:
        sys.stdout.write(digest(env, request["episodes"]))
    finally:
        env.close()


if __name__ == "__main__":
    main()
