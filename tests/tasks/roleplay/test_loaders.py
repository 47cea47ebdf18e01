"""Loaders of public sets: on real files if available, else on small ones in the same format."""

import json
from pathlib import Path

import pytest

from hexathlon.envs.roleplay.env import RolePlayEnv
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.roleplay.loaders.characterbench import CharacterBenchSource
from hexathlon.tasks.roleplay.loaders.charactereval import CharacterEvalSource
from hexathlon.tasks.roleplay.loaders.coser import CoSERSource
from hexathlon.tasks.roleplay.loaders.loaded import BadData
from hexathlon.tasks.roleplay.loaders.personagym import PersonaGymSource
from hexathlon.tasks.roleplay.loaders.pingpong import PingPongSource
from hexathlon.tasks.roleplay.loaders.rolebench import RoleBenchSource
from hexathlon.tasks.roleplay.loaders.rolemrc import RoleMRCSource

SOURCES = (
    PersonaGymSource, PingPongSource, CharacterEvalSource, CharacterBenchSource, RoleBenchSource,
    RoleMRCSource, CoSERSource,
)  # fmt: skip


def write(root: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, "utf-8")
    return root


def tasks_of(source):
    return [source.build(source.address("test", i)) for i in range(source.size("test"))]


@pytest.fixture
def published(shared_data):
    def folder(name: str) -> Path:
        if not (shared_data / name).is_dir():
            pytest.skip(f"the public data folder holds no {name}/")
        return shared_data / name

    return folder


def test_personagym_in_small(tmp_path):
    root = write(tmp_path, {"questions.json": {
        "A 60-year-old ferrywoman from the delta": {"Action Justification": ["Why row?"],
                                                    "Toxicity": ["And if I insult you?"]},
        "An apprentice baker": {"Toxicity": ["Your bread is bad."]},
    }})  # fmt: skip
    tasks = tasks_of(PersonaGymSource(root))
    assert [task.template for task in tasks] == ["action_justification", "toxicity", "toxicity"]
    assert tasks[0].instruction.startswith("You play a 60-year-old ferrywoman from the delta.")
    assert [line["text"] for line in tasks[2].params["lines"]] == ["Your bread is bad."]
    folder = write(tmp_path / "split", {"questions/benchmark-v1/A potter.json": {"T": ["Clay?"]}})
    assert tasks_of(PersonaGymSource(folder))[0].params["character"] == "a potter"


def test_personagym_as_published(published):
    source = PersonaGymSource(published("personagym"))
    assert source.size("test") == 6_000 and source.size("dev") == 0
    task = source.build(source.address("test", 123))
    assert len(task.params["lines"]) == 1 and task.rubric == "roleplay"


PINGPONG = {"en": {
    "characters": [{"char_name": "Nell", "system_prompt": "Nell mends nets.",
                    "example_prompt": "User: hi", "greeting": "Mind the nets!", "summary": "x"}],
    "situations": [{"tags": ["bio", "long"], "text": "Ask about her life.", "num_turns": 8},
                   {"tags": ["undress_light"], "text": "…", "num_turns": 4}],
}}  # fmt: skip


def test_pingpong_in_small(tmp_path):
    (task,) = tasks_of(PingPongSource(write(tmp_path, {"settings_v2.json": PINGPONG})))
    assert task.template == "bio" and task.params["manner"] == "Ask about her life."
    assert len(task.params["lines"]) == 8 and "Nell: Mind the nets!" in task.instruction


def test_pingpong_as_published(published):
    source = PingPongSource(published("pingpong"))
    assert source.size("test") == 56


CHARACTEREVAL = {
    "test_data.jsonl": [{"id": 7, "role": "阿宁", "novel_name": "无名",
                         "context": "老王：你去哪儿？\n阿宁：码头。\n老王：带上我：行吗？"}],
    "character_profiles.json": {"阿宁": {"姓名": "阿宁", "身份": "船工"}},
    "id2metric.jsonl": {"7": [["Fluency", "流畅性"], ["Empathy", "共情"]]},
}  # fmt: skip


def test_charactereval_in_small(tmp_path):
    (task,) = tasks_of(CharacterEvalSource(write(tmp_path, CHARACTEREVAL)))
    assert task.params["language"] == "zh" and "身份：船工" in task.instruction
    assert task.params["lines"] == [{"text": "老王：带上我：行吗？"}]
    assert task.params["facts"] == {"id": 7, "metrics": ["Fluency", "Empathy"]}
    assert "阿宁: 码头。" in task.instruction


def test_charactereval_refuses_a_context_that_the_character_ends(tmp_path):
    rows = [{"id": 1, "role": "阿宁", "novel_name": "无名", "context": "阿宁：我走了。"}]
    root = write(tmp_path, {**CHARACTEREVAL, "test_data.jsonl": rows})
    with pytest.raises(BadData, match="context 1"):
        CharacterEvalSource(root).size("test")


def turn(speaker, text):
    return {"turn": 1, "speaker": speaker, "utterance": text}


