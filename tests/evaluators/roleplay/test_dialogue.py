"""The rule for dialogues: each kind of fault alone fails the episode."""

import json

import pytest

from hexathlon.evaluators.verifier import verify
from support.scenes import build, call, changed, place_of, play, right

BOUNDARY = "roleplay/boundary/hard/test/00000"
SECRET = "roleplay/secret/hard/test/00000"
TIME = "roleplay/timepoint/hard/test/00000"


def failed(verdict):
    assert verdict.score == 0.0
    return {fault for _, fault in verdict.evidence["failed"]}


def test_correct_dialogue_scores_one():
    for task_id in (BOUNDARY, SECRET, TIME):
        task = build(task_id)
        verdict = play(task, right(task))[1]
        assert verdict.score == verdict.partial == 1.0 and verdict.evidence["failed"] == []


def test_wrong_value_reason_or_claim_fails():
    task = build(BOUNDARY)
    assert failed(changed(task, place_of(task, "answer"), value="nobody")) == {"value"}
    assert failed(changed(task, place_of(task, "refuse"), reason="secret")) == {"value:reason"}
    place = place_of(task, "correct")
    assert failed(changed(task, place, claim="nobody")) == {"value:claim"}
    assert failed(changed(task, place, truth="nobody")) == {"value"}


def test_truth_must_be_stated_in_prose():
    task = build(BOUNDARY)
    for act in ("answer", "correct"):
        verdict = changed(task, place_of(task, act), reply="You know that.")
        assert "prose" in failed(verdict)


def test_wrong_act_fails():
    task = build(BOUNDARY)
    actions = right(task)
    place = place_of(task, "answer")
    reply = json.loads(actions[place])["arguments"]["reply"]
    actions[place] = call("say", reply=reply)
    assert failed(play(task, actions)[1]) == {"act"}


def test_too_few_turns_and_partial_credit():
    task = build(BOUNDARY)
    verdict = play(task, right(task)[:-2])[1]
    assert failed(verdict) == {"missing"}
    assert verdict.partial == pytest.approx(1 - 2 / len(task.params["lines"]))


def test_leaked_secret_fails_in_every_turn():
    task = build(SECRET)
    secret = task.checks[0].params["secrets"][0]["values"][0]
    place = place_of(task, "answer", tells=False)
    turn = json.loads(right(task)[place])
    assert "secret" in failed(changed(task, place, reply=f"{turn['arguments']['reply']} {secret}"))


def test_a_guess_that_is_confirmed_in_prose_while_the_typed_act_refuses():
    for index in range(32):
        task = build(f"roleplay/secret/hard/test/{index:05d}")
        guessed = [b["guessed"] for b in task.checks[0].params["beats"]]
        if any(guessed) and task.params["language"] == "en":
            verdict = changed(task, guessed.index(True), reply="Yes, quite so.")
            assert "secret:confirmed" in failed(verdict)
            return
    raise AssertionError("no English task puts a guess")


def test_knowledge_of_later_beats_fails():
    task = build(TIME)
    later = task.checks[0].params["later"]
    for word in later:
        verdict = changed(task, place_of(task, "answer"), reply=f"It will be {word}.")
        assert "foresight" in failed(verdict)


def test_choices_must_be_consistent():
    task = build("roleplay/consistency/medium/test/00000")
    beats = task.checks[0].params["beats"]
    options = next(beat["options"] for beat in beats if beat["choice"])
    places = {beat["choice"]: place for place, beat in enumerate(beats) if beat["choice"]}
    actions = right(task)
    for kind, place in places.items():  # the second option throughout, instead of the first
        turn = json.loads(actions[place])
        arguments = turn["arguments"]
        if kind == "misquote":
            arguments["reply"] = arguments["reply"].replace(options[1], options[2])
        arguments["reply"] = arguments["reply"].replace(options[0], options[1])
        if kind == "misquote":
            arguments |= {"claim": options[2], "truth": options[1]}
        else:
            arguments["value"] = options[1]
        actions[place] = json.dumps(turn)
    heard, verdict = play(task, actions)
    assert verdict.score == 1.0
    assert options[2] in heard[places["misquote"]]
    actions[places["recall"]] = right(task)[places["recall"]]
    assert failed(play(task, actions)[1]) == {"value", "prose"}


def test_a_verdict_is_a_function_of_the_stored_state():
    task = build(SECRET)
    turns = [
        {"act": "say", "reply": "Hm.", "heard": "", "value": "", "claim": "", "truth": "",
         "reason": ""}
    ]  # fmt: skip
    one, two = (verify(task, {"turns": turns}, ()) for _ in range(2))
    assert one == two and one.score == 0.0
    shown = json.dumps(one.evidence)
    assert not any(v in shown for v in task.checks[0].params["secrets"][0]["values"])
