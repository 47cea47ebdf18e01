"""Rules for games: the outcome decides, and manner of speech counts throughout."""

import json

import pytest

from hexathlon.evaluators.roleplay.judged import rouge_l_of
from support.scenes import build, call, play, right


def bargains(level="medium"):
    return [build(f"roleplay/negotiation/{level}/test/{i:05d}") for i in range(12)]


def truth(task):
    return task.checks[0].params


def test_each_sale_has_a_twin_whose_goal_is_out_of_reach():
    for task in bargains():
        twin = build(task.twin)
        assert twin.twin == task.id and truth(task)["feasible"] != truth(twin)["feasible"]
        assert (
            truth(task)["best"] == truth(twin)["best"]
            and truth(task)["costs"] == truth(twin)["costs"]
        )
        assert task.params == twin.params and task.instruction != twin.instruction


def test_which_of_the_two_sales_can_be_made_is_drawn_for_each_pair():
    tasks = [build(f"roleplay/negotiation/tiny/dev/{i:05d}") for i in range(0, 96, 4)]
    feasible = sum(truth(task)["feasible"] for task in tasks)
    assert 4 <= feasible <= 20


def test_a_deal_pays_its_gain():
    for task in bargains():
        verdict = play(task, right(task))[1]
        assert verdict.score == 1.0
        if truth(task)["feasible"]:
            assert verdict.terms["gain"] == truth(task)["best"]
            assert 0 <= truth(task)["best"] - truth(task)["goal"] <= 2
            assert verdict.partial == 1.0
        else:
            assert truth(task)["goal"] > truth(task)["best"] and verdict.terms["deal"] == 0.0


def test_one_coin_too_cheap_or_too_dear():
    task = next(task for task in bargains() if truth(task)["feasible"])
    spare = truth(task)["best"] - truth(task)["goal"]
    offer = json.loads(right(task)[-1])
    amount = offer["arguments"]["amount"]
    for shift, deal in ((-1 - spare, 1.0), (1, 0.0)):
        offer["arguments"] |= {"amount": amount + shift, "reply": f"I ask {amount + shift}."}
        verdict = play(task, [json.dumps(offer)])[1]
        assert verdict.score == 0.0 and verdict.terms["deal"] == deal
    assert verdict.partial == 0.0


def test_the_cost_must_not_be_named():
    task = next(task for task in bargains() if task.params["language"] == "en")
    verdict = play(task, [call("say", reply=f"I paid {truth(task)['cost']} for it."), *right(task)])
    assert verdict[1].terms["goal"] == 1.0
    assert verdict[1].score == 0.0 and verdict[1].terms["fault_secret"] == 1.0


def test_buyer_leaves_after_too_much_small_talk():
    task = bargains("hard")[0]
    heard, verdict = play(task, [call("say", reply="Do you like the weather?")] * 8)
    assert heard[-1].endswith(task.params["ends"]["gone"])
    assert verdict.score == 0.0


@pytest.mark.parametrize("index", range(6))
def test_lies_must_be_named_after_they_are_told(index):
    task = build(f"roleplay/interrogation/hard/test/{index:05d}")
    verdict = play(task, right(task))[1]
    assert verdict.score == verdict.partial == 1.0 and len(truth(task)["lies"]) >= 2
    confronts = [a for a in right(task) if json.loads(a)["name"] == "confront"]
    unheard = play(task, [*confronts, right(task)[-1]])[1]
    assert unheard.score == 0.0 and unheard.terms["wrong"] == len(confronts)


def test_inquiry_partial_credit():
    task = build("roleplay/interrogation/hard/test/00000")
    actions = right(task)
    confronts = [i for i, a in enumerate(actions) if json.loads(a)["name"] == "confront"]
    verdict = play(task, [a for i, a in enumerate(actions) if i != confronts[0]])[1]
    assert verdict.score == 0.0
    assert verdict.partial == pytest.approx(1 - 1 / len(confronts))


@pytest.mark.parametrize(
    ("reply", "reference", "score"),
    [
        ("the cat sat", "the cat sat", 1.0), ("The cat, sat!", "the cat sat", 1.0),
        ("a b c d", "a x c", 4 / 7), ("", "a", 0.0), ("x", "y", 0.0),
        ("我喜欢猫", "我不喜欢猫", 8 / 9),
    ],
)  # fmt: skip
def test_rouge_l(reply, reference, score):
    assert rouge_l_of(reply, reference) == pytest.approx(score)
