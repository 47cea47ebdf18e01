"""The verifier of generated web tasks: exact changes, typed answers, evidence."""

import pytest

from hexathlon.evaluators.web.state import same_value, web_state

ISSUE = {"number": 7, "project": "KES", "title": "A", "body": "b", "status": "open",
         "priority": "p1", "assignee": "", "reporter": "x", "milestone": 0, "component": "api",
         "created": "1", "updated": "1"}  # fmt: skip
COMMENT = {"id": 1, "issue": 7, "author": "x", "body": "Done.", "created": "2"}
ANSWER = {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None, "record": ""}
WANTED = {"status": "SUCCESS", "data": None, "record": "", "ordered": True}
CLOSED = {"tracker": {"issues": {"changed": [[7, {"status": "done"}]]}}}


def changed(**columns):
    return {
        "tracker": {
            "issues": {"added": [], "removed": [], "changed": [[ISSUE, {**ISSUE, **columns}]]}
        }
    }


def verdict(expected, changes, answer=ANSWER, wanted=WANTED, evidence=(), trace=()):
    params = {"changes": expected, "answer": wanted, "evidence": evidence}
    state = {"changes": changes, "answer": answer, "trace": trace}
    return web_state(None, params, state, ())


def test_the_right_change_scores_one_whatever_its_times():
    assert verdict(CLOSED, changed(status="done", updated="9")).score == 1.0
    assert verdict({}, {}).score == 1.0


@pytest.mark.parametrize(
    "changes",
    [
        {},
        changed(status="rejected"),
        changed(status="done", priority="p2"),
        {**changed(status="done"), "mail": {"messages": {"added": [], "removed": [{"id": 1}]}}},
        {"tracker": {**changed(status="done")["tracker"], "comments": {"added": [COMMENT]}}},
        {"tracker": {"issues": {"removed": [ISSUE], "added": [{**ISSUE, "status": "done"}]}}},
    ],
    ids=["nothing", "other value", "more columns", "other site", "a comment", "replaced row"],
)
def test_other_changes_score_zero(changes):
    scored = verdict(CLOSED, changes)
    assert scored.score == 0.0 and scored.evidence["faults"]


def test_added_rows_are_matched_one_by_one_and_every_column_counts():
    row = {"issue": 7, "author": "x", "body": "done."}
    expected = {"tracker": {"comments": {"added": [row]}}}

    def added(*rows):
        return {"tracker": {"comments": {"added": list(rows), "removed": [], "changed": []}}}

    assert verdict(expected, added(COMMENT)).score == 1.0
    assert verdict(expected, added(COMMENT, {**COMMENT, "id": 2})).score == 0.0
    assert verdict(expected, added({**COMMENT, "author": "y"})).score == 0.0
    assert verdict(expected, added({**COMMENT, "extra": 1})).score == 0.0
    words = {"tracker": {"comments": {"added": [{**row, "body": {"words": ["done", "."]}}]}}}
    assert verdict(words, added(COMMENT)).score == 1.0
    assert verdict(words, added({**COMMENT, "body": "do"})).score == 0.0
    one_of = {
        "tracker": {"comments": {"added": [{**row, "body": {"one_of": ["x", COMMENT["body"]]}}]}}
    }
    assert verdict(one_of, added(COMMENT)).score == 1.0
    assert verdict(one_of, added({**COMMENT, "body": f"x {COMMENT['body']}"})).score == 0.0


def test_an_episode_without_an_answer_scores_zero():
    assert verdict(CLOSED, changed(status="done"), answer=None).score == 0.0
    assert verdict({}, {}, {**ANSWER, "status": "UNKNOWN_ERROR"}).score == 0.0


@pytest.mark.parametrize(
    ("given", "score"),
    [
        (["12.50", "ann"], 1.0), ([12.5, "Ann "], 1.0), (["€12.50", "ANN"], 1.0),
        (["ann", "12.50"], 0.0), (["12.50"], 0.0), (["12.50", "ann", "bob"], 0.0),
        (None, 0.0), ("12.50 ann", 0.0), (["12.5 or 13", "ann"], 0.0), (["not 12.50", "ann"], 0.0),
        ([True, "ann"], 0.0), ([["12.50"], "ann"], 0.0),
    ],
)  # fmt: skip
def test_typed_answers(given, score):
    wanted = {**WANTED, "data": ["12.50", "Ann"]}
    assert verdict({}, {}, {**ANSWER, "retrieved_data": given}, wanted).score == score


