"""The verifier of answers given as values."""

import pytest

from hexathlon.evaluators.sql.answers import sql_answer
from hexathlon.evaluators.verifier import verify
from support.sql_toy import make_task

TASK = make_task("count")


def score(answer, label, kind="answer"):
    return sql_answer(TASK, {"label": label}, {"kind": kind, "answer": answer}, ()).score


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (["3"], ["3"]), (["3.0"], ["3"]), (["3e0"], [3]), (["100"], ["1e2"]),
        ([" Oslo "], ["Oslo"]),
        (["b", "a"], ["a", "b"]), (["a", "a"], ["a", "a"]), ([], []), (["-0"], ["0"]),
        (["NaN"], ["NaN"]), (["0.50", "x"], ["x", "0.5"]), (["1e999999999"], ["1e999999999"]),
    ],
)  # fmt: skip
def test_the_same_values_score(answer, label):
    assert score(answer, label) == 1.0


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (["3"], ["4"]), ([], ["3"]), (["3"], []), (["a"], ["a", "a"]), (["a", "a"], ["a"]),
        (["a", "b"], ["a"]), (["oslo"], ["Oslo"]), (["a, b"], ["a", "b"]), (["['a']"], ["a"]),
        (["1,000"], ["1000"]), (["nan"], ["NaN"]), (["Infinity"], ["1e999999999"]),
        (["1" + "0" * 40], ["1" + "0" * 39 + "1"]), (["1e999999999"], ["1e99999999"]),
        ([str(n) for n in range(500)], ["7"]),
    ],
)  # fmt: skip
def test_other_values_score_zero(answer, label):
    assert score(answer, label) == 0.0


@pytest.mark.parametrize("kind", ["sql", "database", "impossible", "none"])
def test_only_submitted_answers_count(kind):
    verdict = sql_answer(TASK, {"label": ["3"]}, {"kind": kind, "answer": ["3"]}, ())
    assert verdict.score == 0.0 and verdict.terms == {"no_answer": 1.0}
    assert score(None, ["3"]) == 0.0


def test_verifier_is_registered():
    check = TASK.checks[0].model_copy(update={"name": "sql_answer", "params": {"label": ["3"]}})
    task = TASK.model_copy(update={"checks": (check,)})
    assert verify(task, {"kind": "answer", "answer": ["3.00"]}, ()).score == 1.0
    assert verify(task, {"kind": "answer", "answer": ["4"]}, ()).score == 0.0
