"""The parity certificates: every pair is equal, and of the tasks as they are now."""

import functools
import json
from pathlib import Path

import pytest
from bridges.test_contract import DOORS

from hexathlon.tasks.taskset import build_task

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notes" / "parity"
EVENTS = {"SQL", "Shopping", "Terminal", "Web", "GUI"}


@functools.cache
def current(task: str) -> str:
    return build_task(task).hash


@pytest.mark.parametrize("door", [*DOORS, "harbor"])
def test_a_certificate_is_of_the_tasks_as_they_are(door: str) -> None:
    certificate = json.loads((FOLDER / f"{door}.json").read_text("utf-8"))
    pairs = certificate["episodes"]
    assert {pair["event"] for pair in pairs} == ({"Terminal"} if door == "harbor" else EVENTS)
    old = {pair["task"] for pair in pairs if pair["task_hash"] != current(pair["task"])}
    assert not old, f"these tasks have changed: run scripts/parity.py {door} again"
    assert certificate["equal"] == certificate["pairs"] == len(pairs)
    assert all(pair["equal"] and pair["native"] == pair["door"] for pair in pairs)
    rewards = {agent: {pair["native"] for pair in pairs if pair["agent"] == agent}
               for agent in {pair["agent"] for pair in pairs}}  # fmt: skip
    assert rewards.pop("oracle") == {1.0} and list(rewards.values()) == [{0.0}]


def test_each_certificate_is_of_a_door() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {*DOORS, "harbor"}