def test_characterbench_in_small(tmp_path):
    row = {
        "character_name": "阿宁", "character_profile": "船工。", "user_name": "None", "id": 3,
        "greeting": "上船吗？",
        "dialogue": [turn("user", "你好"), turn("character", "你好。"), turn("user", "去哪？")],
        "translation_en": {
            "character_name": "Ning", "character_profile": "A boatman.", "user_name": "None",
            "greeting": "Coming aboard?", "dialogue": [turn("user", "Where to?")],
        },
    }  # fmt: skip
    source = CharacterBenchSource(write(tmp_path, {"memory_consistency_test.json": [row]}))
    chinese, english = tasks_of(source)
    assert chinese.template == "memory_consistency_zh" and "上船吗？" in chinese.instruction
    assert english.params["lines"] == [{"text": "Where to?"}]
    assert english.params["facts"]["dimension"] == "memory_consistency"


def test_rolebench_and_its_own_rule(tmp_path):
    rows = [{"role": "Nell", "question": "Who are you?", "type": "general",
             "generated": ["I am Nell, I mend nets.", "Nell."]}]  # fmt: skip
    lines = "\n".join(json.dumps(row) for row in rows)
    root = write(tmp_path, {
        "rolebench-eng/role-generalization/general/test.jsonl": lines,
        "rolebench-zh/general/test.jsonl": lines,
        "profiles/desc.json": {"Nell": "A mender of nets."},
    })  # fmt: skip
    english, chinese = tasks_of(RoleBenchSource(root))
    assert (english.params["language"], chinese.params["language"]) == ("en", "zh")
    assert "A mender of nets." in english.instruction
    said = {"act": "say", "reply": "I am Nell, I mend nets."}
    verdict = verify(english, {"turns": [said]}, ())
    assert verdict.status == "unscored" and verdict.terms["rouge_l"] == 1.0
    assert verify(english, {"turns": []}, ()).terms["rouge_l"] == 0.0


def test_rolemrc_in_small(tmp_path):
    row = {
        "question": [
            {"role": "System", "content": "You are Nell. Passage: nets."},
            {"role": "User", "content": "Who mends?"}, {"role": "Assistant", "content": "I do."},
            {"role": "User", "content": "With what?"},
        ],
        "reference": "With hemp.", "task": "on-scene MRC with answer",
    }  # fmt: skip
    (task,) = tasks_of(RoleMRCSource(write(tmp_path, {"roleMRC_test.jsonl": json.dumps(row)})))
    assert task.template == "on-scene_MRC_with_answer"
    assert task.params["lines"] == [{"text": "With what?"}]
    assert "assistant: I do." in task.instruction and "Passage: nets." in task.instruction


def test_coser_in_small(tmp_path):
    row = {
        "scenario": "A quay at dusk.", "topic": "The missing boat", "book": "None", "tag": "id",
        "key_characters": [{"name": "Nell", "thought": "I took it."},
                           {"name": "Old Tom", "thought": "She took it."}],
        "dialogues": [
            {"character": "Old Tom", "message": "[I know it.] Where is the boat?"},
            {"character": "Environment", "message": "A gull cries."},
            {"character": "Nell", "message": "[Calm.] Which boat?"},
            {"character": "Old Tom", "message": "Mine."},
            {"character": "Nell", "message": "(shrugs) Gone."},
        ],
        "character_profiles": {"Nell": "A net mender.", "Old Tom": "A boatman."},
    }  # fmt: skip
    nell, tom = tasks_of(CoSERSource(write(tmp_path, {"test_set.json": [row]})))
    said = [line["text"] for line in nell.params["lines"]]
    assert said == ["Old Tom: Where is the boat?\nEnvironment: A gull cries.", "Old Tom: Mine."]
    assert "I took it." in nell.instruction and "She took it." not in nell.instruction
    assert tom.params["character"] == "Old Tom" and len(tom.params["lines"]) == 1


def test_an_episode_of_a_loaded_set_ends_unscored(tmp_path):
    root = write(tmp_path, {"settings_v2.json": PINGPONG})

    class Small(PingPongSource):
        name = "pingpong-small"

    register_source("pingpong-small", lambda: Small(root))
    heard = []

    def interrogator(cue):
        heard.append(cue.manner)
        return f"Question {len(heard)}: {cue.manner}"

    env = RolePlayEnv(taskset="pingpong-small", split="test", partner=interrogator)
    env.reset(seed=0)
    info = {}
    for _ in range(8):
        observation, reward, _, _, info = env.step("I mend nets.")
    assert info["status"] == "error_judge" and reward == 0.0
    assert heard == ["Ask about her life."] * 8
    assert env.verdict().terms == {"answered": 1.0}


@pytest.mark.parametrize("kind", SOURCES)
def test_missing_or_broken_files_are_named(kind, tmp_path, monkeypatch):
    with pytest.raises(MissingData, match=str(tmp_path)):
        kind(tmp_path).size("test")
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    with pytest.raises(MissingData, match="HEXATHLON_DATA"):
        kind().size("test")


def test_broken_json_is_named(tmp_path):
    with pytest.raises(BadData, match="questions.json is not JSON"):
        PersonaGymSource(write(tmp_path, {"questions.json": "{"})).size("test")
    with pytest.raises(BadData, match="not JSON lines"):
        RoleMRCSource(write(tmp_path, {"roleMRC_test.jsonl": "{}\n{"})).size("test")


def test_unknown_ids_and_fingerprints(tmp_path):
    source = PersonaGymSource(write(tmp_path, {"questions.json": {"A b": {"T": ["q"]}}}))
    with pytest.raises(UnknownTask):
        source.build("personagym/t/medium/test/00001")
    other = PersonaGymSource(write(tmp_path / "2", {"questions.json": {"A b": {"T": ["r"]}}}))
    assert source.fingerprint() != other.fingerprint()
