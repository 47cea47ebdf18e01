"""The verifier of rows and reports."""

import pytest

from hexathlon.evaluators.gui.state import gui_state, matches_value

DONE = {"status": "complete", "answer": "", "reason": "", "record": ""}
NOTE = {"id": 9, "title": "Soup", "text": "", "label": "", "pinned": False, "archived": False,
        "changed": "2026-03-05 09:00"}  # fmt: skip
WANTED = {
    "notes.notes": {"added": [{name: NOTE[name] for name in NOTE if name not in ("id", "changed")}]}
}


def score(changes, reports=(DONE,), wanted=WANTED, **answer):
    expected = {"status": "complete", "data": None, "record": "", "ordered": True, **answer}
    params = {"changes": wanted, "answer": expected}
    state = {"changes": changes, "reports": list(reports)}
    return gui_state(None, params, state, ()).score


def test_exactly_the_expected_rows_score():
    assert score({"notes.notes": {"added": [NOTE]}}) == 1
    assert score({"notes.notes": {"added": [{**NOTE, "changed": "later"}]}}) == 1
    assert score({}) == 0
    assert score({"notes.notes": {"added": [NOTE, NOTE]}}) == 0
    assert score({"notes.notes": {"added": [{**NOTE, "title": "Soups"}]}}) == 0
    assert score({"notes.notes": {"added": [NOTE]}}, reports=()) == 0


@pytest.mark.parametrize(
    "extra",
    [
        {"contacts.contacts": {"removed": [{"id": 1}]}},
        {"contacts.contacts": {"added": [{"id": 1, "name": "A"}]}},
        {"contacts.contacts": {"changed": [[{"id": 1, "name": "A"}, {"id": 1, "name": "B"}]]}},
    ],
)
def test_any_other_change_fails(extra):
    assert score({"notes.notes": {"added": [NOTE]}, **extra}) == 0


def test_changed_rows_may_change_nothing_else():
    wanted = {"notes.notes": {"changed": [[9, {"title": "Stew"}]]}}
    right = [NOTE, {**NOTE, "title": "Stew", "changed": "later"}]
    assert score({"notes.notes": {"changed": [right]}}, wanted=wanted) == 1
    more = [NOTE, {**NOTE, "title": "Stew", "pinned": True}]
    assert score({"notes.notes": {"changed": [more]}}, wanted=wanted) == 0
    assert score({}, wanted=wanted) == 0


@pytest.mark.parametrize("keys", [(16, 17), (17, 16), (20, 3)])
@pytest.mark.parametrize("swapped", [False, True])
def test_new_rows_are_known_by_their_content_whatever_their_keys(keys, swapped):
    threads = [{"name": name, "number": name, "muted": False, "blocked": False}
               for name in ("Ada", "Bea")]  # fmt: skip
    sent = [{"text": text, "mine": True, "file": ""} for text in ("One", "Two")]
    wanted = {
        "messages.threads": {"added": threads},
        "messages.messages": {"added": [{**row, "thread": {"row": thread}}
                                        for row, thread in zip(sent, threads, strict=True)]},
    }  # fmt: skip
    others = [*reversed(keys)] if swapped else keys
    changes = {
        "messages.threads": {"added": [{**row, "id": key}
                                       for row, key in zip(threads, keys, strict=True)]},
        "messages.messages": {"added": [{**row, "id": 90 + key, "thread": key}
                                        for row, key in zip(sent, others, strict=True)]},
    }  # fmt: skip
    assert score(changes, wanted=wanted) == (not swapped)


@pytest.mark.parametrize(
    ("given", "right"),
    [("12.50; Ada", True), ("12.5, ada", True), ("Ada; 12.50", False), ("12.50; Ada; 3", False),
     ("12.50", False), ("", False)],
)  # fmt: skip
def test_answers_are_compared_by_value_and_order(given, right):
    report = {**DONE, "answer": given}
    assert score({}, (report,), {}, data=["12.50", "Ada"]) == right


def test_a_refusal_needs_the_blocking_entry():
    refusal = {**DONE, "status": "infeasible", "record": "Rules 7"}
    assert score({}, (refusal,), {}, status="infeasible", record="rules 7") == 1
    assert score({}, ({**refusal, "record": ""},), {}, status="infeasible", record="Rules 7") == 0
    assert score({}, (DONE,), {}, status="infeasible", record="Rules 7") == 0
    assert score({}, (refusal,), {}) == 0


def test_matchers():
    assert matches_value({"words": ["red", "car"]}, "A RED  car.")
    assert not matches_value({"one_of": ["a", "b"]}, "c")
    assert matches_value({"any": True}, "x") and not matches_value({"any": True}, "")
    assert matches_value("1,200.00", "1200") and not matches_value(True, 1)


@pytest.mark.parametrize("whole", [True, False])
def test_nothing_else_may_have_changed_at_a_whole_report(whole):
    """A side effect that is put back after the report is too late."""
    right = {"notes.notes": {"added": [NOTE]}}
    beside = {**right, "contacts.contacts": {"removed": [{"id": 1}]}}
    answer = {"status": "complete", "data": None, "record": "", "ordered": True}
    request = {
        "answer": answer,
        "part": WANTED,
        "then": WANTED,
        **({"whole": True} if whole else {}),
    }
    params = {"changes": WANTED, "answer": answer, "requests": [request, request]}
    for first, expected in ((right, 1), (beside, int(not whole))):
        reports = [{**DONE, "changes": first}, {**DONE, "changes": right}]
        verdict = gui_state(None, params, {"changes": right, "reports": reports}, ())
        assert (verdict.score, verdict.terms["request 1"]) == (expected, expected)
