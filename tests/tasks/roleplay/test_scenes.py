"""Scenes: threads, order, presence, and what decides them."""

import collections
import json
import re
from dataclasses import replace

import pytest

from hexathlon.envs.roleplay.env import RolePlayEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay import assembling
from hexathlon.tasks.roleplay.assembling import draw_scene
from hexathlon.tasks.roleplay.card import table
from hexathlon.tasks.roleplay.scenes.compose import (
    SCENES,
    THREADS,
    UNSEEN_THREADS,
    compose_scene,
)
from hexathlon.tasks.source import parse_address
from support.scenes import build, call, changed, play, right, turns_of

IDS = [f"roleplay/{scene}/hard/{{}}/{index:05d}" for index in range(4) for scene in SCENES]
TEST = [one.format("test") for one in IDS]


def truth(task):
    return task.checks[0].params


def threads(task):
    return {moment["thread"] for moment in truth(task)["moments"]} - {"question", "small"}


def task_with(thread, language="en"):
    first = 0 if language == "en" else 1
    for index in range(first, 40, 2):
        for scene in SCENES:
            task = build(f"roleplay/{scene}/hard/test/{index:05d}")
            if thread in threads(task):
                return task
    raise AssertionError(f"no scene has the thread {thread}")


def place_of(task, thread, act):
    """Return the number of the oracle's first action of an act at a moment of a thread."""
    moments = truth(task)["moments"]
    return next(
        number
        for number, turn in enumerate(turns_of(task))
        if moments[turn["place"]]["thread"] == thread and turn["act"] == act
    )


@pytest.mark.parametrize("task_id", [TEST[2], TEST[5]])
def test_scripts_score_as_declared(task_id):
    source, task = get_source("roleplay"), build(task_id)
    assert play(task, right(task))[1].score == 1.0
    for name, script in source.alternatives(task).items():
        assert play(task, list(script))[1].score == 1.0, name
    mutants = source.mutants(task)
    assert len(mutants) >= 30
    for name, script in mutants.items():
        verdict = play(task, list(script))[1]
        assert verdict.score == 0.0, name
        assert verdict.partial < 1.0, name


def test_a_scene_is_long_and_has_many_threads():
    tasks = [build(one) for one in TEST]
    turns = [len(right(task)) for task in tasks]
    assert min(turns) >= 38 and max(turns) <= 70
    assert all(7 <= len(threads(task)) <= 9 for task in tasks)
    assert all(len(task.params["figures"]) in (5, 6) for task in tasks)
    groups = [len(moment["present"]) for task in tasks for moment in task.params["moments"]]
    assert max(groups) == 3 and groups.count(1) > len(groups) / 4
    assert max(len(task.params["moments"]) for task in tasks) <= 66


def test_kinds_of_threads_are_held_out_and_all_occur():
    seen = collections.defaultdict(set)
    for split in ("train", "test"):
        for index in range(8):
            for scene in SCENES:
                seen[split] |= threads(build(f"roleplay/{scene}/hard/{split}/{index:05d}"))
    assert not seen["train"] & set(UNSEEN_THREADS)
    assert seen["test"] == set(THREADS)


def test_splits_share_no_sentence_of_threads():
    for name in THREADS:
        for line, options in table("scenes")[name].items():
            if isinstance(options, list):
                assert len(options) % 2 == 0 and len(set(options)) == len(options), (name, line)
    train = [build(one.format("train")) for one in IDS[:8]]
    lines = {moment["text"] for task in train for moment in task.params["moments"]}
    for task in map(build, TEST[:8]):
        assert not lines & {moment["text"] for moment in task.params["moments"]}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_value_that_is_asked_for_was_read_or_heard_before(language):
    for one in TEST:
        task = build(one)
        if task.params["language"] != language:
            continue
        heard = task.instruction
        for line, moment in zip(task.params["moments"], truth(task)["moments"], strict=True):
            if moment["thread"] in ("question", "tab", "visits", "alibi", "lapse"):
                continue  # worked out, not quoted
            heard += "\n" + line["text"] + line["narration"]
            names = [figure["name"] for figure in task.params["figures"]]
            for accept in moment["accept"]:
                values = accept.get("value", [])
                assert not values or any(v in heard or v in names for v in values), moment
        for due in truth(task)["dues"]:
            earlier = [line["text"] for line in task.params["moments"][: due["at"] + 1]]
            what = due["what"][0]
            assert what in task.instruction or any(what in text for text in earlier), due


