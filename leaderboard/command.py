"""Command line that reproduces a plan."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

_SECRET = re.compile(r"//[^/@\s#]*@")
_SETTING = re.compile(r"[a-z_]+")


def eval_command(plan: Mapping[str, Any]) -> str:
    """Return the ``hexathlon eval`` command that makes the same plan.

    Every setting in the plan is written out, including defaults, so that the command keeps its
    meaning when defaults change. User names and passwords in addresses are omitted; a held-out
    round needs its published salt.
    """
    config = plan.get("config") or {}
    model = str(config.get("model") or plan.get("model", {}).get("name", "MODEL"))
    parts = [f"hexathlon eval {shlex.quote(_SECRET.sub('//', model))}"]
    settings = {name: value for name, value in config.items() if name not in ("model", "sampling")}
    sampling = config.get("sampling")
    settings |= sampling if isinstance(sampling, dict) else {}
    settings |= {f"limit_{name}": value for name, value in (plan.get("limits") or {}).items()}
    if config.get("task"):
        for name in ("envs", "taskset", "split", "level", "tasks"):
            settings.pop(name, None)
    parts += list(_flags(settings))
    if config.get("split") == "heldout":
        parts.append("--salt-file SALT")
    parts.append("--out runs/again")
    return " \\\n  ".join(parts)


def _flags(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if not _SETTING.fullmatch(name):  # a plan that no command wrote; its text is not run
            continue
        if value is None or value == "" or value is False or value == []:
            continue
        if value is True:
            yield flag
        elif isinstance(value, list):
            text = [str(item) for item in value]
            if name == "envs":
                yield f"{flag} {shlex.quote(','.join(text))}"
            else:
                yield from (f"{flag} {shlex.quote(item)}" for item in text)
        else:
            yield f"{flag} {shlex.quote(str(value))}"
