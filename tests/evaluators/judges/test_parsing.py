"""Replies of judges: only valid answers become numbers."""

import json

import pytest

from hexathlon.evaluators.judges.labels import Decision, majority
from hexathlon.evaluators.judges.parsing import (
    ReplyFault,
    read_criteria,
    read_first_error,
    read_group,
    read_pair,
    read_point,
)
from hexathlon.evaluators.judges.prompts import LETTERS
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedMessage, JudgedTranscript
from support.judge_replies import BY_NAME

CRITERION = Criterion(id="thanks", text="The reply thanks.", why="Only a reader can tell.")
SPOKEN = "Good morning, Agnes. Thank you for coming.\nThe rope is 7 crowns."
TALK = JudgedTranscript.of_reply("Agnes comes in. She says: hello there.", SPOKEN)
GOOD = '{"evidence": "Thank you for coming", "label": "met"}'


@pytest.mark.parametrize("text", [
    GOOD,
    f"  {GOOD}\n",
    f"```json\n{GOOD}\n```",
    f"```\n{GOOD}\n```",
    f"The reply thanks in its second sentence.\n{GOOD}",
    f'<think>First I thought {{"label": "not_met"}}.</think>\n{GOOD}',
    f"{GOOD}\n{GOOD}",
    '{"evidence": "thank  YOU\\nfor coming.", "label": "met"}',
    '{"evidence": "Thank you for coming", "reason": "it says so", "label": "met"}',
])  # fmt: skip
def test_answers(text):
    assert read_point(text, CRITERION, TALK)[0::2] == ("met", 1)


def test_an_abstention_needs_no_evidence():
    text = '{"evidence": "", "label": "cannot_tell"}'
    assert read_point(text, CRITERION, TALK) == ("cannot_tell", "", None)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_malformed_replies_are_never_answers(name):
    first = JudgedTranscript.of_reply("Q", "Good morning to you.")
    readers = {
        "point": lambda text: read_point(text, CRITERION, first),
        "pair": lambda text: read_pair(text, first, first),
        "group": lambda text: read_group(text, [first, first], LETTERS),
        "error": lambda text: read_first_error(text, first),
        "criteria": lambda text: read_criteria(text, 1, 5),
    }
    for reader in readers.values():
        with pytest.raises(ReplyFault) as caught:
            reader(BY_NAME[name])
        assert caught.value.why in (
            "malformed", "off_menu", "no_evidence", "contradiction", "refused",
        )  # fmt: skip


def test_corpus_is_large_and_close_to_valid_answers():
    assert len(set(BY_NAME.values())) == len(BY_NAME) >= 30
    near = JudgedTranscript.of_reply("Q", "Good morning to you.")
    sound = '{"evidence": "Good morning", "label": "met"}'
    assert read_point(sound, CRITERION, near).label == "met"


@pytest.mark.parametrize("reply, why", [
    ("I'm sorry, I cannot judge this.", "refused"),
    ("抱歉，我无法评判。", "refused"),
    ('{"evidence": "Good morning", "label": "great"}', "off_menu"),
    ('{"evidence": "no such words", "label": "met"}', "no_evidence"),
    ('{"evidence": "hello there", "label": "met"}', "no_evidence"),  # not the agent's
    (GOOD + "\n" + GOOD.replace('"met"', '"not_met"'), "contradiction"),
    ("met", "malformed"),
])  # fmt: skip
def test_faults_have_their_kind(reply, why):
    with pytest.raises(ReplyFault) as caught:
        read_point(reply, CRITERION, TALK)
    assert caught.value.why == why


def test_evidence_must_be_in_scope():
    talk = JudgedTranscript((
        JudgedMessage("user", "Where is the lantern?"),
        JudgedMessage("assistant", "It hangs by the door."),
        JudgedMessage("user", "And the rope?"), JudgedMessage("assistant", "In the cellar."),
    ))  # fmt: skip
    result = {
        scope: [talk.find(quote, scope) for quote in ("by the door", "the cellar", "And the rope")]
        for scope in ("last", "agent", "transcript")
    }
    assert result == {"last": [None, 3, None], "agent": [1, 3, None], "transcript": [1, 3, 2]}
    assert talk.find("e", "transcript") is None
    assert talk.find("…", "transcript") is None
    assert JudgedTranscript.of_reply("q", "No").find("No", "agent") == 1
    assert JudgedTranscript.of_reply("q", "钥匙在库房里").find("库房", "agent") == 1


