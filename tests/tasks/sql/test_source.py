"""The source `sql`: addresses, splits, purity, secrecy."""

import json
import os
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.sql.source import PER_STRATUM, source
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import LEVELS, Task

SOURCE = source()
PROGRAM = """
import sys
from hexathlon.tasks.sql.source import source
made = source()
for task_id in sys.argv[1:]:
    print(made.build(task_id, "pepper" if "/heldout/" in task_id else None).hash)
"""
SAMPLE = [
    "sql/group_sum/easy/dev/00000",
    "sql/top_per_group/hard/test/00001",
    "sql/term_first/medium/train/00070",
    "sql/ask_threshold/easy/heldout/00002",
    "sql/write_upsert/medium/dev/00003",
    "sql/in_exactly_one/medium/test/00000",
    "sql/script_keep_versions/hard/test/00001",
    "sql/script_merge_imports/hard/heldout/00000",
    "sql/dialect_payloads/hard/test/00001",
    "sql/budget_latest/medium/heldout/00000",
]


def build(task_id: str) -> Task:
    return SOURCE.build(task_id, "pepper" if "/heldout/" in task_id else None)


def test_it_is_registered():
    assert get_source("sql").name == "sql"


def test_sizes_are_fixed_but_for_train():
    assert SOURCE.size("train") is None
    for split in ("dev", "test", "heldout"):
        assert SOURCE.size(split) >= 1_000
        assert sum(SOURCE.size(split, level) for level in LEVELS) == SOURCE.size(split)


def test_any_prefix_covers_levels_and_templates():
    strata = SOURCE.size("test") // PER_STRATUM["test"]
    levels = Counter(parse_address(SOURCE.address("test", n)).level for n in range(40))
    assert set(levels) == set(LEVELS)
    first = [SOURCE.address("test", n) for n in range(strata)]
    assert len({parse_address(task_id).template for task_id in first}) >= 53
    assert len(set(first)) == strata
    assert len({parse_address(SOURCE.address("test", n)).template for n in range(60)}) >= 18


def test_ids_are_the_same_with_and_without_a_level():
    every = {SOURCE.address("test", n) for n in range(SOURCE.size("test"))}
    assert len(every) == SOURCE.size("test")
    for level in LEVELS:
        count = SOURCE.size("test", level)
        assert {SOURCE.address("test", n, level) for n in range(count)} <= every


@pytest.mark.parametrize(
    ("task_id", "reason"),
    [
        ("sql/no_such/easy/test/00000", "no level"),
        ("sql/two_children/tiny/test/00000", "no level"),
        ("sql/group_sum/easy/test/00999", "holds"),
        ("sql/group_sum/easy/test/0", "form of"),
        ("shop/group_sum/easy/test/00000", "form of"),
        ("sql/group_sum/easy/heldout/00000", "salt"),
    ],
)
def test_unknown_ids_are_refused_with_the_reason(task_id: str, reason: str):
    with pytest.raises(UnknownTask, match=reason):
        SOURCE.build(task_id)


def test_only_the_held_out_split_takes_a_salt():
    with pytest.raises(UnknownTask, match="salt"):
        SOURCE.build("sql/group_sum/easy/test/00000", "pepper")


def test_the_salt_decides_the_held_out_tasks():
    task_id = "sql/group_sum/easy/heldout/00000"
    one, other = SOURCE.build(task_id, "pepper"), SOURCE.build(task_id, "salt")
    assert one.params["world"] != other.params["world"]
    assert "pepper" not in one.model_dump_json()


@pytest.mark.parametrize("task_id", SAMPLE)
def test_tasks_are_complete_and_plain(task_id: str):
    task = build(task_id)
    assert Task.model_validate_json(task.model_dump_json()).hash == task.hash
    assert task.id == task_id and task.family == "sql"
    assert task.params["backend"] == "sqlite"
    assert task.instruction and task.tools
    if task.params["mode"] == "read":
        assert len(task.params["hidden"]) >= (2 if "engine" in task.params else 5)


def test_the_canary_and_the_truth_are_not_visible_to_the_agent():
    for index in range(0, 90, 13):
        task = SOURCE.build(SOURCE.address("dev", index))
        shown = task.instruction + json.dumps([tool.model_dump() for tool in task.tools])
        assert task.canary and task.canary not in shown
        assert task.canary not in json.dumps(task.params)
        assert "SELECT" not in task.instruction
        gold = task.checks[0].params.get("gold")
        assert gold is None or gold not in json.dumps(task.params)


def _asked(task: Task) -> str:
    """The question with the user's answers to all questions."""
    slots = (task.params.get("user") or {}).get("slots") or {}
    return " ".join([task.instruction, *(slot["value"] for slot in slots.values())])


def test_splits_share_neither_databases_nor_questions():
    databases: dict[str, set[bytes]] = {}
    questions: dict[str, set[str]] = {}
    for split in ("train", "dev", "test"):
        tasks = [
            SOURCE.build(SOURCE.address(split, index, level))
            for level, count in (("tiny", 12), ("easy", 12), ("medium", 6), ("hard", 2))
            for index in range(count)
        ]
        databases[split] = {sha256(database_bytes(task.params)).digest() for task in tasks}
        questions[split] = {_asked(task) for task in tasks if task.params["mode"] == "read"}
    for left, right in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert not databases[left] & databases[right]
        assert not questions[left] & questions[right]


def test_levels_set_the_size():
    bounds = {
        "tiny": (10, 60),
        "easy": (60, 1_000),
        "medium": (900, 20_000),
        "hard": (2_000, 10**6),
    }
    sized = 0
    for level, (low, high) in bounds.items():
        for index in range(2 if level == "hard" else 5):
            task = SOURCE.build(SOURCE.address("dev", index * 8, level))
            size = task.params.get("size")  # questions about engines have databases of any level
            assert size is None or low <= size <= high
            sized += size is not None
    assert sized >= 12


def _hashes(python: str, hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[3] / "src")
    done = subprocess.run(
        [python, "-c", PROGRAM, *SAMPLE],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return done.stdout.split()


def test_two_processes_build_the_same_bytes():
    expected = [build(task_id).hash for task_id in SAMPLE]
    assert _hashes(sys.executable, "1") == expected
    assert _hashes(sys.executable, "77") == expected


def test_other_versions_of_python_build_the_same_bytes():
    others = [path for path in os.environ.get("HEXATHLON_OTHER_PYTHONS", "").split(":") if path]
    if not others:
        pytest.skip("HEXATHLON_OTHER_PYTHONS names no further interpreters with the dependencies")
    expected = [build(task_id).hash for task_id in SAMPLE]
    for python in others:
        assert _hashes(python, "5") == expected
