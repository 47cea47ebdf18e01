"""Prose against typed acts: honest wordings pass, contradictions are named, others declared."""

import itertools
import json
from collections import Counter, defaultdict

import gymnasium
import pytest

from hexathlon.evaluators.roleplay.inventions import competing
from hexathlon.evaluators.roleplay.leaks import confirms, denies, leaks
from hexathlon.evaluators.roleplay.prose import read_prose
from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import build_task
from support.contradictions import CONTRADICTIONS
from support.more_contradictions import CONTRADICTIONS as UNSEEN
from support.plain_contradictions import CONTRADICTIONS as PLAIN_WORDS
from support.scenes import build, changed, claims_of, play, right, turns_of
from support.wordings import wordings

KINDS = ("boundary", "timepoint", "memory", "secret", "priority", "consistency")
PLAIN = {"refuse": {"en": "That I do not know.", "zh": "这我不知道。"}}
HEARD = {"en": "I hear you.", "zh": "我听见了。"}


def dialogues(levels, count):
    for kind, level, index in itertools.product(KINDS, levels, range(count)):
        yield build(f"roleplay/{kind}/{level}/dev/{index:05d}")


@pytest.fixture(scope="module")
def beats():
    """Beats with all that was heard before, by act and language."""
    found = defaultdict(list)
    for task in dialogues(("easy", "hard"), 6):
        heard = [task.instruction]
        for place, beat in enumerate(task.checks[0].params["beats"]):
            heard = [*heard, task.params["lines"][place]["text"]]
            if not beat["choice"]:
                key = beat["act"], task.params["language"], (beat["reasons"] or [""])[0]
                found[key].append((beat, claims_of(task, place), heard, task))
    return found


def faults(wording, beat, claims, heard, task):
    value, claim = (beat["value"] or [""])[0], (claims or [""])[0]
    reply = wording.replace("{v}", value).replace("{c}", claim)
    spoken = SpokenAct(
        beat["act"], reply, task.params["language"], heard, heard[-1], beat["value"],
        claims, beat["reasons"], beat["about"],
    )  # fmt: skip
    named = list(read_prose(spoken).faults)
    if beat["guessed"] and (confirms(reply) or denies(reply)):
        named.append("guess")
    secrets = task.checks[0].params["secrets"]
    if not beat["tells"] and any(leaks(reply, secret, heard[-1]) for secret in secrets):
        named.append("secret")
    return [(fault, reply, heard[-1]) for fault in named]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("act", ["answer", "correct", "refuse", "say"])
