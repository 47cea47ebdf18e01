"""OSWorld's task files: every field is known, and every requirement is named."""

import json
import shutil

import pytest

from hexathlon.evaluators.gui.osworld.check import METRICS
from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.gui.loaders.osworld import OsworldSource, osworld_tasks
from hexathlon.tasks.gui.loaders.osworld_format import parse_osworld_task
from hexathlon.tasks.gui.loaders.osworld_needs import METRIC_NAMES, needs_of

ENTRY = {
    "id": "made-1",
    "snapshot": "gimp",
    "instruction": "Crop the picture.",
    "source": "made",
    "config": [
        {
            "type": "download",
            "parameters": {"files": [{"url": "http://x/a.png", "path": "/a.png"}]},
        },
        {"type": "launch", "parameters": {"command": ["gimp", "/a.png"]}},
    ],
    "trajectory": "trajectories/",
    "related_apps": ["gimp", "OS"],
    "evaluator": {
        "func": ["check_image_size", "compare_pdfs"],
        "conj": "or",
        "result": [{"type": "vm_file", "path": "/a.png", "dest": "a.png"}, None],
        "expected": [
            {"type": "rule", "rules": {"width": 5}},
            {"type": "cloud_file", "path": "http://x/gold.pdf", "dest": "gold.pdf"},
        ],
        "options": [{}, None],
        "postconfig": [{"type": "sleep", "parameters": {"seconds": 1}}],
    },
    "proxy": True,
    "fixed_ip": False,
    "possibility_of_env_change": "low",
}


RUNNING = 48
"""Tasks of the shared file that need nothing but their applications."""


def changed(**fields):
    return {**ENTRY, **fields}


def test_a_task_file_becomes_a_record():
    task = parse_osworld_task(ENTRY, "gimp")
    assert [step.type for step in task.config] == ["download", "launch"]
    assert task.evaluator.func == ("check_image_size", "compare_pdfs")
    assert task.evaluator.conj == "or" and task.evaluator.options == ({}, {})
    assert task.evaluator.result[1] is None


def test_requirements_are_named():
    needs = needs_of(parse_osworld_task(ENTRY, "gimp"))
    assert needs.applications == ("gimp", "gnome")
    assert needs.downloads == ("http://x/a.png", "http://x/gold.pdf")
    assert needs.online == ("proxy",) and needs.metrics == ("compare_pdfs",)
    assert needs.missing({"gimp"}) == (
        "application: gnome", "download: 2 files", "online: proxy", "metric: compare_pdfs",
    )  # fmt: skip


WRONG = [
    (changed(colour="red"), "colour"),
    (changed(config=[{"type": "dance", "parameters": {}}]), "setup step 'dance' is unknown"),
    (
        changed(config=[{"type": "sleep", "parameters": {"hours": 1}}]),
        "unknown parameters ['hours']",
    ),
    (changed(evaluator={"func": "exact_match", "result": {"type": "mind"}}), "getter 'mind'"),
    (changed(evaluator={"func": "x", "conj": "xor"}), "conj"),
    (changed(evaluator={}), "expected the field 'func'"),
    ({key: value for key, value in ENTRY.items() if key != "instruction"}, "instruction"),
]


@pytest.mark.parametrize(("entry", "problem"), WRONG)
def test_an_unknown_field_is_an_error_that_names_the_task(entry, problem):
    with pytest.raises(MissingData) as caught:
        parse_osworld_task(entry, "gimp")
    assert "OSWorld task made-1" in str(caught.value) and problem in str(caught.value)


def test_the_implemented_metrics_are_those_that_the_requirements_assume():
    assert set(METRICS) | {"infeasible"} == METRIC_NAMES


def test_every_published_task_is_read(shared_data):
    tasks = osworld_tasks(shared_data / "osworld")
    assert len(tasks) == 50 and len({task.id for task in tasks}) == 50
    missing = {task.id: needs_of(task).missing(needs_of(task).applications) for task in tasks}
    blocked = {reason for reasons in missing.values() for reason in reasons}
    assert {reason.partition(":")[0] for reason in blocked} == {"online"}
    assert any("extension marketplace" in reason for reason in blocked)
    assert sum(not reasons for reasons in missing.values()) == RUNNING
    assert sum(task.evaluator.func == ("infeasible",) for task in tasks) == 13


def test_both_layouts_give_the_same_tasks(shared_data, tmp_path):
    published = json.loads((shared_data / "osworld" / "no_download_tasks.json").read_text("utf-8"))
    for domain, rows in published.items():
        folder = tmp_path / "evaluation_examples" / "examples" / domain
        folder.mkdir(parents=True)
        for row in rows:
            (folder / f"{row['id']}.json").write_text(json.dumps(row), "utf-8")
    (tmp_path / "evaluation_examples" / "test_all.json").write_text("{}", "utf-8")
    assert osworld_tasks(tmp_path) == osworld_tasks(shared_data / "osworld")


def test_the_source_builds_every_task(shared_data):
    source = OsworldSource(shared_data / "osworld")
    ids = [source.address("test", index) for index in range(source.size("test"))]
    assert len(set(ids)) == 50 and source.size("train") == 0
    assert len({each.split("/")[1] for each in ids[:5]}) == 5
    tasks = [source.build(each) for each in ids]
    assert all(task.checks[0].name == "osworld" for task in tasks)
    assert source.fingerprint() == OsworldSource(shared_data / "osworld").fingerprint()
    with pytest.raises(UnknownTask, match="osworld has no such task"):
        source.build("osworld/gimp/medium/test/00049")


def test_a_folder_without_tasks_is_named(tmp_path):
    with pytest.raises(MissingData, match="there are no OSWorld tasks below"):
        osworld_tasks(tmp_path)
    (tmp_path / "tasks.json").write_text("[1]", "utf-8")
    with pytest.raises(MissingData, match="contains no OSWorld task"):
        osworld_tasks(tmp_path)
    shutil.rmtree(tmp_path)
