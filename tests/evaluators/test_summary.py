"""Summaries: hand-computed numbers, retries, missing evidence, memory."""

import json
import math
import tracemalloc

import pytest

from hexathlon.evaluators.records.canonical import canonical_json
from hexathlon.evaluators.summary import Summariser, summarise
from hexathlon.evaluators.tally import Spread
from support.records import make_record


def trial(task, reward=1.0, *, template="word", number=0, env="test/Echo-v0", **changes):
    key = {"env": env, "task": task, "seed": 0, "trial": number}
    if reward is None:
        changes.setdefault("status", "infra")
        changes.setdefault("cause", "env")
    return make_record(key=key, reward=reward, template=template, **changes)


def test_scores_by_hand():
    records = [
        trial("a", 1.0), trial("a", 0.0, number=1), trial("b", 1.0), trial("b", 1.0, number=1),
        trial("c", 0.0, template="other"), trial("c", 0.0, template="other", number=1),
    ]  # fmt: skip
    summary = summarise(records)
    (env,) = summary.envs
    assert summary.records == 6
    assert env.score.mean == pytest.approx(0.5)
    assert env.score.interval.clusters == 2
    assert env.score.pass_at == {1: pytest.approx(0.5), 2: pytest.approx(2 / 3)}
    assert env.score.pass_hat == {1: pytest.approx(0.5), 2: pytest.approx(1 / 3)}
    assert env.score.consistency == pytest.approx((0 + 1 + 1) / 3)
    assert {name: score.mean for name, score in env.templates.items()} == {
        "other": 0.0,
        "word": 0.75,
    }
    assert env.task_means() == {"a": 0.5, "b": 1.0, "c": 0.0}
    assert env.clusters() == {"a": "word", "b": "word", "c": "other"}
    assert summary.overall.mean == pytest.approx(0.5)


def test_tasks_with_an_empty_expected_answer_are_marked_by_any_rule():
    records = [
        trial("a", terms={"empty_gold": 1.0}),
        trial("b", terms={"spider.empty_gold": 1.0}),
        trial("c", terms={"visible": 1.0, "spider": 0.0}),
    ]
    (env,) = summarise(records).envs
    assert {name: task.empty_gold for name, task in env.tally.tasks.items()} == {
        "a": True, "b": True, "c": False,
    }  # fmt: skip


def test_rankings_count_trials_without_a_score_as_failed():
    records = [
        trial("a", 1.0), trial("a", None, number=1), trial("b", None),
        trial("c", None, status="unscored", cause="judge"), trial("d", 1.0),
    ]  # fmt: skip
    (env,) = summarise(records).envs
    assert env.task_means() == {"a": 1.0, "d": 1.0}
    assert env.rank_means() == {"a": 0.5, "b": 0.0, "c": 0.0, "d": 1.0}
    assert math.fsum(env.rank_means().values()) / 4 == env.score.bounds.low


def test_unscored_trials_are_counted_and_bounded():
    records = [trial(f"t{index}", 1.0) for index in range(6)]
    records += [trial("i1", None), trial("i2", None, cause="provider")]
    records += [trial("u", None, status="unscored", cause="judge")]
    (env,) = summarise(records).envs
    score = env.score
    assert (score.trials, score.scored, score.unscored, score.infra) == (9, 6, 1, 2)
    assert score.mean == 1.0
    assert score.bounds.infra_as_failure == pytest.approx(6 / 8)
    assert (score.bounds.low, score.bounds.high) == (pytest.approx(6 / 9), 1.0)
    assert env.tally.causes == {
        ("infra", "env"): 1,
        ("infra", "provider"): 1,
        ("unscored", "judge"): 1,
    }
    assert "2 of 9" in score.unrankable


def test_a_sound_score_is_rankable_and_an_empty_one_is_not():
    sound = summarise([trial(f"t{index}", float(index % 2)) for index in range(40)])
    assert sound.envs[0].score.unrankable is None
    empty = summarise([trial("a", None)])
    assert empty.envs[0].score.mean is None
    assert empty.envs[0].score.unrankable == "no trial was scored"
    assert (empty.envs[0].score.bounds.low, empty.envs[0].score.bounds.high) == (0.0, 1.0)


def test_retried_trial_counts_once():
    records = [
        trial("a", None, cause="sandbox"),
        trial("b", 1.0),
        trial("a", 1.0, attempt=2),
    ]
    summary = summarise(records)
    (env,) = summary.envs
    assert summary.records == 2
    assert (env.score.trials, env.score.infra, env.score.mean) == (2, 0, 1.0)
    assert {cause: n for cause, n in env.tally.causes.items() if n} == {("retried", "sandbox"): 1}
    assert env.tally.usage["agent"].calls == 3  # what was spent stays spent


