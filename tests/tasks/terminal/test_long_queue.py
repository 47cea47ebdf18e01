"""The template `long_queue`: the server against the model in virtual time, and its near misses."""

import json
import subprocess
import sys

import pytest

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.templates.long.hopper.documents import documents
from hexathlon.tasks.terminal.templates.long.hopper.driver import DRIVER
from hexathlon.tasks.terminal.templates.long.hopper.faults import FAULTS
from hexathlon.tasks.terminal.templates.long.hopper.model import TWISTS, draw_promise, replies
from hexathlon.tasks.terminal.templates.long.hopper.program import (
    alternative_text,
    program_text,
    starting_text,
)
from hexathlon.tasks.terminal.templates.long.hopper.scenarios import groups

QUICK = {
    "durable": {"keys", "forgotten_keys", "folder_size", "one_server", "killed_after_replies"},
    "limits": {"full", "batches", "lines"},
    "earlier_format": {"taken_over", "torn", "killed_while_starting"},
    "mixed": {"mixed_0", "mixed_1", "mixed_2"},
}
"""Scenarios that wait for little."""

QUICK_FAULTS = {
    "nothing_written": "killed_after_replies",
    "done_forgotten": "killed_after_replies",
    "keys_forgotten": "keys",
    "key_for_ever": "forgotten_keys",
    "key_of_another_body": "keys",
    "full_forgets_held": "full",
    "one_more": "full",
    "numbers_again": "killed_after_replies",
    "no_rank": "killed_after_replies",
    "no_lock": "one_server",
    "grows": "folder_size",
    "twice_listed": "taken_over",
    "old_takes": "taken_over",
    "long_ends": "lines",
}


def promised(seed, split="test"):
    dice = Dice("promise", seed)
    promise = draw_promise(dice, split)
    return promise, groups(promise, dice, ["billing", "catalog"])


def driven(folder, program, scenarios):
    """Return what the driver reports about a server."""
    (folder / "serve.py").write_text(program)
    (folder / "drive.py").write_text(DRIVER)
    forms = {name: scenario.form() for name, scenario in scenarios.items()}
    (folder / "held-out.json").write_text(json.dumps(forms))
    made = subprocess.run(
        [sys.executable, "drive.py"], cwd=folder, capture_output=True, check=True, timeout=100
    )
    return json.loads(made.stdout)


def quick(made):
    return {
        name: scenario
        for group, scenarios in made.items()
        for name, scenario in scenarios.items()
        if name in QUICK.get(group, ())
    }


def expected(promise, scenarios):
    return {name: scenario.expected(promise) for name, scenario in scenarios.items()}


@pytest.mark.parametrize("made", [program_text, alternative_text])
def test_both_servers_do_what_the_model_says(tmp_path, made):
    promise, scenarios = promised(1)
    few = quick(scenarios)
    assert driven(tmp_path, made(promise), few) == expected(promise, few)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_server_keeps_all_promises(tmp_path, seed):
    promise, scenarios = promised(seed)
    everything = {name: one for group in scenarios.values() for name, one in group.items()}
    assert driven(tmp_path, program_text(promise), everything) == expected(promise, everything)


def test_the_server_of_the_start_fails(tmp_path):
    promise, scenarios = promised(2)
    few = {name: scenarios["durable"][name] for name in ("keys", "killed_after_replies")}
    found = driven(tmp_path, starting_text(), few)
    assert all(found[name] != scenario.expected(promise) for name, scenario in few.items())


@pytest.mark.parametrize("fault", ["keys_forgotten", "numbers_again", "one_more", "old_takes"])
def test_a_broken_promise_shows(tmp_path, fault):
    assert_shows(tmp_path, fault)


@pytest.mark.slow
@pytest.mark.parametrize("fault", sorted(set(QUICK_FAULTS)))
def test_every_quick_broken_promise_shows(tmp_path, fault):
    assert_shows(tmp_path, fault)


def assert_shows(folder, fault):
    promise, scenarios = promised(3)
    name = QUICK_FAULTS[fault]
    one = {name: quick(scenarios)[name]}
    assert driven(folder, program_text(promise, fault), one) != expected(promise, one)


def test_every_near_miss_changes_the_program():
    promise, _ = promised(0)
    texts = {program_text(promise, name) for name in [*FAULTS, *promise.twists]}
    assert len(texts) == len(FAULTS) + len(promise.twists)
    assert program_text(promise) not in texts


def test_the_last_two_kinds_are_kept_for_the_test_split():
    early = set().union(*(promised(seed, "dev")[0].twists for seed in range(30)))
    late = set().union(*(promised(seed)[0].twists for seed in range(30)))
    assert late == set(TWISTS) and set(TWISTS) - early == {"any_queue", "after"}


def test_what_is_promised_stands_in_the_documents():
    promise, _ = promised(5)
    text = "\n".join(documents(promise, ["ada", "boris", "clara", "hugo"]).values())
    for number in (promise.limit, promise.keys, promise.takes, promise.rest):
        assert f" {number} " in text
    words = {"renew": "RENEW", "ttl": "ttl=", "after": "after=ID", "any_queue": "TAKE *"}
    for twist, word in words.items():
        assert (word in text) == promise.has(twist)


def test_the_model_by_hand():
    promise, _ = promised(0)
    steps = [
        ("send", "PUT a rank=1 x y\nPUT a key=k z\nPUT a key=k z\nPUT a key=k other"),
        ("send", "TAKE a 9"),
        ("send", "DONE 1 $1\nDONE 1 $1\nDONE 2 $1\nFAIL 2 $1\nSTATS a\nNOISE"),
    ]
    assert replies(promise, steps) == [
        "OK 1", "OK 2", "OK 2", "ERR key", "JOB 1 $1 1 x y",
        "OK", "OK", "OK", "STALE", "STATS 1 0 0 0", "ERR command",
    ]  # fmt: skip