def test_answers_without_an_order_and_answers_nobody_asked_for():
    wanted = {**WANTED, "data": ["a", "a", "b"], "ordered": False}
    assert verdict({}, {}, {**ANSWER, "retrieved_data": ["b", "a", "A"]}, wanted).score == 1.0
    assert verdict({}, {}, {**ANSWER, "retrieved_data": ["b", "b", "a"]}, wanted).score == 0.0
    assert verdict({}, {}, {**ANSWER, "retrieved_data": ["x"]}).score == 0.0


@pytest.mark.parametrize(
    ("record", "score"),
    [("7", 1.0), ("#7", 1.0), (" 7 ", 1.0), ("", 0.0), ("77", 0.0), ("7, 8", 0.0), ("7 8", 0.0)],
)
def test_only_the_blocking_record_is_named(record, score):
    wanted = {**WANTED, "status": "NOT_FOUND_ERROR", "record": "7"}
    answer = {**ANSWER, "status": "NOT_FOUND_ERROR", "record": record}
    assert verdict({}, {}, answer, wanted).score == score


def test_evidence_must_have_been_opened():
    evidence = (r"//tracker\.hexathlon\.test/issues/7$",)
    url = "http://tracker.hexathlon.test/issues/7"
    for trace, score in (
        ([["GET", url, [], 200]], 1.0),
        ([["GET", url, [], 404]], 0.0),
        ([["GET", f"{url}7", [], 200]], 0.0),
        ([], 0.0),
    ):
        assert verdict({}, {}, evidence=evidence, trace=trace).score == score


def test_values_are_compared_by_meaning_and_not_by_chance():
    for wanted, given in ((1, "1"), ("1,250.00", 1250), ("-3", -3), ("a  b", "A b"), (None, None)):
        assert same_value(wanted, given)
    for wanted, given in ((1, True), ("1", "1 "  "x"), ("1.5", "15"), (0, None), ("", None),
                          ("10", "1e1"), ("nan", 0)):  # fmt: skip
        assert not same_value(wanted, given)


def shift(*requests, reports, changes):
    """Grade a shift: each request is its expected answer and its part of the changes."""
    params = {
        "changes": CLOSED,
        "answer": requests[-1][0],
        "requests": [{"answer": answer, "part": part} for answer, part in requests],
    }
    state = {"changes": changes, "answer": reports[-1], "reports": reports}
    return web_state(None, params, state, ())


KEPT = {"tracker": {"issues": {"kept": [[8, {"status": "open"}]]}}}
LISTED = {**WANTED, "data": ["#9", "#10"], "ordered": False}


def test_a_shift_is_right_as_a_whole_and_has_credit_by_request():
    listed = {**ANSWER, "retrieved_data": ["10", "#9"]}
    day = ((WANTED, CLOSED), (LISTED, KEPT))
    right = shift(*day, reports=[ANSWER, listed], changes=changed(status="done"))
    assert right.score == right.partial == 1.0
    wrong = shift(*day, reports=[listed, listed], changes=changed(status="done"))
    assert (wrong.score, wrong.partial) == (0.0, 0.5)
    assert (wrong.terms["request 1"], wrong.terms["request 2"]) == (0.0, 1.0)


def test_requests_without_a_report_count_as_wrong():
    day = ((WANTED, CLOSED), (LISTED, KEPT))
    scored = shift(*day, reports=[ANSWER], changes=changed(status="done"))
    assert (scored.score, scored.partial) == (0.0, 0.5)


def test_a_record_that_was_to_be_set_back_must_have_its_former_value():
    day = ((WANTED, {"tracker": {"issues": {"kept": [[7, {"priority": "p1"}]]}}}),)
    kept = shift(*day, reports=[ANSWER], changes=changed(status="done"))
    assert kept.terms["request 1"] == 1.0
    other = shift(*day, reports=[ANSWER], changes=changed(status="done", priority="p2"))
    assert other.terms["request 1"] == other.score == 0.0


def test_records_are_compared_with_those_of_each_report():
    wanted = [{"answer": WANTED, "part": KEPT, "records": each} for each in (["p1", 2], ["p1", 3])]
    params = {"changes": CLOSED, "answer": WANTED, "requests": wanted}

    def scored(*records):
        reports = [{**ANSWER, "records": each} for each in records]
        state = {"changes": changed(status="done"), "answer": reports[-1], "reports": reports}
        return web_state(None, params, state, ())

    assert scored(["p1", 2], ["p1", "3"]).score == 1.0
    late = scored(["p1", 3], ["p1", 3])
    assert (late.score, late.partial) == (0.0, 0.5) and late.terms["changes"] == 1.0
    assert scored(["p1", 2], ["p1", None]).score == scored(["p1", 2], []).score == 0.0
    assert scored(["p1", 2], ["P1", 3]).score == scored(["p1", 2], ["p1", "3.0"]).score == 0.0
