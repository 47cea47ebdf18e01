import re
from typing import Any

import pytest

from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.gui.desktop.source import DesktopSource
from hexathlon.tasks.gui.desktop.table import TEMPLATES, templates_of
from hexathlon.tasks.task import LEVELS, Task

SOURCE = DesktopSource()
PLACES = [(level, at) for level in LEVELS for at in range(2 * len(templates_of(level)))]


def untouched(*reports: dict[str, str]) -> dict[str, Any]:
    return {"files": {}, "deleted": [], "cut": False, "reports": list(reports)}


def report(status: str, answer: str = "", reason: str = "", record: str = "") -> dict[str, str]:
    return {"status": status, "answer": answer, "reason": reason, "record": record}


def checks(task: Task) -> dict[str, Any]:
    return dict(task.checks[0].params)


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_building_is_pure_and_needs_work(split):
    for level, at in PLACES:
        task_id = SOURCE.address(split, at, level)
        task = SOURCE.build(task_id)
        assert task.hash == DesktopSource().build(task_id).hash
        assert verify(task, untouched(report("complete")), ()).score == 0.0, task_id
        wanted = checks(task)
        initial = task.params["desktop"]["files"]
        for path, each in wanted["changed"].items():
            assert path not in initial or initial[path].get("text") != each.get("content")
        for path in wanted["deleted"]:
            assert path in initial, path


def test_twins_differ_in_a_fact_of_the_world_only():
    twins = 0
    for level, at in PLACES:
        if at % 2 or not TEMPLATES[SOURCE.build(SOURCE.address("train", at, level)).template].twins:
            continue
        for number in range(6):
            step = 2 * len(templates_of(level)) * number
            ids = [SOURCE.address("train", at + side + step, level) for side in (0, 1)]
            pair = [SOURCE.build(each) for each in ids]
            assert pair[0].instruction == pair[1].instruction
            assert pair[0].twin == pair[1].id and pair[1].twin == pair[0].id
            files = [task.params["desktop"]["files"] for task in pair]
            assert files[0].keys() == files[1].keys() and files[0] != files[1]
            refused = [checks(task)["refusal"] for task in pair]
            assert sum(each is None for each in refused) == 1
            record = next(each for each in refused if each is not None)["record"]
            assert record not in pair[0].instruction, "the record must be found in the world"
            twins += 1
    assert twins >= 20


def test_the_side_of_a_twin_is_drawn():
    names = templates_of("easy")
    place = names.index("archive-paper")
    sides = [
        checks(SOURCE.build(SOURCE.address("train", 2 * (place + len(names) * number), "easy")))
        ["refusal"] is None
        for number in range(24)
    ]  # fmt: skip
    assert 4 <= sum(sides) <= 20


def actions_of(script: Any) -> list[str]:
    heard: list[str] = []
    try:
        heard.append(next(script))
        while True:
            heard.append(script.send("[0] frame"))
    except StopIteration:
        return heard


def test_trivial_users_score_next_to_nothing():
    scores: dict[str, list[float]] = {}
    for split in ("dev", "test"):
        for level, at in PLACES:
            task = SOURCE.build(SOURCE.address(split, at, level))
            for name, script in SOURCE.policies(task).items():
                said = " ".join(actions_of(script))
                answer = re.search(r'"answer", "arguments": {"text": "(.*?)"', said)
                reason = re.search(r'"reason": "(.*?)"', said)
                status = "infeasible" if "infeasible" in said else "complete"
                given = report(status, answer[1] if answer else "", reason[1] if reason else "")
                scores.setdefault(name, []).append(verify(task, untouched(given), ()).score)
    assert set(scores) == {"complete", "infeasible", "answers a word"}
    for name, each in scores.items():
        assert sum(each) / len(each) <= 0.02, name


def test_splits_share_no_people_goods_or_places():
    from hexathlon.tasks.gui.desktop import words

    for values in (words.PEOPLE, words.GOODS, words.PLACES, words.TOPICS):
        assert len(set(values)) == len(values)
        shares = [set(words.shared(values, split)) for split in ("train", "dev", "test", "heldout")]
        assert sum(map(len, shares)) == len(set().union(*shares))
        assert min(map(len, shares)) >= 8
