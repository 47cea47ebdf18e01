"""The client: cache, retries, faults of servers, schemas."""

import asyncio

import pytest

from hexathlon.baselines.engines.errors import UnknownModel
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.judging.cache import VerdictCache
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.audit.labelled import generate_labels

RUBRIC, REPLIES = generate_labels(0, 240)
ROWS = [(criterion, reply) for reply in REPLIES for criterion in RUBRIC.judged]


def decide_all(client, rows=ROWS, repeat=0):
    judge = PointwiseJudge(client, guarded=False)  # one question each: this is about the client
    return asyncio.gather(
        *(judge.decide(one, reply.transcript, repeat=repeat) for one, reply in rows)
    )


def test_honest_judge_is_accurate(ask):
    result = ask("honest", decide_all)
    assert [one.label for one in result] == [reply.labels[one.id] for one, reply in ROWS]
    assert {one.source for one in result} == {"model"}
    for (_, reply), decision in zip(ROWS, result, strict=True):
        assert reply.transcript.find(decision.quote, "agent") == decision.turn == 1


def test_cache_answers_repeated_questions(ask, judges, tmp_path):
    cache = tmp_path / "verdicts.cache"
    first = ask("honest", decide_all, cache=cache)
    before = judges.requests
    again = ask("honest", decide_all, cache=cache)
    assert judges.requests == before
    assert {one.source for one in again} == {"cache"}
    assert [one.label for one in again] == [one.label for one in first]
    ask("honest", decide_all, cache=cache, temperature=0.5)
    assert judges.requests == before + len(ROWS)  # other sampling settings make another judge


def test_concurrent_identical_questions_are_asked_once(ask, judges):
    before = judges.requests
    result = ask("honest", lambda client: decide_all(client, ROWS[:1] * 20))
    assert judges.requests == before + 1
    assert len({one.label for one in result}) == 1


def test_repeats_bypass_the_cache(ask, judges):
    async def work(client):
        return [await decide_all(client, ROWS[:5], repeat) for repeat in (0, 1, 2, 0)]

    before = judges.requests
    ask("honest", work)
    assert judges.requests == before + 15


def test_invalid_replies_are_retried_a_bounded_number_of_times(ask, judges):
    before = judges.requests
    result = ask("malformed", decide_all)
    assert judges.requests == before + 3 * len(ROWS)
    assert {one.value for one in result} == {None} == {one.label for one in result}
    assert all(one.retries == 2 and len(one.faults) == 3 and one.why for one in result)


def test_invalid_replies_are_not_cached(ask, judges, tmp_path):
    cache = tmp_path / "verdicts.cache"
    ask("malformed", lambda client: decide_all(client, ROWS[:3]), cache=cache)
    assert len(VerdictCache(cache)) == 0


def test_refusals_are_not_verdicts(ask):
    result = ask("refusing", lambda client: decide_all(client, ROWS[:4]), retries=1)
    assert [(one.value, one.why, one.retries) for one in result] == [(None, "refused", 1)] * 4


def test_slow_judge_times_out(ask):
    result = ask("slow", lambda client: decide_all(client, ROWS[:8]))
    assert [one.label for one in result] == [r.labels[c.id] for c, r in ROWS[:8]]
    late = ask("slow", lambda client: decide_all(client, ROWS[:2]), timeout=0.05, request_retries=0)
    assert [(one.value, one.why) for one in late] == [(None, "provider")] * 2
    assert all("timeout" in one.faults[-1] for one in late)


def test_server_failure_is_unscored_and_wrong_name_is_fatal(ask, judges):
    opened = JudgeSettings(judges.model("unknown"), structured=True)
    assert identify_judge(opened).model == "unknown"
    result = ask("broken", lambda client: decide_all(client, ROWS[:2]), request_retries=0)
    assert [one.why for one in result] == ["provider"] * 2
    with pytest.raises(UnknownModel):
        ask("unknown", lambda client: decide_all(client, ROWS[:1]))


def test_schemas_are_used_if_the_server_supports_them(judges):
    assert identify_judge(JudgeSettings(judges.model("honest"))).structured
    assert not identify_judge(JudgeSettings(judges.model("no-schema"))).structured
    assert identify_judge(JudgeSettings(f"endpoint:{judges.url}")).model == "honest"


def test_prompts_are_pinned(ask, judges):
    judges.keep_bodies, judges.bodies = True, []
    try:
        ask("honest", lambda client: decide_all(client, ROWS[:4]), seed=5)
        first = {body["messages"][1]["content"]: body for body in judges.bodies}
        judges.bodies = []
        ask("honest", lambda client: decide_all(client, ROWS[:4]), seed=5)
        assert {body["messages"][1]["content"]: body for body in judges.bodies} == first
    finally:
        judges.keep_bodies = False
    body = next(iter(first.values()))
    assert body["temperature"] == 0.0 and body["max_tokens"] == 2048
    assert len({body["seed"] for body in first.values()}) == 4
    schema = body["response_format"]["json_schema"]
    assert schema["strict"] and schema["schema"]["required"] == ["evidence", "label"]


def test_settings_that_change_verdicts_change_the_identity(judges):
    base = identify_judge(JudgeSettings(judges.model("honest"), structured=True))
    for change in ({"temperature": 1.0}, {"max_tokens": 9}, {"seed": 1}, {"retries": 0},
                   {"revision": "b"}, {"family": "own"}):  # fmt: skip
        other = identify_judge(JudgeSettings(judges.model("honest"), structured=True, **change))
        assert other.hash != base.hash, change
    same = identify_judge(JudgeSettings(judges.model("honest"), structured=True, concurrency=2))
    assert same.hash == base.hash
    assert {"model", "revision", "prompt_hash", "temperature", "seed", "hash"} <= set(
        base.as_json()
    )


@pytest.mark.parametrize("model, error, said", [
    ("agent:oracle", UsageError, "as judge, got agent:oracle"),
    ("honest", UsageError, "must be agent:NAME, endpoint:URL#NAME or a checkpoint"),
    ("endpoint:http://127.0.0.1:9/v1#m", EnvironmentUnavailable, "connection"),
])  # fmt: skip
def test_unavailable_judges(model, error, said):
    with pytest.raises(error, match=said):
        identify_judge(JudgeSettings(model, request_retries=0, timeout=5.0))


def test_torn_cache_keeps_complete_lines(tmp_path):
    path = tmp_path / "verdicts.cache"
    cache = VerdictCache(path)
    cache.put("a", "one")
    cache.put("b", "two")
    cache.close()
    with path.open("ab") as file:
        file.write(b'{"key": "c", "rep')
    again = VerdictCache(path)
    assert (again.get("a"), again.get("b"), again.get("c"), len(again)) == ("one", "two", None, 2)
    again.put("d", "four")
    again.close()
    again.close()
    assert VerdictCache(path).get("d") == "four"