def test_earlier_attempts_show_as_retried():
    earlier = [{"attempt": 1, "cause": "provider", "message": "429"}]
    (env,) = summarise([trial("a", 1.0, attempt=2, earlier=earlier)]).envs
    assert env.tally.causes == {("retried", "provider"): 1}


def test_environment_versions_are_separate():
    summary = summarise([trial("a", 1.0), trial("a", 0.0, env_version="2")])
    assert [(env.version, env.score.mean) for env in summary.envs] == [("1", 1.0), ("2", 0.0)]


def test_plan_gives_the_number_of_missing_trials():
    plan = {"keys": [["test/Echo-v0", "a", 0, 0], ["test/Echo-v0", "b", 0, 0]]}
    (env,) = summarise([trial("a", 1.0)], plan).envs
    assert (env.planned, env.score.trials) == (2, 1)


def test_cost_is_unknown_if_one_trial_has_none():
    def priced(task, cost):
        return trial(task, usage={"agent": {"input": 3, "output": 4, "calls": 1, "cost": cost}})

    assert summarise([priced("a", 0.5), priced("b", 0.25)]).envs[0].tally.total_cost() == 0.75
    (env,) = summarise([priced("a", 0.5), priced("b", None)]).envs
    assert env.tally.total_cost() is None
    assert env.tally.total_tokens() == 14


def test_partial_credit_is_separate_from_the_score():
    (env,) = summarise([trial("a", 0.0, partial=0.5), trial("b", 1.0)]).envs
    assert (env.score.mean, env.score.partial) == (0.5, 0.5)


def test_order_of_records_does_not_matter_and_json_is_plain():
    records = [trial(f"t{i}", (i % 3) / 2, template=f"p{i % 4}") for i in range(50)]
    one, other = summarise(records).as_json(), summarise(records[::-1]).as_json()
    assert canonical_json(one) == canonical_json(other)
    assert json.loads(json.dumps(one))["envs"][0]["score"]["tasks"] == 50


def test_no_records_give_an_empty_summary():
    summary = summarise([])
    assert (summary.envs, summary.overall, summary.records) == ((), None, 0)


def test_spread_is_exact_to_its_bins():
    spread = Spread()
    assert spread.mean is spread.quantile(0.5) is None
    values = [1.01**index for index in range(1000)]
    for value in values:
        spread.add(value)
    assert spread.mean == pytest.approx(math.fsum(values) / 1000)
    for share in (0.05, 0.5, 0.95, 1.0):
        assert spread.quantile(share) == pytest.approx(values[int(share * 1000) - 1], rel=0.013)


def test_memory_does_not_grow_with_trials():
    def peak(trials):
        summariser = Summariser()
        for task in range(20):
            summariser.count(trial(f"t{task}"))
        tracemalloc.start()
        for number in range(1, trials):
            for task in range(20):
                summariser.count(trial(f"t{task}", number=number))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(200) < 1.2 * peak(20) + 10_000


def test_faults_of_failed_trials_are_counted_by_name():
    wrong = {"fault_price": 1.0, "check.fault_option": 1.0, "fault_category": 0.0, "price": 1.0}
    summary = summarise(
        [
            trial("a", 0.0, terms=wrong),
            trial("b", 0.0, terms={"fault_price": 1.0}),
            trial("c", 1.0, terms={"fault_price": 1.0}),
        ]
    )
    assert summary.as_json()["envs"][0]["faults"] == {"option": 1, "price": 2}


def test_unmet_terms_are_counted_where_verifiers_name_no_faults():
    terms = {"changes": 0.0, "data": 1.0, "status": 0.0}
    records = [
        trial("a", 0.0, terms=terms), trial("b", 0.0, terms={**terms, "status": 1.0}),
        trial("c", 1.0, terms=terms), trial("d", 0.0, terms={"fault_price": 1.0, "spent": 0.0}),
        trial("e", None, terms=terms),
    ]  # fmt: skip
    (env,) = summarise(records).envs
    assert env.tally.unmet == {"changes": 2, "status": 1} and env.tally.faults == {"price": 1}


def test_scores_by_look():
    records = [
        trial("a", 1.0, final_state={"look": "night"}),
        trial("b", 0.0, final_state={"look": "night"}),
        trial("c", 1.0, final_state={"look": "studio"}),
        trial("d", None, final_state={"look": "x"}),
    ]  # fmt: skip
    looks = summarise(records).as_json()["envs"][0]["looks"]
    assert looks == {"night": {"trials": 2, "mean": 0.5}, "studio": {"trials": 1, "mean": 1.0}}
    assert summarise([trial("a")]).as_json()["envs"][0]["looks"] == {}
