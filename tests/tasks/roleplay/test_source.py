"""The source: ids, purity, both derivations, the scripts of every template and level."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay import assembling
from hexathlon.tasks.roleplay.assembling import Unsound, draw_stage
from hexathlon.tasks.roleplay.hearing import VisitorListener
from hexathlon.tasks.roleplay.reading import CardReader, Ruling, disagreement
from hexathlon.tasks.roleplay.scenes.compose import SCENES
from hexathlon.tasks.roleplay.telling import instruction
from hexathlon.tasks.roleplay.templates.catalogue import DIALOGUES, GAMES
from hexathlon.tasks.roleplay.templates.inquiry import read_papers
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import LEVELS
from support.scenes import build, play, right

TEMPLATES = (*DIALOGUES, *GAMES)
CASES = [
    f"roleplay/{template}/{level}/test/{index:05d}"
    for template in TEMPLATES
    for level in LEVELS
    for index in (0, 1)
]


@pytest.mark.parametrize("task_id", CASES)
def test_scripts_score_as_declared(task_id):
    source, task = get_source("roleplay"), build(task_id)
    assert play(task, right(task))[1].score == 1.0
    alternatives = source.alternatives(task)
    assert alternatives
    for name, script in alternatives.items():
        assert play(task, list(script))[1].score == 1.0, name
    mutants = source.mutants(task)
    assert len(mutants) >= 3
    for name, script in mutants.items():
        assert play(task, list(script))[1].score == 0.0, name


@pytest.mark.parametrize("task_id", CASES)
def test_thoughts_quote_the_card_or_say_that_it_is_silent(task_id):
    source, task = get_source("roleplay"), build(task_id)
    actions = right(task)
    thoughts = [source.thought(task, [""] * (place + 1), act) for place, act in enumerate(actions)]
    lines = task.instruction.splitlines()
    assert all(thought in ("", *lines) or "?" in thought for thought in thoughts)
    if parse_address(task_id).template == "boundary":
        unknown = [json.loads(act)["arguments"].get("reason") == "not_known" for act in actions]
        silent = [bool(thought) and thought not in lines for thought in thoughts]
        assert any(thought in lines for thought in thoughts)
        assert all(known or not quiet for known, quiet in zip(unknown, silent, strict=True))


def test_a_prefix_covers_templates_levels_and_languages():
    source = get_source("roleplay")
    count = 2 * len(TEMPLATES) * (len(LEVELS) + 1)
    ids = [source.address("test", i) for i in range(count)]
    assert len(set(ids)) == count
    assert {parse_address(one).template for one in ids} == {*TEMPLATES, *SCENES}
    assert {parse_address(one).level for one in ids} == set(LEVELS)
    languages = [build(one).params["language"] for one in ids]
    assert abs(languages.count("en") - languages.count("zh")) <= 2
    assert source.size("test") >= 1_000 and source.size("train") is None
    assert source.size("test", "hard") * 5 == source.size("test") * 2


def test_every_other_hard_task_is_a_scene_and_every_id_is_built_once():
    source = get_source("roleplay")
    ids = [source.address("test", i, "hard") for i in range(source.size("test", "hard"))]
    scenes = [parse_address(one).template in SCENES for one in ids]
    assert scenes == [False, True] * (len(ids) // 2)
    assert len(set(ids)) == len(ids)
    assert {source.address("test", i) for i in range(source.size("test"))} >= set(ids)
    for one in ids[-2:]:
        assert source.build(one).id == one
    with pytest.raises(UnknownTask):
        source.build("roleplay/scene_fair/hard/test/00072")


def test_every_task_names_the_rubric_for_judges():
    for name in ("roleplay", "roleplay-shift"):
        source = get_source(name)
        for index in range(len(TEMPLATES)):
            task = build(source.address("test", index))
            assert get_rubric(task.rubric).id == "roleplay"
            assert all(check.name != "roleplay_judged" for check in task.checks)


def test_every_dialogue_mixes_needs():
    for index in range(56):
        task = build(get_source("roleplay").address("dev", index))
        if task.params["mode"] == "dialogue":
            acts = {beat["act"] for beat in task.checks[0].params["beats"]}
            assert len(acts) >= 2, task.id


@pytest.mark.parametrize(
    "task_id",
    [
        "roleplay/nothing/tiny/test/00000", "roleplay/memory/tiny/test/0", "roleplay/memory",
        "roleplay/memory/tiny/test/99999", "roleplay/memory/tiny/heldout/00000",
        "sql/memory/tiny/test/00000",
    ],
)  # fmt: skip
def test_ids_that_do_not_exist(task_id):
    with pytest.raises(UnknownTask):
        get_source("roleplay").build(task_id)


def test_the_held_out_split_depends_on_its_salt():
    source, task_id = get_source("roleplay"), "roleplay/memory/easy/heldout/00001"
    one, same, other = (source.build(task_id, salt) for salt in ("a", "a", "b"))
    assert one.hash == same.hash != other.hash


def test_tasks_are_the_same_in_every_process():
    code = (
        "from hexathlon.tasks.registry import get_source; s = get_source('roleplay');"
        "print([s.build(s.address('test', i)).hash for i in range(36)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def stage_of(task_id):
    task = build(task_id)
    return task, draw_stage(parse_address(task_id), task.seed)


@pytest.mark.parametrize("template", ["boundary", "timepoint", "consistency", "style"])
@pytest.mark.parametrize("index", range(4))
def test_the_reader_decides_most_beats_and_agrees(template, index):
    task, stage = stage_of(f"roleplay/{template}/hard/test/{index:05d}")
    reader = CardReader(
        task.instruction, stage.card["setting"], stage.language, stage.card["words"]
    )
    asked = [beat for beat in stage.beats if beat.query]
    assert len(asked) >= len(stage.beats) / 2
    assert not any(disagreement(reader.rule(beat.query), beat) for beat in asked)


def test_the_reader_disagrees_with_a_wrong_intention():
    _, stage = stage_of("roleplay/boundary/hard/test/00000")
    reader = CardReader(
        instruction(stage.card), stage.card["setting"], stage.language, stage.card["words"]
    )
    for beat in stage.beats:
        ruling = reader.rule(beat.query)
        assert disagreement(ruling, replace(beat, act="say"))
        if beat.value:
            assert disagreement(ruling, replace(beat, value=("nobody",)))
        if beat.reasons:
            assert disagreement(ruling, replace(beat, reasons=("secret",)))


def test_a_template_that_never_agrees_is_reported(monkeypatch):
    monkeypatch.setattr(assembling, "_problem", lambda *_: "they differ")
    with pytest.raises(Unsound, match="they differ"):
        draw_stage.__wrapped__(parse_address("roleplay/boundary/tiny/test/00000"), 1)


def test_the_listener_follows_tellings_changes_and_mix_ups():
    listener = VisitorListener("en", {"currency": "marks"})
    for line in (
        "My dog is called Old Moss. My brother's dog is called Sir Barrel.",
        "My fare came to 12 marks.",
        "Oh dear, as to the dog's name, I gave you mine for my brother's and his for mine.",
        "I must correct myself. My fare came to 14 marks.",
    ):
        listener.hear(line)
    assert listener.rule({"told": ("own", "dog")}) == Ruling("answer", "Sir Barrel")
    assert listener.rule({"told": ("brother", "dog")}) == Ruling("answer", "Old Moss")
    assert listener.rule({"told": ("own", "fare"), "claim": "12"}) == Ruling("correct", "14")
    assert listener.rule({"told": ("own", "bag")}) == Ruling("refuse", reason="not_known")


def test_papers_are_read_by_the_visitor_s_own_tags():
    bell = "At the evening bell every tag was changed once:"
    before, after = (
        f"The porter notes, {when} the evening bell: the bearer of tag"
        for when in ("before", "after")
    )
    papers = [
        "At the gate every guest got a number tag. This visitor was given tag 41.",
        f"{bell} guests with tag 17 were given tag 41 instead.",
        f"{bell} guests with tag 41 were given tag 52 instead.",
        f"{after} 52 paid 10 marks and later 7 marks.",
        f"{before} 52 came in by way of Gullwick.",
        f"{before} 41 had an amber comb in the luggage.",
        f"{after} 41 was served cold eel for supper.",
    ]
    assert read_papers(papers, "en", "marks") == {"payment": "17", "luggage": "amber comb"}


def test_arrivals_are_noted_before_the_bell_that_changes_tags():
    for language in (0, 1):
        for index in range(language, 24, 2):
            task = build(f"roleplay/interrogation/hard/test/{index:05d}")
            lines = [
                line for line in task.instruction.splitlines() if "porter" in line or "门房" in line
            ]
            assert len(lines) >= 10
            timed = [("before the evening" in x or "晚钟之前" in x, x) for x in lines]
            assert all(early or "after the evening" in x or "晚钟之后" in x for early, x in timed)
            arrivals = [
                early for early, x in timed if "came in by" in x or "过来" in x or "luggage" in x
            ]
            assert all(arrivals)