def test_pairs_and_groups():
    one, two = (
        JudgedTranscript.of_reply("q", "first reply here"),
        JudgedTranscript.of_reply("q", "other words"),
    )
    pair = '{"evidence": "other words", "label": "second"}'
    assert read_pair(pair, one, two) == ("second", "other words")
    quotes = {"A": "first reply", "B": "other words"}
    ranking = json.dumps({"evidence": quotes, "ranking": ["B", "A"]})
    assert read_group(ranking, [one, two], LETTERS).values == (0.0, 1.0)
    scores = json.dumps({"evidence": quotes, "scores": {"A": 2.5, "B": 10}})
    assert read_group(scores, [one, two], LETTERS).values == (0.25, 1.0)


@pytest.mark.parametrize("change", [
    {"ranking": ["A"]}, {"ranking": ["A", "A"]}, {"ranking": ["A", "C"]}, {"ranking": "AB"},
    {"ranking": ["A", "B"], "scores": {"A": 1, "B": 2}}, {}, {"scores": {"A": 1}},
    {"scores": {"A": 1, "B": 11}}, {"scores": {"A": 1, "B": "2"}}, {"scores": {"A": 1, "B": True}},
    {"ranking": ["A", "B"], "evidence": {"A": "first reply"}},
    {"ranking": ["A", "B"], "evidence": {"A": "first reply", "B": "first reply"}},
])  # fmt: skip
def test_group_verdict_covers_all_members(change):
    one, two = (
        JudgedTranscript.of_reply("q", "first reply here"),
        JudgedTranscript.of_reply("q", "other words"),
    )
    data = {"evidence": {"A": "first reply", "B": "other words"}, **change}
    with pytest.raises(ReplyFault):
        read_group(json.dumps(data), [one, two], LETTERS)


def test_first_errors():
    talk = JudgedTranscript((
        JudgedMessage("user", "Add."),
        JudgedMessage("assistant", "2 + 2 = 4"),
        JudgedMessage("user", "On."),
        JudgedMessage("assistant", "4 + 4 = 9"),
    ))  # fmt: skip

    def read(**data):
        return read_first_error(json.dumps(data), talk)

    assert read(evidence="4 + 4 = 9", turn=3, label="error") == ("error", 3, "4 + 4 = 9")
    assert read(evidence="2 + 2 = 4", turn=None, label="no_error").turn is None
    assert read(evidence="", turn=None, label="cannot_tell").label == "cannot_tell"
    for wrong in (
        {"evidence": "4 + 4 = 9", "turn": 1, "label": "error"},
        {"evidence": "4 + 4 = 9", "turn": 2, "label": "error"},
        {"evidence": "4 + 4 = 9", "turn": None, "label": "error"},
        {"evidence": "4 + 4 = 9", "turn": 3.0, "label": "error"},
        {"evidence": "4 + 4 = 9", "turn": True, "label": "error"},
        {"evidence": "2 + 2 = 4", "turn": 1, "label": "no_error"},
        {"evidence": "5 + 5 = 9", "turn": 3, "label": "error"},
    ):
        with pytest.raises(ReplyFault):
            read(**wrong)


def test_written_criteria():
    rows = [{"text": "It is polite.", "weight": 3}, {"text": "It is short.", "weight": 1.5}]
    assert read_criteria(json.dumps({"criteria": rows}), 2, 4) == [
        ("It is polite.", 3.0), ("It is short.", 1.5),
    ]  # fmt: skip
    for wrong in ([], rows[:1], [*rows, rows[0]], [{"text": "x"}] * 2,
                  [rows[0], {"text": "It is short.", "weight": 0}],
                  [rows[0], {"text": "It is short.", "weight": "3"}]):  # fmt: skip
        with pytest.raises(ReplyFault):
            read_criteria(json.dumps({"criteria": wrong}), 2, 4)


def test_a_decision_has_a_value_or_a_reason():
    with pytest.raises(ValueError, match="a value or a reason"):
        Decision("c", "met", None)
    with pytest.raises(ValueError, match="a value or a reason"):
        Decision("c", "met", 1.0, why="malformed")
    assert Decision("c", "met", 1.0, "q", 1).as_json() == {
        "criterion": "c", "label": "met", "value": 1.0, "quote": "q", "turn": 1,
        "source": "model", "retries": 0,
    }  # fmt: skip


@pytest.mark.parametrize("votes, label, dispersion", [
    (["met", "met", "not_met"], "met", 1 / 3),
    (["met", "not_met"], None, 0.5),
    (["met", None, "cannot_tell"], "met", 0.0),
    ([None, "cannot_tell"], None, 0.0),
    (["a", "b", "c"], None, 2 / 3),
    ([], None, 0.0),
])  # fmt: skip
def test_majorities(votes, label, dispersion):
    assert majority(votes) == (label, pytest.approx(dispersion))