def test_300_honest_wordings_of_an_act_are_right(act, language, beats):
    tried, wrong = 0, []
    keys = [key for key in beats if key[:2] == (act, language)]
    assert len(keys) == (5 if act == "refuse" else 1)
    for key in keys:
        pairs = itertools.cycle(beats[key])
        spoken = wordings(act, language, key[2])
        for wording in itertools.islice(
            itertools.cycle(spoken), max(len(spoken), 300 // len(keys))
        ):
            tried += 1
            wrong += faults(wording, *next(pairs))
    assert tried >= 300 and len(wrong) <= 0.02 * tried, wrong[:10]


def in_style(core, rules, language):
    """Return a reply in the form of the rules, or None where they count sentences."""
    known = {rule["kind"]: str(rule.get("x", "")) for rule in rules}
    if "sentences" in known:
        return None
    comma = ", " if language == "en" else "，"
    heads = [known[kind] for kind in ("opening", "address") if kind in known]
    return comma.join([*heads, core]) + (" " + known["closing"] if "closing" in known else "")


def fits(act, variant, beat):
    if act == "against":
        return beat["reasons"] == ["against_my_rules"]
    if beat["act"] != act or beat["choice"]:
        return False
    if variant == "refuses_the_wish":
        return beat["about"] == "granted"
    return variant != "answers" or beat["reasons"][0] in ("not_known", "not_of_my_world")


def said(turns, place, reply):
    """Return the turns with another reply in one place."""
    return [*turns[:place], {**turns[place], "reply": reply}, *turns[place + 1 :]]


def contradicted(task, contradictions=CONTRADICTIONS, every=False):
    """Yield variant, place and reply of contradictions that fit a beat: one of each, or every."""
    language = task.params["language"]
    params = task.checks[0].params
    for place, beat in enumerate(params["beats"]):
        rules = [rule for rule in params["rules"] if rule.get("from", 0) <= place]
        if any(rule["kind"] in ("spelled", "no_question") for rule in rules):
            continue
        for (act, variant), texts in contradictions.items():
            if not fits(act, variant, beat):
                continue
            one = (task.seed + place) % len(texts[language])
            words = {
                "v": beat["value"],
                "c": claims_of(task, place),
                "r": [PLAIN["refuse"][language]],
                "s": [HEARD[language]],
                "o": others(task, place),
            }
            for text in texts[language] if every else texts[language][one : one + 1]:
                if "{o}" in text and not words["o"]:
                    continue
                for name, values in words.items():
                    text = text.replace("{" + name + "}", (values or [""])[0])
                reply = in_style(text, rules, language)
                if reply is not None:
                    yield variant, place, reply


def others(task, place):
    """Return the names that are right elsewhere in the dialogue and not said in this line."""
    beats, line = task.checks[0].params["beats"], task.params["lines"][place]["text"]
    names = [b["value"][0] for b in beats if b["value"] and not b["value"][0].isdigit()]
    return [n for n in names if n not in beats[place]["value"] and n not in line]


def test_contradictions_score_zero_or_are_unverified_by_name():
    seen, zero = Counter(), Counter()
    for task in dialogues(("tiny", "hard"), 4):
        turns = turns_of(task)
        for variant, place, reply in contradicted(task):
            verdict = verify(task, {"turns": said(turns, place, reply)}, ())
            seen[variant] += 1
            named = [fault for at, fault in verdict.evidence["failed"] if at == place]
            unverified = place in verdict.evidence["unverified_prose"]
            assert named or unverified, (task.id, variant, reply)
            zero[variant] += verdict.score == 0.0
    assert set(seen) == {variant for _, variant in CONTRADICTIONS}
    assert all(zero[variant] >= 0.9 * seen[variant] for variant in seen), (zero, seen)


def test_contradictions_that_the_checks_were_not_written_for_are_at_least_unverified():
    tried = 0
    for task in dialogues(("easy", "hard"), 4):
        turns = turns_of(task)
        for variant, place, reply in contradicted(task, UNSEEN):
            verdict = verify(task, {"turns": said(turns, place, reply)}, ())
            tried += 1
            named = any(at == place for at, _ in verdict.evidence["failed"])
            assert named or place in verdict.evidence["unverified_prose"], (variant, reply)
    assert tried > 200


def test_no_contradiction_of_harmless_words_is_decided():
    tried, caught = Counter(), Counter()
    for task in dialogues(("hard",), 2):
        turns = turns_of(task)
        for variant, place, reply in contradicted(task, PLAIN_WORDS, every=True):
            verdict = verify(task, {"turns": said(turns, place, reply)}, ())
            named = any(at == place for at, _ in verdict.evidence["failed"])
            tried[variant], caught[variant] = tried[variant] + 1, caught[variant] + named
            assert named or place in verdict.evidence["unverified_prose"], (variant, reply)
    assert tried["harmless_words"] > 500
    assert caught["another_name"] >= 0.85 * tried["another_name"] > 0


@pytest.mark.parametrize("reason", ["not_known", "secret", "not_of_my_world"])
def test_a_refusal_for_another_reason_than_the_typed_one_is_unverified(reason):
    said_by = {
        "not_known": "That I do not know.",
        "secret": "Of that I will not speak.",
        "not_of_my_world": "That word means nothing to me.",
    }
    for typed in said_by:
        spoken = SpokenAct("refuse", said_by[reason], "en", [], "Who?", reasons=[typed])
        assert read_prose(spoken).decided is (typed == reason)


CARDS = {
    "en": """You play Ada Moor.
# Character
- You are Ada Moor, a smith in Oakby.
- Your rival is Tom Hill-Reed.
- Your only cousin is Ann Fell.
# World
- Old Days.
# Timeline
- 12: Joan Weir became Lord Mayor.
# Voice
""",
    "zh": """你扮演艾达·沼井。
# 角色
- 你是艾达·沼井，港里的铁匠。
- 你的对头是汤姆·石谷。
- 你只有一个堂亲，叫安·木森。
# 世界
- 旧日。
# 年表
- 12年：琼·水门出任市长。
# 说话方式
""",
}


def _corrected(reply):
    return SpokenAct("correct", reply, "zh", [], "是落叶松门吧？", ["松门"], ["落叶松门"])


def test_the_denial_of_a_claim_that_contains_the_value_is_no_denial_of_the_value():
    assert "prose:negates" not in read_prose(_corrected("不对，不是落叶松门，是松门。")).faults
    assert "prose:negates" in read_prose(_corrected("不是落叶松门，也不是松门。")).faults


@pytest.mark.parametrize(
    "language, reply, rivals",
    [
        ("en", "It is Tom Hill-Reed.", []),
        ("en", "It is Tom Hill-Reed, as sure as I am Ada Moor, under the Lord Mayor.", []),
        ("en", "It is Tom Hill-Reed. Or Ann Fell.", ["ann fell"]),
        ("en", "It is Tom Hill-Reed; Joan Weir says so.", ["joan weir"]),
        ("zh", "是汤姆·石谷。", []),
        ("zh", "我艾达·沼井告诉你，是汤姆·石谷。", []),
        ("zh", "是汤姆·石谷，不然就是安·木森。", ["安·木森"]),
        ("zh", "汤姆·石谷，琼·水门也知道。", ["琼·水门"]),
    ],
)
def test_another_name_of_the_card_competes_with_the_value(language, reply, rivals):
    value = {"en": "Tom Hill-Reed", "zh": "汤姆·石谷"}[language]
    spoken = SpokenAct("answer", reply, language, [CARDS[language]], "", [value])
    assert competing(spoken) == rivals
    assert ("prose:competes" in read_prose(spoken).faults) is bool(rivals)
    heard = SpokenAct("answer", reply, language, [CARDS[language]], " ".join(rivals), [value])
    assert competing(heard) == []


def test_unverified_prose_is_named_and_does_not_fail():
    task = build("roleplay/boundary/tiny/dev/00000")
    verdict = play(task, right(task))[1]
    assert verdict.score == 1.0 and verdict.evidence["unverified_prose"] == []
    assert verdict.terms["unverified_prose"] == 0.0
    place = [beat["act"] for beat in task.checks[0].params["beats"]].index("answer")
    reply = json.loads(right(task)[place])["arguments"]["reply"]
    verdict = changed(task, place, reply=f"{reply} The herons dance on stilts.")
    assert verdict.score == 1.0 and verdict.evidence["unverified_prose"] == [place]
    assert verdict.terms["unverified_prose"] == pytest.approx(1 / len(task.params["lines"]))


@pytest.mark.parametrize("topic", ["payment", "company", "supper", "luggage", "route"])
@pytest.mark.parametrize("value", ["²", "𐩀"])
def test_a_digit_that_is_no_number_costs_the_agent_its_score(topic, value):
    """Python calls both digits and reads neither as a number: the verdict must not fail."""
    task = build_task("roleplay/interrogation/medium/test/00000")
    script = get_source("roleplay").oracle(task)
    env = gymnasium.make("hexathlon/RolePlay-v1")
    env.reset(seed=0, options={"task": task.id})
    action, ended, reward = next(script), False, -1.0
    while not ended:
        call = json.loads(action)
        if call["name"] == "confront":
            said = {
                "topic": topic,
                "truth": value,
                "reply": f"{call['arguments']['reply']} {value}",
            }
            call["arguments"].update(said)
        observation, reward, terminated, truncated, _ = env.step(json.dumps(call))
        ended = terminated or truncated
        action = "" if ended else script.send(observation)
    assert reward == 0.0
