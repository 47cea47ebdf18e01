"""The role-play environment: acts, prose, silence, visitors who answer, voices, forks."""

import gymnasium
import pytest

from hexathlon.envs.roleplay.env import RolePlayEnv, make_vector
from hexathlon.envs.testing.kit import assert_conforms
from hexathlon.envs.users.listening import listen
from hexathlon.tasks.bilingual import LANGUAGES, BilingualText
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay.card import table
from hexathlon.tasks.roleplay.lexicon import SETTINGS, setting
from hexathlon.tasks.roleplay.templates.catalogue import DIALOGUES, GAMES
from support.scenes import build, call, play, right

MEMORY = "roleplay/memory/hard/test/00000"


def begun(task_id=MEMORY, **options):
    env = RolePlayEnv(**options)
    return env, env.reset(seed=0, options={"task": task_id})[0]


def test_it_conforms():
    assert_conforms("hexathlon/RolePlay-v1", fuzz=500, tasks=45, sample=18)


@pytest.mark.slow
def test_it_conforms_at_full_size():
    assert_conforms("hexathlon/RolePlay-v1", tasks=150)


@pytest.mark.parametrize("template", [*DIALOGUES, *GAMES])
def test_the_oracle_scores_one_in_messages_too(template):
    task = build(f"roleplay/{template}/medium/test/00001")
    env = gymnasium.make("hexathlon/RolePlay-v1", action_format="message")
    env.reset(seed=0, options={"task": task.id})
    reward = 0.0
    for action in right(task):
        if action.startswith("{"):
            from hexathlon.envs.messages import assistant_message, parse_text

            message = assistant_message(parse_text(action))
        else:
            message = {"role": "assistant", "content": action}
        reward = env.step(message)[1]
    assert reward == 1.0


def test_the_opening_contains_the_card_and_the_first_line():
    env, opening = begun()
    task = env.task
    assert opening == f"{task.instruction}\n\n{task.params['lines'][0]['text']}"
    assert "# Character" in opening and "# How to answer" in opening


def test_prose_is_said_aloud_and_silence_is_not():
    env, _ = begun()
    assert env.step("  ")[0] == "(You said nothing. Say something.)"
    assert env.step(call("say", reply="\n"))[0] == "(You said nothing. Say something.)"
    assert env.final_state()["turns"] == []
    env.step("Good evening to you.")
    assert env.final_state()["turns"][0]["reply"] == "Good evening to you."


def test_a_malformed_act_changes_nothing():
    env, _ = begun()
    for action in (
        '{"name": "answer", "arguments": {"reply": "x"}}',
        '{"name": "refuse"',
        call("refuse", reply="no", reason="tired"),
        call("offer", reply="x", amount=1),
    ):
        assert env.step(action)[0].startswith("Error:")
    assert env.final_state()["turns"] == []


def test_visitors_answer_what_they_are_asked_about_themselves():
    for index in range(20):
        env, _ = begun(f"roleplay/memory/hard/test/{2 * index:05d}")
        slots = (env.task.params["agenda"] or {"slots": {}})["slots"]
        if "dog" in slots:
            heard = env.step("What is your dog called?")[0]
            assert str(slots["dog"]["value"]) in heard
            assert heard.endswith(env.task.params["lines"][1]["text"])
            return
    raise AssertionError("no visitor keeps a dog")


def test_a_fork_is_independent():
    for task_id in (
        MEMORY,
        "roleplay/negotiation/hard/test/00000",
        "roleplay/interrogation/hard/test/00000",
    ):
        env, _ = begun(task_id)
        actions = right(env.task)
        for action in actions[:3]:
            env.step(action)
        left, other = env.fork(2)
        other.step("I must go.")
        for action in actions[3:]:
            step, beside = env.step(action), left.step(action)
            assert step[:4] == beside[:4]
        assert step[1] == 1.0
        assert other.final_state()["turns"] != env.final_state()["turns"][:4]


def test_a_restored_episode_needs_no_history():
    env, _ = begun()
    actions = right(env.task)
    for action in actions[:5]:
        env.step(action)
    fresh, _ = begun("roleplay/negotiation/tiny/test/00000")
    fresh.restore(env.snapshot())
    assert [fresh.step(a)[:2] for a in actions[5:]] == [env.step(a)[:2] for a in actions[5:]]


def test_a_vector_plays_several_scenes():
    vector = make_vector(2)
    observations, _ = vector.reset(seed=[1, 2])
    assert len(observations) == 2
    vector.close()


def test_a_voice_rewords_lines_and_the_task_stays_checkable():
    cues = []

    def voice(cue):
        cues.append(cue)
        return f"{cue.line} (so they say)" if cue.language == "en" else f"{cue.line}（他们说）"

    for template in (*DIALOGUES, *GAMES):
        task = build(f"roleplay/{template}/medium/test/00000")
        heard, verdict = play(task, right(task), partner=voice)
        assert verdict.score == 1.0, template
        assert any("(so they say)" in text or "（他们说）" in text for text in heard)
    assert any(cue.said for cue in cues) and {cue.language for cue in cues} == {"en"}


@pytest.mark.parametrize(
    "spoken", ["", "   ", "Something else entirely.", '{"name": "say"}', "x" * 2_000]
)
def test_a_rewording_that_changes_facts_is_discarded(spoken):
    task = build("roleplay/memory/tiny/test/00000")
    scripted = play(task, right(task))[0]
    kept = [bool(line["keep"]) for line in task.params["lines"]]
    voiced = play(task, right(task), partner=lambda cue: spoken)[0]
    for place, must in enumerate(kept):
        if must:
            assert voiced[place].endswith(task.params["lines"][place]["text"])
    assert len(voiced) == len(scripted)


def test_a_voice_may_not_reveal_hidden_values():
    task = build("roleplay/negotiation/hard/test/00000")
    slots = task.params["agenda"]["slots"]
    env, _ = begun(task.id, partner=lambda cue: f"It is worth {slots['goods']['value']}.")
    assert f"worth {slots['goods']['value']}." not in env.step("Good day.")[0]


def test_no_manner_of_address_asks_for_anything():
    for language in LANGUAGES:
        phrases = {}
        for name, spec in table("inquiry")["topics"].items():
            phrases[name] = tuple(BilingualText.parse(text)[language] for text in spec["ask"])
        for name, spec in table("bargain")["terms"].items():
            phrases[name] = tuple(BilingualText.parse(text)[language] for text in spec["ask"])
        for key in SETTINGS:
            own = setting(key)
            for kind in ("closings", "oaths", "addresses"):
                for pair in own.pairs(kind):
                    said = (
                        f"{pair[language]}, what?"
                        if language == "en"
                        else f"{pair[language]}什么？"
                    )
                    assert listen(said, phrases).asked == (), (key, pair)


def test_every_task_of_a_source_names_its_tools():
    for index in range(36):
        task = build(get_source("roleplay").address("dev", index))
        names = [tool.name for tool in task.tools]
        assert names[0] == "say" and len(names) >= 3
