"""Verdicts and their composition."""

import math

import pytest

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import (
    UnknownVerifier,
    all_of,
    gate,
    get_verifier,
    register_verifier,
    verify,
    weighted,
)
from hexathlon.tasks.errors import InvalidRecord
from hexathlon.tasks.task import Check
from support.toy import ToySource


def v(score: float, **fields) -> Verdict:
    return Verdict(score=score, **fields)


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_scores_lie_between_zero_and_one(score):
    with pytest.raises(InvalidRecord, match=r"^Verdict\.score must be "):
        v(score)


def test_all_of_is_the_minimum():
    whole = all_of({"state": v(1.0, terms={"rows": 1.0}), "answer": v(0.0, partial=0.5)})
    assert whole.score == 0.0
    assert whole.partial == 0.75
    assert whole.terms == {"state": 1.0, "state.rows": 1.0, "answer": 0.0}


def test_unscored_part_makes_the_verdict_unscored():
    whole = all_of({"a": v(1.0), "b": v(0.0, status="unscored")})
    assert whole.status == "unscored"
    assert not whole.passed


def test_gate_requires_all_hard_verdicts():
    assert gate({"safe": v(1.0)}, v(0.4)).score == 0.4
    assert gate({"safe": v(1.0), "legal": v(0.99)}, v(0.4)).score == 0.0


def test_weighted_is_the_weighted_mean():
    parts = {"a": v(1.0), "b": v(0.0), "c": v(0.5)}
    assert weighted(parts, {"a": 1, "b": 1, "c": 2}).score == pytest.approx(0.5)
    with pytest.raises(ValueError, match="one positive weight"):
        weighted(parts, {"a": 1, "b": 1})
    with pytest.raises(ValueError, match="one positive weight"):
        weighted(parts, {"a": 1, "b": 1, "c": -2})


def test_combining_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least one"):
        all_of({})


def test_verify_applies_headline_and_other_checks():
    task = ToySource().build("toy/count/easy/test/00001")
    target = task.params["target"]
    state = {"counter": target, "submitted": True}
    assert verify(task, state, []).passed
    assert verify(task, {**state, "counter": target + 1}, []).score == 0.0
    missed = Check(name="toy_count", params={"target": -1})
    both = task.model_copy(update={"checks": (*task.checks, missed)})
    assert verify(both, state, []).score == 0.0
    beside = missed.model_copy(update={"headline": False})
    reported = verify(task.model_copy(update={"checks": (*task.checks, beside)}), state, [])
    assert reported.score == 1.0
    assert reported.terms["toy_count#1" if "toy_count#1" in reported.terms else "toy_count"] == 0.0


def test_registered_by_name_once():
    assert get_verifier("toy_count").version == "1"
    with pytest.raises(UnknownVerifier, match="there is no verifier 'nope'"):
        get_verifier("nope")
    with pytest.raises(ValueError, match="is taken"):
        register_verifier("toy_count", "other:function", version="2")
