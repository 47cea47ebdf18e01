"""Near misses and hedged answers against the comparison of states."""

import pytest

from hexathlon.evaluators.web.state import same_value, web_state

OPENED = [["GET", "http://tracker.hexathlon.test/issues/7", [], 200]]


def score(*, changes=None, wanted=None, answer=None, given=None, trace=OPENED, evidence=()):
    params = {
        "changes": wanted or {},
        "answer": {"status": "SUCCESS", "data": None, "record": "", "ordered": True}
        | (answer or {}),
        "evidence": list(evidence),
    }
    report = {"status": "SUCCESS", "retrieved_data": None, "record": ""} | (given or {})
    state = {"changes": changes or {}, "trace": trace, "answer": report}
    return web_state(None, params, state, ()).score


ISSUE = r"tracker\.hexathlon\.test/issues/7$"


def test_a_page_that_was_seen_is_evidence():
    assert score(evidence=[ISSUE]) == 1


@pytest.mark.parametrize(
    "event",
    [
        # Signed out, every address is answered with a redirect to the sign-in page.
        ["GET", "http://tracker.hexathlon.test/issues/7", [], 303],
        ["GET", "http://tracker.hexathlon.test/issues/7", [], 404],
        ["GET", "http://tracker.hexathlon.test/issues/7", [], 403],
        ["POST", "http://tracker.hexathlon.test/issues/7", [], 422],
        [
            "GET",
            "http://tracker.hexathlon.test/?q=http%3A%2F%2Ftracker.hexathlon.test%2Fissues%2F7",
            [],
            200,
        ],
    ],
)
def test_a_page_that_was_not_seen_is_not_evidence(event):
    assert score(evidence=[ISSUE], trace=[event]) == 0


@pytest.mark.parametrize("record", ["12, 13", "12 13", "#12/#13", "12\n13", ["12"], "112", "12.0"])
def test_a_hedged_record_is_not_the_record(record):
    answer = {"status": "NOT_FOUND_ERROR", "record": "12"}
    assert score(answer=answer, given={"status": "NOT_FOUND_ERROR", "record": record}) == 0
    assert score(answer=answer, given={"status": "NOT_FOUND_ERROR", "record": " #12 "}) == 1


@pytest.mark.parametrize(
    "given",
    [
        [12, 13], [[12]], ["12, 13"], ["12 or 13"], [{"value": 12}], [True], [None], "12", {"0": 12},
        [float("nan")], ["1" * 100_000], ["1 2"], ["12%"], ["-12"], [], None, [".*"],
        [{"any": True}], [{"words": []}],
    ],
)  # fmt: skip
def test_other_answers_are_wrong(given):
    assert score(answer={"data": [12]}, given={"retrieved_data": given}) == 0


@pytest.mark.parametrize("given", [[12], ["12"], [" 12 "], [12.0], ["€12.00"], ["１２"]])
def test_the_same_value_written_otherwise_is_right(given):
    assert score(answer={"data": [12]}, given={"retrieved_data": given}) == 1


def test_thousands_are_grouped_in_threes():
    assert same_value(1234567, "1 234 567") and same_value(1234567, "1,234,567")
    assert not same_value(12345, "1 2 3 4 5") and not same_value(12345, "1,23,45")


NEW = {"id": 9, "issue": 7, "author": "me", "body": "done", "created": "2026-01-01 09:00:00"}
WANTED = {"tracker": {"comments": {"added": [{"issue": 7, "author": "me", "body": "done"}]}}}


def changed(*rows, **more):
    return {"tracker": {"comments": {"added": list(rows), "removed": [], "changed": [], **more}}}


def test_the_wanted_row():
    assert score(changes=changed(NEW), wanted=WANTED) == 1


@pytest.mark.parametrize(
    "changes",
    [
        changed(NEW, NEW | {"id": 10}),
        changed(NEW, NEW | {"id": 10, "body": "other"}),
        changed(NEW, removed=[NEW | {"id": 3}]),
        changed(NEW, changed=[[NEW | {"id": 3}, NEW | {"id": 3, "body": ""}]]),
        changed(NEW | {"author": "you"}),
        changed(NEW | {"body": True}),
        {**changed(NEW), "shop": {"cart": {"added": [{"id": 1}], "removed": [], "changed": []}}},
        {
            "tracker": {
                **changed(NEW)["tracker"],
                "projects": {"added": [], "removed": [{"key": "a"}], "changed": []},
            }
        },
        {},
    ],
)
def test_more_or_other_changes_fail(changes):
    assert score(changes=changes, wanted=WANTED) == 0


def test_a_new_row_may_get_the_number_of_a_removed_one():
    old = NEW | {"body": "old"}
    wanted = {"tracker": {"comments": {**WANTED["tracker"]["comments"], "removed": [9]}}}
    other = NEW | {"id": 10}
    assert score(changes=changed(other, removed=[old]), wanted=wanted) == 1
    assert score(changes=changed(changed=[[old, NEW]]), wanted=wanted) == 1
    assert score(changes=changed(changed=[[old, NEW | {"author": "you"}]]), wanted=wanted) == 0
    assert score(changes=changed(other, changed=[[old, NEW]]), wanted=wanted) == 0
    assert score(changes=changed(changed=[[old, NEW]]), wanted=WANTED) == 0
