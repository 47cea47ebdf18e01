"""Parity certificate of a door: the same episodes natively and through it, paired.

Run it with the interpreter of the door's environment, which `scripts/bridges` makes:

    .venv-bridges/openenv/bin/python scripts/parity.py openenv

It writes `docs/notes/parity/DOOR.json`. Equal means: opening, every answer, tools, reward and end.
A test says when the tasks have changed since.
"""

import argparse
import hashlib
import importlib
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True

import gymnasium  # noqa: E402
from bridges.contract import EVENT, Played, native  # noqa: E402
from bridges.test_contract import DOORS, heard  # noqa: E402

from hexathlon.baselines.bridges.listing import TaskListing  # noqa: E402
from hexathlon.baselines.harness.environments import find_environment  # noqa: E402
from hexathlon.tasks.taskset import build_task  # noqa: E402

EVENTS = (EVENT, "Shopping", "Terminal", "Web", "GUI")
FEW = 2
"""Tasks of each event but the first."""

SUBMIT = '{"name": "submit", "arguments": {}}'


def main() -> int:
    """Play, compare, write; the exit code is 1 if a pair differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("door", choices=[*DOORS, "harbor"])
    parser.add_argument("--tasks", type=int, default=8)
    options = parser.parse_args()
    if options.door == "harbor":
        return written("harbor", "harbor", "reward", harbor_pairs(options.tasks))
    package = DOORS[options.door][0]
    kind = importlib.import_module(f"bridges.doors.{options.door}").Client
    pairs = []
    for event in EVENTS:
        pairs += event_pairs(kind, event, options.tasks if event == EVENT else FEW)
    compared = "opening, answers, tools, reward, end"
    if not kind.tells_the_end:
        compared += "; this door ends before the last answer"
    return written(options.door, package, compared, pairs)


def event_pairs(kind: Any, event: str, count: int) -> list[dict[str, Any]]:
    """Play the oracle, and an agent that repeats the oracle's first action until its end."""
    pairs = []
    rows = TaskListing(event, level="tiny").rows("test", 0, count)
    with kind(event) as door:
        for seed, row in enumerate(rows):
            gold = native(row["task"], seed, event=event)
            for agent, ours in (("oracle", gold), ("stuck", stuck(gold, event))):
                theirs = door.play(ours.task, ours.seed, ours.actions)
                seen = hashlib.sha256(json.dumps(theirs).encode()).hexdigest()
                equal = theirs == heard(door, ours)
                pairs.append(pair(event, ours, agent, theirs.reward, equal) | {"sha256": seen})
    return pairs


def stuck(gold: Played, event: str) -> Played:
    """Play the first action of an episode again and again."""
    with gymnasium.make(find_environment(event).id) as env:
        env.reset(seed=gold.seed, options={"task": gold.task})
        count, over = 0, False
        while not over:
            *_, terminated, truncated, _ = env.step(gold.actions[0])
            count, over = count + 1, terminated or truncated
    return native(gold.task, gold.seed, gold.actions[:1] * count, event)


def pair(event: str, ours: Played, agent: str, reward: float, equal: bool) -> dict[str, Any]:
    """Return the row of a certificate."""
    return {
        "event": event, "task": ours.task, "task_hash": build_task(ours.task).hash,
        "seed": ours.seed, "agent": agent, "turns": len(ours.actions),
        "native": ours.reward, "door": reward, "equal": equal,
    }  # fmt: skip


def harbor_pairs(count: int) -> list[dict[str, Any]]:
    """Play exported tasks with Harbor's agents, and natively with the oracle or at once submitted.

    Harbor runs the task's own `solve.sh`, so only the rewards can be compared.
    """
    from bridges.test_harbor import exported, run

    pairs = []
    with tempfile.TemporaryDirectory() as place:
        tasks = exported(Path(place), count)
        names = [
            entry["name"] for entry in json.loads((tasks / "registry.json").read_text())[0]["tasks"]
        ]
        rows = TaskListing("Terminal", level="tiny").rows("test", 0, count)
        for agent, actions in (("oracle", None), ("nop", (SUBMIT,))):
            results = {Path(each["task_id"]["path"]).name: each
                       for each in run(tasks, agent, Path(place))}  # fmt: skip
            for name, row in zip(names, rows, strict=True):
                ours = native(row["task"], 0, actions, "Terminal")
                theirs = results[name]["verifier_result"]["rewards"]["reward"]
                pairs.append(pair("Terminal", ours, agent, theirs, ours.reward == theirs))
    return pairs


def written(door: str, package: str, compared: str, pairs: list[dict[str, Any]]) -> int:
    """Write the certificate and return the exit code."""
    certificate = {
        "door": door,
        "package": f"{package} {version(package)}",
        "environments": sorted({find_environment(pair["event"]).id for pair in pairs}),
        "compared": compared,
        "pairs": len(pairs),
        "equal": sum(pair["equal"] for pair in pairs),
        "mean_native": sum(pair["native"] for pair in pairs) / len(pairs),
        "mean_door": sum(pair["door"] for pair in pairs) / len(pairs),
        "episodes": pairs,
    }
    place = ROOT / "docs" / "notes" / "parity" / f"{door}.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(certificate, indent=1) + "\n", encoding="utf-8")
    print(f"{door}: {certificate['equal']} of {certificate['pairs']} pairs are equal")
    return int(certificate["equal"] != certificate["pairs"])


if __name__ == "__main__":
    sys.exit(main())
