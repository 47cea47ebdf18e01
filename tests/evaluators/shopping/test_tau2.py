"""tau2's checks by its own rule, and the additional requirements of the strict form."""

import pytest

from hexathlon.evaluators.shopping.tau2 import tau2_communicate, tau2_db, tau2_strict

CHANGED = {"orders/#W1": {"status": "cancelled", "amount": 5}}


def says(*texts):
    return [{"role": "assistant", "content": text} for text in texts]


def strict(state=None, transcript=(), **params):
    expected = {"expected": CHANGED, "strings": [], "transfer": False, "looked_at": ["#W1"]}
    final = {"changes": CHANGED, "outcome": "ended", "looked_at": ["#W1"], **(state or {})}
    expected.update(params)
    return tau2_strict(None, expected, final, transcript)


def test_the_database_is_compared_as_a_whole():
    for changes, score in [
        (CHANGED, 1.0),
        ({"orders/#W1": {"amount": 5.0, "status": "cancelled"}}, 1.0),
        ({}, 0.0),
        ({**CHANGED, "users/u": {"x": 1}}, 0.0),
    ]:
        assert tau2_db(None, {"expected": CHANGED}, {"changes": changes}, ()).score == score


def test_communicate_is_a_substring_without_commas_as_in_tau2():
    params = {"strings": ["1234.5", "IL"]}
    assert tau2_communicate(None, params, {}, says("It is $1,234.50.", "until May")).score == 1.0
    assert tau2_communicate(None, params, {}, says("It is 1234.5")).score == 0.0
    assert tau2_communicate(None, params, {}, [{"role": "tool", "content": "1234.5 il"}]).score == 0


@pytest.mark.parametrize(
    ("said", "score"),
    [("The total is 10.", 1.0), ("The total is 2010.", 0.0), ("It is 10.5", 0.0), ("10%", 1.0)],
)
def test_strict_requires_whole_tokens(said, score):
    assert strict(transcript=says(said), strings=["10"]).score == score


def test_strict_rejects_listings_of_all_numbers():
    dump = says(" ".join(map(str, range(100))))
    assert strict(transcript=dump, strings=["10"]).score == 0.0


def test_strict_requires_a_lookup_if_nothing_changes():
    silent = {"changes": {}, "looked_at": []}
    assert strict(silent, expected={}).score == 0.0
    assert strict({**silent, "looked_at": ["#W2"]}, expected={}).score == 0.0
    assert strict({**silent, "looked_at": ["#W1", "#W2"]}, expected={}).score == 1.0
    handed = {**silent, "transferred": True}
    assert strict(handed, expected={}, transfer=True, looked_at=[]).score == 1.0
    assert strict({"transferred": True}).score == 0.0
    assert strict({"outcome": "open"}).score == 0.0
