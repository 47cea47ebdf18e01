"""Grading of a final state in a separate sandbox, once the agent's processes are dead.

For generated tasks the grader starts from the pristine image, carries over only the changes below
the working directory, writes the held-out inputs, runs each probe's command, and compares outside:
expected answers never enter a sandbox, and only this process can write the verdict.
"""

import hashlib
import math
import shlex
from collections.abc import Mapping
from typing import Any

from hexathlon.envs.sandbox.base import Sandbox, SandboxBackend, SandboxPathError
from hexathlon.envs.sandbox.changes import Changes, covered
from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.tasks.terminal.judging import difference

__all__ = ["carried_over", "changed_files", "judge_probes", "run_cleanly"]

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CLEAN = f"/usr/bin/env -i PATH={_SYSTEM} HOME=/tmp LC_ALL=C.UTF-8 TZ=UTC"
_OURS = "export PYTHONSAFEPATH=1 PYTHONNOUSERSITE=1\n"
"""Precedes a probe's preparation, which is our program: none of the agent's modules is imported."""

_INPUT = "/tmp/.hexathlon-input"
_OUTPUT = "/tmp/.hexathlon-output"
_SLACK = 5.0
_MOST_NAMED = 200


def judge_probes(
    backend: SandboxBackend,
    image: SandboxImage,
    changes: Changes,
    checks: Mapping[str, Any],
    limits: SandboxLimits,
) -> list[list[str]]:
    """Return [test id, `passed` or the fault] for every file to keep and every probe."""
    outcomes = [
        [f"keep:{path}", _kept(f"{image.workdir}/{path}", digest, image, changes)]
        for path, digest in checks["keep"].items()
    ]
    with backend.open(carried_over(image, changes, image.workdir), limits) as sandbox:
        for probe in checks["probes"]:
            outcomes.append([probe["id"], _judged(sandbox, image.workdir, probe)])
    return outcomes


def carried_over(image: SandboxImage, changes: Changes, folder: str) -> SandboxImage:
    """Return the image with the changes below one directory."""
    inside = f"{folder.rstrip('/')}/"
    top = changes.written.get(folder)
    whole = folder in changes.deleted or (top is not None and not top.folder)
    gone = frozenset(path for path in changes.deleted if path.startswith(inside))
    files = {
        path: entry
        for path, entry in image.files.items()
        if not (whole and path.startswith(inside)) and not covered(path, gone)
    }
    files.update({p: entry for p, entry in changes.written.items() if p.startswith(inside)})
    return SandboxImage(image.base, files, image.workdir, image.environment)


def changed_files(changes: Changes, folder: str) -> dict[str, str]:
    """Return digests of the agent's files written below a directory.

    Git's own files and compiled Python are excluded: they contain clocks and inode numbers.
    """
    inside = f"{folder.rstrip('/')}/"
    digests: dict[str, str] = {}
    for path, entry in changes.written.items():
        name = path.removeprefix(inside)
        if entry.folder or name == path or "__pycache__" in name or f"/{name}".count("/.git/"):
            continue
        content = entry.data if entry.link is None else f"-> {entry.link}".encode()
        if len(digests) < _MOST_NAMED:
            digests[name] = f"{entry.mode:o} {hashlib.sha256(content).hexdigest()[:16]}"
    for path in changes.deleted:
        if path.startswith(inside) and len(digests) < _MOST_NAMED:
            digests.setdefault(path.removeprefix(inside), "deleted")
    return dict(sorted(digests.items()))


def _kept(path: str, digest: str, image: SandboxImage, changes: Changes) -> str:
    entry = changes.written.get(path)
    if entry is None and not covered(path, frozenset(changes.deleted)):
        entry = image.files.get(path)
    if entry is None or entry.link is not None or entry.folder:
        return "missing"
    return "passed" if hashlib.sha256(entry.data).hexdigest() == digest else "changed"


def _judged(sandbox: Sandbox, workdir: str, probe: Mapping[str, Any]) -> str:
    budget = float(probe.get("cpu", math.inf))
    if budget < math.inf:
        sandbox.kill_all()  # what an earlier probe left running would use the budget
    inputs = {f"{workdir}/{path}": Entry(text.encode()) for path, text in probe["files"].items()}
    inputs[_INPUT] = Entry(probe["stdin"].encode())
    try:
        sandbox.write_entries(inputs)
    except SandboxPathError:  # leftover files occupy the inputs' paths
        return "inputs"
    if probe.get("setup"):
        _run(sandbox, workdir, _OURS + probe["setup"], float(probe["seconds"]))
    before = sandbox.cpu_seconds() if budget < math.inf else None
    done = _run(sandbox, workdir, probe["run"], float(probe["seconds"]))
    if before is not None and (sandbox.cpu_seconds() or 0.0) - before > budget:
        return "processor_time"
    if done.cut_bytes:
        return "output"
    if done.exit_status is None:
        return "ended"
    return difference(probe["expect"], done.exit_status, done.output) or "passed"


def _run(sandbox: Sandbox, workdir: str, command: str, seconds: float) -> Execution:
    line = run_cleanly(workdir, command, seconds)
    return sandbox.execute(f"( {line} <{_INPUT} )", timeout=seconds + _SLACK)


def run_cleanly(workdir: str, command: str, seconds: float) -> str:
    """Return a line that runs a command with the system's environment and a deadline."""
    return (
        f"cd {shlex.quote(workdir)} && {_CLEAN} /usr/bin/timeout -s KILL {seconds:g} "
        f"/bin/bash -c {shlex.quote(command)} 2>/dev/null"
    )
