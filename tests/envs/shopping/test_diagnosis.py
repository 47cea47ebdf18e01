"""Every failure has a name that matches the mistake made."""

from collections import defaultdict
from itertools import islice

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.evaluators.shopping.order import FAULTS
from hexathlon.tasks.registry import get_source
from support.cheaters import CLERKS, SHOPPERS
from support.shop import played

SOURCE = get_source("shopping")
PARTS = {"category", "attribute", "option", "price"}
MADE = {
    "bought after a rejection": {"bought_after_rejection"},
    "without confirmation": {"unconfirmed"},
    "as the profile has it": {"personal_overused"},
    "the other twin's target": {"personal_ignored", "personal_overused"},
    "price is off": {"price"},
    "reported instead": {"wrong_answer"},
    "one too many": {"other_change", "nothing_done"},
    "another coupon": {"other_change"},
}
"""Faults by near miss; each must make at least one of them."""


@pytest.fixture(scope="module")
def failures() -> dict[str, list[set[str]]]:
    """The faults of every failed trial of near misses, trivial agents and cheaters, by name."""
    env, found = ShoppingEnv(), defaultdict(list)
    for task in (SOURCE.build(SOURCE.address("dev", index, "tiny")) for index in range(49)):
        cheaters = CLERKS if task.params["world"] == "service" else SHOPPERS
        scripts = {**SOURCE.mutants(task), **SOURCE.policies(task), "nothing": None}
        scripts |= {name: cheater(task) for name, cheater in islice(cheaters.items(), 4)}
        for name, script in scripts.items():
            if played(env, task.id, script) < 1:
                terms = env.verdict().terms
                found[name].append({fault for fault in FAULTS if terms[f"fault_{fault}"]})
    env.close()
    return found


def test_no_failure_is_without_a_fault(failures):
    assert [name for name, faults in failures.items() if not all(faults)] == []


def test_every_kind_of_fault_occurs(failures):
    assert set().union(*(fault for faults in failures.values() for fault in faults)) == set(FAULTS)


def test_near_misses_are_diagnosed_correctly(failures):
    for name, expected in MADE.items():
        assert failures[name], name
        assert all(faults & expected for faults in failures[name]), (name, failures[name])
    for name in failures:
        if name.startswith("bought: "):  # where nothing should be bought
            assert all("other_change" in faults for faults in failures[name]), name
        elif name.endswith(" is off"):
            assert all(faults & PARTS for faults in failures[name]), (name, failures[name])


def test_an_idle_agent_is_diagnosed_as_idle(failures):
    assert all(faults == {"nothing_done"} for faults in failures["nothing"])
