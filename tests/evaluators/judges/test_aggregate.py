"""Aggregators: hand-computed values."""

import itertools

import pytest

from hexathlon.evaluators.judges.aggregate import AGGREGATORS, mean_score, score
from hexathlon.evaluators.judges.groups import averaged, orders, tournament
from hexathlon.evaluators.judges.rubric import RubricError
from hexathlon.evaluators.judges.rubric_files import build_rubric

WHY = "Only a reader can tell."


def rubric(aggregator, *rows):
    criteria = [
        {"id": name, "text": f"The reply shows {name}.", "weight": weight, "why": WHY, **more}
        for name, weight, more in rows
    ]
    return build_rubric({"id": "r", "aggregator": aggregator, "criteria": criteria}, "r")


PITFALL = {"kind": "pitfall"}
HARD = {"kind": "hard"}
MIXED = (("a", 5, {}), ("b", 3, {}), ("p", -4, PITFALL))


@pytest.mark.parametrize("values, expected", [
    ((1, 0, 1), (5 - 4) / 8),
    ((1, 1, 0), 1.0),
    ((0, 0, 1), -4 / 8),
    ((0, 1, 0), 3 / 8),
])  # fmt: skip
def test_healthbench(values, expected):
    result = score(rubric("healthbench", *MIXED), dict(zip("abp", map(float, values), strict=True)))
    assert result == (expected, expected, expected, 0)


def test_healthbench_clips_only_the_mean():
    assert mean_score("healthbench", [-0.5, 0.25]) == 0.0
    assert mean_score("healthbench", [-0.5, 1.0, 1.0]) == 0.5
    assert mean_score("rar", [0.25, 0.75]) == 0.5


def test_rar():
    one = rubric("rar", ("a", 5, {}), ("b", 3, {}), ("c", 2, {}))
    assert score(one, {"a": 1.0, "b": 0.0, "c": 1.0}).value == 0.7


@pytest.mark.parametrize("h, a, p, expected", [
    (1, 1, 0, 1.0), (1, 0, 0, 0.0), (0, 1, 0, 0.0), (1, 1, 1, 0.5), (1, 0, 1, 0.0),
])  # fmt: skip
def test_hard_gate(h, a, p, expected):
    one = rubric("hard_gate", ("h", 1, HARD), ("a", 4, {}), ("p", -2, PITFALL))
    assert score(one, {"h": float(h), "a": float(a), "p": float(p)}).value == expected


def test_hard_gate_without_soft_rules_is_a_product():
    one = rubric("hard_gate", ("h", 1, HARD), ("i", 1, HARD))
    assert score(one, {"h": 1.0, "i": 1.0}).value == 1.0
    assert score(one, {"h": 1.0, "i": 0.0}).value == 0.0


def test_ordinal():
    menu = {"choices": ["poor", "fair", "good", "best"]}
    one = rubric("ordinal", ("a", 1, menu), ("b", 3, menu))
    values = {"a": one.criteria[0].value_of("fair"), "b": one.criteria[1].value_of("best")}
    assert score(one, values).value == pytest.approx((1 / 3 + 3 * 1.0) / 4)


def test_checkpoint_tree():
    one = rubric(
        "checkpoint_tree",
        ("root", 1, {}), ("left", 1, {"parent": "root"}), ("right", 1, {"parent": "root"}),
        ("l1", 1, {"parent": "left"}), ("l2", 1, {"parent": "left"}),
        ("r1", 3, {"parent": "right"}), ("r2", 1, {"parent": "right"}),
    )  # fmt: skip
    assert [leaf.id for leaf in one.decided] == ["l1", "l2", "r1", "r2"]
    result = score(one, {"l1": 1.0, "l2": 0.0, "r1": 1.0, "r2": 0.0})
    assert result.value == pytest.approx((0.5 + 0.75) / 2)


def test_moa_before_any_history_is_the_mean_over_dimensions():
    one = rubric(
        "moa", ("a", 1, {"dimension": "voice"}), ("b", 3, {"dimension": "voice"}),
        ("c", 1, {"dimension": "facts"}),
    )  # fmt: skip
    assert score(one, {"a": 1.0, "b": 0.0, "c": 1.0}).value == pytest.approx((0.25 + 1.0) / 2)


@pytest.mark.parametrize("aggregator, rows, said", [
    ("healthbench", [("p", -1, PITFALL)], "at least one criterion of positive weight"),
    ("rar", [("a", 1, {}), ("p", -1, PITFALL)], "takes no pitfalls"),
    ("ordinal", [("a", 1, {})], "'a' has no choices"),
    ("moa", [("a", 1, {})], "'a' names no dimension"),
    ("checkpoint_tree", [("a", 1, {"parent": "z"})], "which is not a criterion"),
    ("checkpoint_tree", [("a", 1, {"parent": "b"}), ("b", 1, {"parent": "a"})], "above itself"),
])  # fmt: skip
def test_rubrics_unfit_for_their_aggregator_are_rejected(aggregator, rows, said):
    with pytest.raises(RubricError, match=said):
        rubric(aggregator, *rows)


def test_undecided_criteria_leave_bounds_and_no_score():
    one = rubric("healthbench", *MIXED)
    assert score(one, {"a": 1.0, "b": None, "p": None}) == (None, (5 - 4) / 8, 1.0, 2)
    gate = rubric("hard_gate", ("h", 1, HARD), ("a", 1, {}))
    assert score(gate, {"h": 0.0, "a": None}) == (0.0, 0.0, 0.0, 1)
    assert score(gate, {"h": None, "a": 0.5}) == (None, 0.0, 0.5, 1)


@pytest.mark.parametrize("name", sorted(AGGREGATORS))
def test_bounds_contain_every_completion(name):
    more = [{}, {}, {}]
    if name == "ordinal":
        more = [{"choices": ["bad", "good"]}] * 3
    elif name == "moa":
        more = [{"dimension": word} for word in ("x", "x", "y")]
    rows = [("a", 5, more[0]), ("b", 3, more[1]), ("c", 2, more[2])]
    if name in ("healthbench", "hard_gate"):
        rows.append(("p", -4, PITFALL))
    one = rubric(name, *rows)
    ids = [row[0] for row in rows]
    for values in itertools.product((0.0, 1.0, None), repeat=len(ids)):
        result = score(one, dict(zip(ids, values, strict=True)))
        choices = [(0.0, 1.0) if value is None else (value,) for value in values]
        whole = [
            score(one, dict(zip(ids, full, strict=True))).value
            for full in itertools.product(*choices)
        ]
        assert (result.low, result.high) == (min(whole), max(whole))


def test_orders_are_seeded_balanced_permutations():
    made = orders(5, 6, "task", 1)
    assert made == orders(5, 6, "task", 1) != orders(5, 6, "task", 2)
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in made)
    for member in range(5):
        assert sum(order.index(member) for order in made) / 6 == 2.0


def test_group_values_are_averaged_over_the_calls_that_answered():
    shown = [((2, 0, 1), (1.0, 0.5, 0.0)), ((1, 0, 2), (0.5, 1.0, 0.0)), ((0, 1, 2), None)]
    assert averaged(3, shown) == [0.75, 0.25, 0.5]
    assert averaged(2, [((0, 1), None)]) == [None, None]


def test_tournament():
    results = {(0, 1): 1.0, (0, 2): 0.5, (1, 2): None}
    assert tournament(3, results) == [0.75, 0.0, 0.5]
    assert tournament(2, {(0, 1): None}) == [None, None]
