"""The arena: scenes played by several agents, performances compared by rules and by models."""

import itertools

import pytest

from hexathlon.baselines.agents.scripted import ScriptedAgent
from hexathlon.baselines.agents.trivial import NoopAgent, RandomAgent
from hexathlon.baselines.arena import (
    Performance,
    group_comparer,
    rubric_comparer,
    run_arena,
    run_arena_async,
    score_comparer,
    simulate,
)
from hexathlon.baselines.judging.comparing import GroupwiseJudge, PairwiseJudge
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.audit.labelled import generate_labels
from hexathlon.tasks.registry import get_source

RUBRIC, REPLIES = generate_labels(4, 1600)


def test_agents_on_role_play_scenes_are_rated_by_the_rules():
    source = get_source("roleplay")
    scenes = [source.address("test", index) for index in range(12)]
    agents = {
        "oracle": ScriptedAgent("oracle"), "spam": ScriptedAgent("keyword_spam"),
        "random": RandomAgent(), "noop": NoopAgent(),
    }  # fmt: skip
    performances = simulate(agents, scenes)
    assert len(performances) == 48 and all(performance.played for performance in performances)
    assert {performance.score for performance in performances if performance.agent == "oracle"} == {
        1.0
    }
    result = run_arena(performances, score_comparer)
    assert result.ratings[0].player == "oracle" and result.ratings[0].score == 1.0
    assert result.ratings[0].low > result.ratings[1].high
    assert len(result.comparisons) == 12 * 6 and result.abstained == result.unplayed == 0


def made(agent, scene, value, status="scored"):
    record = {"status": status, "reward": value, "partial": value, "opening": "", "steps": []}
    return Performance(agent, scene, record)


def test_abstentions_and_infra_failures_do_not_affect_ratings():
    rows = [made(a, f"s{i}", float(a == "x")) for i in range(4) for a in ("x", "y")]
    rows += [made("x", "s9", 1.0), made("y", "s9", None, "infra")]

    def sometimes(a, b):
        return None if a.scene == "s0" else score_comparer(a, b)

    result = run_arena(rows, sometimes)
    assert (len(result.comparisons), result.abstained, result.unplayed) == (3, 1, 1)
    assert run_arena(rows[:2], lambda a, b: None).ratings == ()


def test_agents_without_connecting_comparisons_are_rated_separately():
    rows = [made(a, f"s{i}", float(a in "xu")) for i in range(4) for a in ("x", "y")]
    rows += [made(a, f"t{i}", float(a in "xu")) for i in range(3) for a in ("u", "v")]
    result = run_arena(rows, score_comparer)
    assert [group.name for group in result.groups] == ["u, v", "x, y"]
    with pytest.raises(ValueError, match="2 groups without a common scale: u, v; x, y"):
        _ = result.ratings


def test_both_orders_cancel_position_bias():
    rows = [made(a, f"s{i}", 0.0) for i in range(6) for a in ("x", "y")]
    liked = run_arena(rows, lambda a, b: 1.0)
    fair = run_arena(rows, lambda a, b: 1.0, both_orders=True)
    assert liked.ratings[0].rating > 100
    assert all(rating.rating == pytest.approx(0.0, abs=1e-6) for rating in fair.ratings)


def planted():
    """Return three agents with the best, a medium and the worst reply of each labelled scene."""
    rows, groups = [], itertools.groupby(REPLIES, key=lambda reply: reply.scene)
    for name, group in itertools.islice(groups, 15):
        replies = sorted(group, key=known)
        picks = {"weak": replies[0], "middling": replies[len(replies) // 2], "strong": replies[-1]}
        for agent, reply in picks.items():
            question, answer = (line.text for line in reply.transcript.lines[:2])
            steps = [{"action": answer, "observation": ""}]
            record = {"status": "scored", "reward": 0.0, "opening": question, "steps": steps}
            rows.append(Performance(agent, str(name), record))
    return rows


def known(reply):
    values = {
        criterion.id: criterion.value_of(reply.labels[criterion.id])
        for criterion in RUBRIC.criteria
    }
    return score(RUBRIC, values).value


def test_pairwise_judge_recovers_the_planted_order(ask):
    rows = planted()

    async def work(client):
        return await run_arena_async(rows, rubric_comparer(PairwiseJudge(client), RUBRIC))

    result = ask("honest", work)
    assert [rating.player for rating in result.ratings] == ["strong", "middling", "weak"]
    assert result.ratings[0].low > result.ratings[2].high
    assert len(result.comparisons) == 45


def test_groupwise_judge_recovers_the_planted_order(ask):
    rows = planted()

    async def work(client):
        judge = GroupwiseJudge(client, permutations=2, scores=True)
        return await run_arena_async(rows, group_comparer(judge, RUBRIC, rows))

    result = ask("honest", work)
    assert [rating.player for rating in result.ratings] == ["strong", "middling", "weak"]


def test_invalid_replies_give_no_ratings(ask):
    rows = planted()[:6]

    async def work(client):
        return await run_arena_async(rows, rubric_comparer(PairwiseJudge(client), RUBRIC))

    result = ask("malformed", work)
    assert result.ratings == () and result.abstained == 6