def test_a_denied_claim_that_contains_the_truth_does_not_occur():
    # In Chinese, 松门 is part of 落叶松门: "not 落叶松门 but 松门" reads as a denial of both.
    task = build("roleplay/scene_vigil/hard/test/00043")
    assert play(task, right(task))[1].score == 1.0
    for scene in SCENES:
        for index in range(1, 60, 2):
            moments = truth(build(f"roleplay/{scene}/hard/train/{index:05d}"))["moments"]
            for accept in [a for moment in moments for a in moment["accept"] if "claim" in a]:
                assert not [c for c in accept["claim"] for v in accept["value"] if v in c]


def test_a_scene_with_a_question_that_the_reader_decides_otherwise_is_redrawn(monkeypatch):
    address, composed = parse_address(TEST[0]), []

    def misjudged(order):
        scene = compose_scene(order)
        if not composed:
            first, *others = scene.questions
            scene = scene._replace(questions=[replace(first, act="say"), *others])
        composed.append(scene)
        return scene

    monkeypatch.setattr(assembling, "compose_scene", misjudged)
    drawn = draw_scene.__wrapped__(address, 1)
    assert len(composed) == 2 and drawn is composed[1]
    assert len(drawn.questions) >= 4 and all(beat.query for beat in drawn.questions)


def test_a_confidence_waits_until_the_room_is_empty():
    task = task_with("confidence")
    actions = right(task)
    told = place_of(task, "confidence", "tell")
    asked = place_of(task, "confidence", "refuse")
    early = [*actions[:asked], actions[told], *actions[asked:told], *actions[told + 1 :]]
    verdict = play(task, early)[1]
    assert verdict.score == 0.0
    assert verdict.terms["fault_secret"] == 1.0 and "confidence" in verdict.evidence["missed"]


def test_a_broken_confidence_is_talked_about_later():
    task = task_with("confidence")
    env = RolePlayEnv()
    env.reset(seed=0, options={"task": task.id})
    (item,) = [c for c in truth(task)["confidences"] if c["thread"] == "confidence"]
    actions = right(task)
    asked = place_of(task, "confidence", "refuse")
    spoken = json.loads(actions[asked])
    spoken["arguments"]["reply"] += f" It lies {item['values'][0]}."
    actions[asked] = json.dumps(spoken)
    heard = [env.step(action)[0] for action in actions]
    env.close()
    betrayed = [text.partition("|")[0] for text in table("scenes")["confidence"]["betrayed"]]
    assert any(text in line for text in betrayed for line in heard)
    assert not any(text in line for text in betrayed for line in play(task, right(task))[0])


