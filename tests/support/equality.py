"""Equality proof for refactorings: runs of a fixed plan, compared field by field.

    scripts/equality run OUT              run the plan with this checkout, 200 tasks per event
    scripts/equality compare BEFORE AFTER print every field in which two such folders differ
    scripts/equality golden OUT           renew tests/baselines/equality.json from a short run

Only `hexathlon eval` is called and only JSON is read, so that older checkouts can make the runs,
too.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

EVENTS = ("RolePlay", "Shopping", "SQL", "Terminal")
AGENTS = ("oracle", "noop", "noisy:0.3")
TASKS, SHORT = 200, 20
GOLDEN = Path(__file__).resolve().parents[1] / "baselines" / "equality.json"
RENEW = (
    "Digests of records of the fixed plan, by run and task. Renew them only where a change is "
    "meant to alter records: scripts/equality run OUT --tasks 20, then scripts/equality golden OUT."
)

CHAIN = ("hash", "prev", "timing")
"""Fields of a record that differ between any two runs."""

ENVIRONMENT = ("code", "created", "execution", "hardware", "plan_hash", "run_id")
"""Fields of a plan that describe the run, the code and the machine."""

UNDIGESTED = (*CHAIN, "task_hash", "sandbox", "final_state_hash")
"""Fields excluded from golden digests; final states are digested themselves."""

HOST = {"Terminal": ("steps.observation", "final_state.steps.changed", "cut_chars")}
"""Fields written by programs of the host, by event; excluded from golden digests."""


class Difference(NamedTuple):
    """One field in which two runs differ."""

    place: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.place}: {self.before!r:.120} != {self.after!r:.120}"


class EvaluationFailed(Exception):
    """`hexathlon eval` exited with a non-zero code."""

    def __init__(self, code: int, output: str) -> None:
        super().__init__(f"hexathlon eval ended with {code}: {output.strip()[-2000:]}")
        self.code = code


MISSING = 4
"""Exit code of `hexathlon eval` if an environment or its sandbox is not available."""


def run_name(event: str, agent: str) -> str:
    """Return the name of a run's folder."""
    return f"{event}-{agent.replace(':', '_')}"


def run_plan(
    out: Path, tasks: int, events: Sequence[str] = EVENTS, agents: Sequence[str] = AGENTS
) -> None:
    """Play the runs of the plan into `out`, with the package that this interpreter imports.

    Raises:
        EvaluationFailed: If one of them fails.
    """
    out.mkdir(parents=True, exist_ok=True)
    for agent in agents:
        for event in events:
            done = subprocess.run(
                [sys.executable, "-m", "hexathlon", "eval", f"agent:{agent}", "--envs", event,
                 "--tasks", str(tasks), "--out", str(out / run_name(event, agent))],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise EvaluationFailed(done.returncode, done.stdout)


def read_run(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return a run's plan, and its records by their keys."""
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    lines = (folder / "records.jsonl").read_text("utf-8").split("\n")
    records = [json.loads(line) for line in lines if line]
    return plan, {"/".join(str(part) for part in r["key"].values()): r for r in records}


def without(value: Any, fields: Sequence[str]) -> Any:
    """Return JSON without the named fields; `steps.observation` is a field of each step."""
    if isinstance(value, list):
        return [without(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without(
            item, [f.removeprefix(f"{name}.") for f in fields if f.startswith(f"{name}.")]
        )
        for name, item in value.items()
        if name not in fields
    }


def differences(before: Any, after: Any, place: str) -> Iterator[Difference]:
    """Yield every leaf in which two JSON values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            if name in before and name in after:
                yield from differences(before[name], after[name], f"{place} {name}")
            else:
                there = "only before" if name in before else "only after"
                yield Difference(f"{place} {name}", before.get(name), f"({there})")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif before != after or type(before) is not type(after):
        yield Difference(place, before, after)


def compare(before: Path, after: Path, ignored: Sequence[str] = ()) -> Iterator[Difference]:
    """Yield the differences of all runs in two directories.

    Args:
        before: A folder that `run_plan` wrote.
        after: Another.
        ignored: Fields of records and plans that may differ, besides `CHAIN` and `ENVIRONMENT`.
    """
    folders = (before, after)
    names = {path.parent.name for folder in folders for path in folder.glob("*/plan.json")}
    for name in sorted(names):
        missing = [str(folder) for folder in folders if not (folder / name / "plan.json").exists()]
        if missing:
            yield Difference(name, "a run", f"none in {missing[0]}")
            continue
        (old_plan, old), (new_plan, new) = (read_run(folder / name) for folder in folders)
        plan, record = (*ENVIRONMENT, *ignored), (*CHAIN, *ignored)
        yield from differences(without(old_plan, plan), without(new_plan, plan), f"{name} plan")
        yield from differences(
            {key: without(value, record) for key, value in old.items()},
            {key: without(value, record) for key, value in new.items()},
            name,
        )


def digests(folder: Path) -> dict[str, str]:
    """Return a machine-independent digest of each record of a run, by key."""
    event = folder.name.partition("-")[0]
    left_out = (*UNDIGESTED, *HOST.get(event, ()))
    return {
        key: hashlib.sha256(
            json.dumps(without(record, left_out), sort_keys=True).encode()
        ).hexdigest()[:16]
        for key, record in sorted(read_run(folder)[1].items())
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 1 if `compare` finds a difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="play the runs of the plan")
    run.add_argument("out", type=Path)
    run.add_argument("--tasks", type=int, default=TASKS, help="tasks per event")
    run.add_argument("--events", nargs="+", choices=EVENTS, default=EVENTS)
    both = commands.add_parser("compare", help="print every field that differs")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    both.add_argument(
        "--ignore", nargs="*", default=(), metavar="FIELD",
        help="fields that may differ, such as task_hash or envs.taskset_hash",
    )  # fmt: skip
    golden = commands.add_parser("golden", help="update the golden digests")
    golden.add_argument("out", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.command == "run":
        run_plan(chosen.out, chosen.tasks, chosen.events)
    elif chosen.command == "golden":
        names = [run_name(event, agent) for event in EVENTS for agent in AGENTS]
        content = {"about": RENEW} | {name: digests(chosen.out / name) for name in names}
        GOLDEN.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    else:
        result = list(compare(chosen.before, chosen.after, chosen.ignore))
        print(*result, f"{len(result)} fields differ", sep="\n")
        return int(bool(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
