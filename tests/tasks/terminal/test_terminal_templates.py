"""Generated tasks: pure functions of their address, complete, distinct across seeds and splits."""

import json
import subprocess
import sys

import pytest

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import SPLITS, Task
from hexathlon.tasks.taskset import TaskSet
from hexathlon.tasks.terminal.dice import Cast, Dice
from hexathlon.tasks.terminal.harbor import read_harbor
from hexathlon.tasks.terminal.opening import content_digest, native_checks
from hexathlon.tasks.terminal.source import draft_of, files_of
from hexathlon.tasks.terminal.templates.catalogue import all_templates

SOURCE = get_source("terminal")
ALL_STRATA = [(name, level) for name, item in all_templates().items() for level in item.levels]
STRATA = [pair for pair in ALL_STRATA if not pair[0].startswith("shift_")]
"""Tasks of one step; shifts have their own tests."""


def task(name: str, level: str, index: int = 0, split: str = "test") -> Task:
    return SOURCE.build(f"terminal/{name}/{level}/{split}/{index:05d}")


def test_there_are_thirty_templates_and_all_levels():
    assert len(all_templates()) >= 30
    assert {level for _, level in STRATA} == {"tiny", "easy", "medium", "hard"}


def test_a_prefix_of_a_split_covers_every_stratum_once():
    tasks = TaskSet("terminal")
    found = [tuple(name.split("/")[1:3]) for name in tasks.ids(len(ALL_STRATA))]
    assert sorted(found) == sorted(ALL_STRATA)


@pytest.mark.parametrize(("name", "level"), STRATA)
def test_a_template_is_complete(name, level):
    one = task(name, level)
    draft, files = draft_of(one), files_of(one)
    assert len(draft.mutants) >= 3 and draft.alternatives
    read = read_harbor(name, files)
    assert read.steps[0].instruction == one.instruction.strip()
    checks = native_checks(read.steps[0].tests)
    assert checks is not None
    expected = [f"keep:{path}" for path in checks["keep"]] + [p["id"] for p in checks["probes"]]
    assert one.checks[0].params["tests"] == {"": expected}


@pytest.mark.parametrize(("name", "level"), STRATA)
def test_the_agents_files_contain_no_truth(name, level):
    one = task(name, level)
    files = files_of(one)
    seen = b"\n".join(data for path, data in files.items() if path.startswith("environment/"))
    assert one.canary.encode() in files["tests/checks.json"]
    assert one.canary.encode() not in seen and one.canary not in one.instruction
    for probe in json.loads(files["tests/checks.json"])["probes"]:
        text = probe["expect"].get("text", "")
        if len(text) > 60:
            assert text.strip().encode() not in seen, probe["id"]


@pytest.mark.parametrize("name", sorted({name for name, _ in STRATA}))
def test_seeds_make_different_tasks(name):
    level = all_templates()[name].levels[-1]
    drafts = [draft_of(task(name, level, index)) for index in range(3)]
    assert len({draft.solution for draft in drafts}) == 3
    assert len({json.dumps([dict(p.expect) for p in draft.probes]) for draft in drafts}) == 3


def test_the_same_bytes_in_another_process():
    names = [f"terminal/{name}/{level}/test/00001" for name, level in ALL_STRATA[::7]]
    here = [content_digest(files_of(SOURCE.build(each))) for each in names]
    code = (
        "import json, sys\n"
        "from hexathlon.tasks.registry import get_source\n"
        "from hexathlon.tasks.terminal.opening import content_digest\n"
        "from hexathlon.tasks.terminal.source import files_of\n"
        "source = get_source('terminal')\n"
        "names = json.loads(sys.argv[1])\n"
        "print(json.dumps([content_digest(files_of(source.build(n))) for n in names]))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "99", "PATH": "/usr/bin:/bin"},
    )
    assert json.loads(out.stdout) == here


def test_splits_share_no_names():
    for kind in ("person", "host", "service", "place", "thing", "key"):
        pools = [set(Cast(Dice("x"), split).names(kind, 99)) for split in SPLITS]
        assert all(len(pool) >= 8 for pool in pools), kind
        for place, pool in enumerate(pools):
            for other in pools[place + 1 :]:
                assert not pool & other, kind


def test_heldout_tasks_need_their_salt():
    address = "terminal/log_zones/easy/heldout/00000"
    with pytest.raises(UnknownTask, match="salt"):
        SOURCE.build(address)
    one, other = (SOURCE.build(address, salt) for salt in ("one", "other"))
    assert one.seed != other.seed


@pytest.mark.parametrize(
    "wrong",
    ["terminal/log_zones/tiny/test/00000", "terminal/none/easy/test/00000",
     "terminal/log_zones/easy/test/00006", "terminal/log_zones/easy/test/6"],
)  # fmt: skip
def test_unknown_ids_are_refused(wrong):
    with pytest.raises(UnknownTask):
        SOURCE.build(wrong)