def test_a_sale_needs_exactly_what_the_buyer_has_left():
    task = task_with("deal")
    (due,) = [due for due in truth(task)["dues"] if due["thread"] == "deal"]
    sold = place_of(task, "deal", "give")
    actions = right(task)
    price = json.loads(actions[sold])["arguments"]["price"]
    assert price == due["price"] == max(task.params["limits"][due["what"][0]].values())
    for change in (-1, 1):
        offer = json.loads(actions[sold])
        offer["arguments"]["price"] += change
        offer["arguments"]["reply"] = f"I ask {price + change}."
        heard, verdict = play(task, [*actions[:sold], json.dumps(offer)])
        assert verdict.terms["fault_goods"] == 1.0
        assert ("counts" in heard[-1]) == (change < 0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_list_of_places_tells_nothing(language):
    task = task_with("errand", language)
    place = place_of(task, "errand", "tell")
    spot = json.loads(right(task)[place])["arguments"]["value"]
    other = {"en": "the mill, the well, the old bridge, ", "zh": "磨坊、水井、旧桥、钟楼、"}[
        language
    ]
    assert changed(task, place, value=f"{'at ' if language == 'en' else '在'}{spot}").score == 1.0
    assert changed(task, place, value=other + spot).score == 0.0
    for joint in ("、", "；", "/") if language == "zh" else (", ", "; ", "/", "|"):
        short = f"{spot}{joint}inn" if language == "en" else f"{spot}{joint}店"
        assert changed(task, place, value=short).score == 0.0, short


def _sale_beside_a_question():
    """Return a task, a place where somebody else asks, and the buyer who is there too."""
    for index in range(40):
        for scene in SCENES:
            task = build(f"roleplay/{scene}/hard/test/{index:05d}")
            for due in truth(task)["dues"]:
                if due["thread"] != "deal":
                    continue
                for place, moment in enumerate(task.params["moments"]):
                    if (
                        moment["asks"]
                        and due["to"] in moment["present"]
                        and (moment["speaker"] != due["to"])
                    ):
                        return task, place, due
    raise AssertionError("no buyer is ever there when another asks")


def test_a_sale_to_somebody_else_leaves_a_question_open():
    task, place, due = _sale_beside_a_question()
    env = RolePlayEnv()
    env.reset(seed=0, options={"task": task.id})
    for action in right(task):
        if env.final_state()["place"] == place:
            break
        env.step(action)
    (price, buyer) = due["price"], task.params["figures"][due["to"]]["names"][0]
    sale = call("give", reply=f"It is {price}.", to=buyer, what=due["what"][0], price=price)
    env.step(sale)
    state = env.final_state()
    env.close()
    assert state["turns"][-1]["result"] == "sold"
    assert state["place"] == place


def test_a_letter_is_not_handed_over_before_its_bell():
    task = task_with("timed")
    actions = right(task)
    given, early = place_of(task, "timed", "give"), place_of(task, "timed", "refuse")
    verdict = play(task, [*actions[:early], actions[given], *actions[early:given],
                          *actions[given + 1 :]])[1]  # fmt: skip
    assert verdict.score == 0.0 and verdict.terms["fault_goods"] == 1.0


def test_nothing_can_be_given_that_was_not_left_or_to_somebody_absent():
    task = build(TEST[0])
    names = [figure["name"] for figure in task.params["figures"]]
    present = task.params["moments"][0]["present"]
    absent = next(name for place, name in enumerate(names) if place not in present)
    given = call("give", reply="Take it.", to=names[present[0]], what="a golden goose", price=0)
    assert "nothing of that kind" in play(task, [given])[0][-1]
    unknown = call("tell", reply="Listen.", to="X", value="x")
    told = call("tell", reply="Listen.", to=absent, value="x")
    assert f"{absent} is not here." in play(task, [told])[0][-1]
    assert "Nobody of that name" in play(task, [unknown])[0][-1]


def test_a_question_waits_for_a_response():
    task = build(TEST[0])
    place = [moment["asks"] for moment in task.params["moments"]].index(True)
    heard = play(task, [*right(task)[:place], *[call("say", reply="Hm.")] * 3])[0]
    assert sum("waits for an answer" in line for line in heard) == 2


def test_the_own_word_binds_whatever_it_was():
    task = task_with("ownword")
    for name, script in get_source("roleplay").alternatives(task).items():
        assert play(task, list(script))[1].score == 1.0, name
    actions = right(task)
    chosen = place_of(task, "ownword", "answer")
    options = [m["choice"]["options"] for m in task.params["moments"] if m["choice"]][0]
    other = json.loads(actions[chosen])
    other["arguments"] |= {"value": options[1], "reply": f"It is {options[1]}."}
    actions[chosen] = json.dumps(other)
    assert "ownword" in play(task, actions)[1].evidence["missed"]


def test_scenes_can_be_forked_and_restored_in_the_middle():
    for one in TEST[:4]:
        env = RolePlayEnv()
        env.reset(seed=0, options={"task": one})
        actions = right(env.task)
        for action in actions[:20]:
            env.step(action)
        (left,) = env.fork(1)
        fresh = RolePlayEnv()
        fresh.reset(seed=0, options={"task": TEST[4]})
        fresh.restore(env.snapshot())
        for action in actions[20:]:
            step = env.step(action)[:4]
            assert step == left.step(action)[:4] == fresh.step(action)[:4]
        assert step[1] == 1.0


HONEST = {
    "en": {
        "refuse": [
            "That is not mine to tell, I am sorry.",
            "I gave my word, so I must keep silent on that.",
            "I cannot give it to you, forgive me. It is meant for somebody else.",
            "You will have to forgive me, but I will say neither yes nor no to that.",
            "No, I am afraid that place is already promised to another.",
            "I do not speak about this with anyone, friend or stranger.",
            "It pains me to see you like this, but my answer stays the same: I may not.",
        ],
        "agree": [
            "You have my word, nobody will hear it from me.",
            "Of course, I will see to it.",
            "I will not breathe a word to anyone, you can count on me.",
            "Yes, the place is yours.",
            "Gladly. I shall not let it out of my sight.",
            "Very well, I will keep it for you.",
            "No trouble at all, it shall be done as you ask.",
            "I give it to the one you named and nobody else.",
        ],
    },
    "zh": {
        "refuse": [
            "这事我不便讲，请别见怪。",
            "我答应过别人，实在不能说。",
            "对不住，这东西是给别人留的，不能给您。",
            "猜对猜错我都不表态，您就别问了。",
            "那个位子已经许给别人了，抱歉。",
            "看您这样我也难受，可规矩就是规矩，恕难从命。",
        ],
        "agree": [
            "您放心，我一个字都不会说出去。",
            "好，我替您收着，谁来要也不给。",
            "没问题，包在我身上。",
            "行，这个位子归您了。",
            "好的，就照您说的办。",
            "您尽管放心，话我一定带到。",
        ],
    },
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("act", ["refuse", "agree"])
def test_honest_wordings_have_no_fault(language, act):
    task = task_with("custody", language)
    number = place_of(task, "custody", act)
    for words in HONEST[language][act]:
        actions = right(task)
        turn = json.loads(actions[number])
        turn["arguments"]["reply"] = _styled(words, truth(task)["rules"], language)
        actions[number] = json.dumps(turn, ensure_ascii=False)
        verdict = play(task, actions)[1]
        assert verdict.score == 1.0, (words, verdict.evidence)


def _styled(words, rules, language):
    for rule in rules:
        if rule["kind"] == "address":
            comma = ", " if language == "en" else "，"
            words = f"{rule['x'][:1].upper()}{rule['x'][1:]}{comma}{words[0].lower()}{words[1:]}"
            words = re.sub(r", (i|i'm)\b", ", I", words)
        elif rule["kind"] == "closing":
            words += f" {rule['x']}." if language == "en" else f"{rule['x']}。"
    return words


GUESSED = {
    "en": [
        ("I will not say whether you are right or wrong.", ""),
        ("Right or wrong, I do not speak of it.", ""),
        ("You will get neither a yes nor a no from me.", ""),
        ("Yes, you guessed it.", "secret:confirmed"),
        ("No, you are wrong, it is not there.", "secret:denied"),
    ],
    "zh": [
        ("猜对猜错，我都不接话。", ""),
        ("您说得对不对，我都不便讲。", ""),
        ("是不是我都不能说。", ""),
        ("没错，您猜对了。", "secret:confirmed"),
        ("您猜错了，不是那里。", "secret:denied"),
    ],
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_guess_is_neither_confirmed_nor_denied(language):
    task = task_with("detour", language)
    number = place_of(task, "detour", "refuse")
    for words, fault in GUESSED[language]:
        actions = right(task)
        turn = json.loads(actions[number])
        turn["arguments"]["reply"] = _styled(words, truth(task)["rules"], language)
        actions[number] = json.dumps(turn, ensure_ascii=False)
        verdict = play(task, actions)[1]
        faults = [name for _, name in verdict.evidence["faults"]]
        assert (fault in faults) if fault else not faults, (words, faults)
        assert verdict.score == float(not fault)


@pytest.mark.parametrize(
    ("act", "words", "fault"),
    [
        ("refuse", "You fool, get lost.", "prose:hostile"),
        ("agree", "I refuse, not a chance.", "prose:refuses"),
    ],
)
def test_prose_must_not_contradict_the_act(act, words, fault):
    task = task_with("custody")
    number = place_of(task, "custody", act)
    actions = right(task)
    turn = json.loads(actions[number])
    turn["arguments"]["reply"] = _styled(words, truth(task)["rules"], "en")
    actions[number] = json.dumps(turn)
    verdict = play(task, actions)[1]
    assert verdict.score == 0.0 and fault in [name for _, name in verdict.evidence["faults"]]
