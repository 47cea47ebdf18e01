"""`shopping_shift` on plain states: every close counts, and credit is by case."""

import pytest

from hexathlon.evaluators.shopping.shift import shopping_shift


def close(changes: dict, declines: dict | None = None, cents: int = 0) -> dict:
    return {"changes": changes, "declines": declines or {}, "net_cents": cents}


DUE = [
    close({"orders/O1": {"note": "a"}}),
    close({"orders/O2": {"refunds": {"card": 500}}}, {"O3": ["not_late", "R4"]}, 500),
    close({}),
]


def graded(*closes: dict, outcome: str = "ended"):
    state = {"closes": list(closes), "outcome": outcome}
    return shopping_shift(None, {"closes": DUE}, state, ())  # type: ignore[arg-type]


def test_a_right_day():
    verdict = graded(*DUE)
    assert (verdict.score, verdict.partial, verdict.evidence["faults"]) == (1.0, 1.0, [])


@pytest.mark.parametrize(
    "second",
    [
        close({}, {"O3": ["not_late", "R4"]}, 500),
        close(DUE[1]["changes"], {}, 500),
        close(DUE[1]["changes"], {"O3": ["not_late", "R5"]}, 500),
        close(DUE[1]["changes"], {"O3": ["not_late", "R4"], "O1": ["not_late", "R4"]}, 500),
        close(DUE[1]["changes"], {"O3": ["not_late", "R4"]}, 501),
        close({**DUE[1]["changes"], "orders/O9": {"note": "b"}}, {"O3": ["not_late", "R4"]}, 500),
        close({**DUE[1]["changes"], "orders/O1": {"note": ""}}, {"O3": ["not_late", "R4"]}, 500),
    ],
)
def test_one_wrong_case_fails_the_day_and_costs_its_share(second):
    verdict = graded(DUE[0], second, DUE[2])
    assert (verdict.score, verdict.partial) == (0.0, pytest.approx(2 / 3))
    assert verdict.evidence["cases"][0]["case"] == 2


def test_a_record_that_is_set_right_later_was_wrong_all_the_same():
    verdict = graded(close({}), close({**DUE[1]["changes"], **DUE[0]["changes"]},
                                      DUE[1]["declines"], 500), DUE[2])  # fmt: skip
    assert verdict.score == 0.0 and verdict.partial == pytest.approx(2 / 3)


def test_a_day_that_was_not_finished():
    verdict = graded(DUE[0], outcome="open")
    assert (verdict.score, verdict.terms["ended"]) == (0.0, 0.0)
    assert verdict.partial == pytest.approx(1 / 3)


def test_nothing_at_all():
    verdict = graded(outcome="open")
    assert (verdict.score, verdict.partial) == (0.0, 0.0)
