"""Runs the probes of a generated task inside a container and writes the reward.

Written into `tests/` as `check.py`, for harnesses that run `tests/test.sh`. Hexathlon itself runs
the same probes from outside, so that expected answers never enter a sandbox.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import resource
import subprocess
import sys
from typing import Any

from hexathlon.tasks.terminal.judging import difference

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SUBREAPER = 36


def main(folder: str, logs: str) -> None:
    """Judge the state of the container by the probes in `folder`; write the reward to `logs`."""
    with open(os.path.join(folder, "checks.json"), encoding="utf-8") as file:
        checks = json.load(file)
    os.chdir(checks["workdir"])
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # orphans count for the budgets, too
    outcomes = [(f"keep:{path}", _kept(path, digest)) for path, digest in checks["keep"].items()]
    outcomes += [(probe["id"], _judged(probe)) for probe in checks["probes"]]
    os.makedirs(logs, exist_ok=True)
    reward = float(all(outcome == "" for _, outcome in outcomes))
    tests = [
        {"name": name, "status": "failed" if outcome else "passed", "message": outcome}
        for name, outcome in outcomes
    ]
    with open(os.path.join(logs, "ctrf.json"), "w", encoding="utf-8") as file:
        json.dump({"results": {"tool": {"name": "hexathlon"}, "tests": tests}}, file)
    with open(os.path.join(logs, "reward.json"), "w", encoding="utf-8") as file:
        json.dump({"reward": reward}, file)
    for test in tests:
        sys.stdout.write(f"{test['status'].upper()} {test['name']} {test['message']}\n")


def _kept(path: str, digest: str) -> str:
    try:
        with open(path, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return "missing"
    return "" if found == digest else "changed"


def _judged(probe: dict[str, Any]) -> str:
    for path, text in probe["files"].items():
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    if probe.get("setup"):
        _run(probe, probe["setup"])
    before = _processor_seconds()
    done = _run(probe, probe["run"])
    if _processor_seconds() - before > probe.get("cpu", math.inf):
        return "processor_time"
    return difference(probe["expect"], done.returncode, done.stdout)


def _run(probe: dict[str, Any], text: str) -> subprocess.CompletedProcess[bytes]:
    clean = {"PATH": _SYSTEM, "HOME": "/tmp", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    command = ["timeout", "-s", "KILL", str(probe["seconds"]), "bash", "-c", text]
    return subprocess.run(
        command, input=probe["stdin"].encode(), capture_output=True, env=clean, check=False
    )


def _processor_seconds() -> float:
    """Return the processor time of all descendants that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(os.path.dirname(os.path.abspath(__file__)), "/logs/verifier")
