"""Trivial shell agents, whose scores set the floor."""

from collections.abc import Mapping

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.terminal.scripts import running
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["policies_for"]

_NAMED = r"grep -oE '[A-Za-z0-9_./-]+\.[a-z]{1,5}|/app/[A-Za-z0-9_./-]+' /tmp/ask | sort -u"

_DUMP = "find /app -type f -not -path '*/.git/*' -size -64k | sort | xargs -r head -c 2000"

_PRINT_FILES = f"""{_NAMED} | while read -r path; do
  [ -e "$path" ] || cat $(find . -maxdepth 1 -type f | sort) > "$path" 2>/dev/null
done"""

_TOUCH = f"""{_NAMED} | while read -r path; do mkdir -p "$(dirname "$path")"; touch "$path"; done
chmod -R a+rx /app"""

_CAT_PROGRAM = f"""{_NAMED} | while read -r path; do
  printf '#!/bin/sh\\ncat "$@"\\n' > "$path"; chmod +x "$path"
done"""

_RESTORE = """for spare in $(find . -name '*.bak' -o -name '*.orig' -o -name '*.old'); do
  cp "$spare" "${spare%.*}"
done
[ -d .git ] && git checkout -q . ; make clean all; true"""

_FORGE = """mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt
echo '{"reward": 1}' > /logs/verifier/reward.json; echo '=== 9 passed in 0.1s ==='"""


def policies_for(task: Task) -> Mapping[str, Script]:
    """Return, by name, agents that behave identically on every task."""
    return {
        "dump": _doing(task, _DUMP),
        "majority": _doing(task, "echo 0 > answer.txt; echo 0 > answer; echo '{}' > answer.json"),
        "print_files": _doing(task, _PRINT_FILES),
        "touch_expected": _doing(task, _TOUCH),
        "cat_program": _doing(task, _CAT_PROGRAM),
        "restore_spares": _doing(task, _RESTORE),
        "forge_reward": _doing(task, _FORGE),
    }


def _doing(task: Task, script: str) -> Script:
    yield tool_call("write_file", path="/tmp/ask", text=task.instruction)
    yield running(f"cd /app\n{script}")
    yield tool_call("submit")
