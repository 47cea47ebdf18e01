"""Parity certificate of a door: the same episodes natively and through it, paired.

Run it with the interpreter of the door's environment, which `scripts/bridges` makes:

    .venv-bridges/openenv/bin/python scripts/parity.py openenv

It writes `docs/notes/parity/DOOR.json`. Equal means: opening, every answer, tools, reward and end.
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

from bridges.contract import EVENT, NOTHING, native  # noqa: E402
from bridges.test_contract import DOORS, heard  # noqa: E402

from hexathlon.baselines.bridges.listing import TaskListing  # noqa: E402
from hexathlon.baselines.harness.environments import find_environment  # noqa: E402

SUBMIT = '{"name": "submit", "arguments": {}}'


def main() -> int:
    """Play, compare, write; the exit code is 1 if a pair differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("door", choices=[*DOORS, "harbor"])
    parser.add_argument("--tasks", type=int, default=8)
    options = parser.parse_args()
    if options.door == "harbor":
        return written("harbor", "harbor", "Terminal", "reward", harbor_pairs(options.tasks))
    package = DOORS[options.door][0]
    rows = TaskListing(EVENT, level="tiny").rows("test", 0, options.tasks)
    kind = importlib.import_module(f"bridges.doors.{options.door}").Client
    pairs = []
    with kind(EVENT) as door:
        for seed, row in enumerate(rows):
            for actions in (None, (NOTHING,) * 20):
                ours = native(row["task"], seed, actions)
                theirs = door.play(ours.task, ours.seed, ours.actions)
                seen = hashlib.sha256(json.dumps(theirs).encode()).hexdigest()
                pairs.append({
                    "task": ours.task, "seed": seed,
                    "agent": "oracle" if actions is None else "idle",
                    "turns": len(ours.actions), "native": ours.reward, "door": theirs.reward,
                    "equal": theirs == heard(door, ours), "sha256": seen,
                })  # fmt: skip
    compared = "opening, answers, tools, reward, end"
    if not kind.tells_the_end:
        compared += "; this door ends before the last answer"
    return written(options.door, package, EVENT, compared, pairs)


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
                pairs.append({
                    "task": row["task"], "seed": 0, "agent": agent, "turns": len(ours.actions),
                    "native": ours.reward, "door": theirs, "equal": ours.reward == theirs,
                })  # fmt: skip
    return pairs


def written(door: str, package: str, event: str, compared: str, pairs: list[dict[str, Any]]) -> int:
    """Write the certificate and return the exit code."""
    certificate = {
        "door": door,
        "package": f"{package} {version(package)}",
        "environment": find_environment(event).id,
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
