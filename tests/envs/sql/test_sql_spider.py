"""The real Spider questions: every gold query, replayed through the tools, scores 1."""

import json

import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.registry import get_source
from support.sql_toy import call


@pytest.fixture
def spider(shared_data, monkeypatch):
    if not (shared_data / "spider").is_dir():
        pytest.skip("Spider's files are not among the shared data")
    monkeypatch.setenv("HEXATHLON_DATA", str(shared_data))
    return get_source("spider")


def test_every_gold_query_replayed_through_the_tools_scores_one(spider):
    env = SQLEnv(taskset="spider", split="dev")
    size = spider.size("dev")
    assert size == 598
    for index in range(size):
        task_id = spider.address("dev", index)
        env.reset(seed=index, options={"task": task_id})
        reward, terms = 0.0, {}
        for action in spider.oracle(env.task):
            observation, reward, _, _, info = env.step(action)
            terms = info["reward_terms"]
            assert not observation.startswith("Error"), (task_id, observation)
        assert reward == 1.0, (task_id, terms)
        assert terms["sql_result"] == 1.0 and terms["bird_ex"] == 1.0, (task_id, terms)
    env.close()


def test_stored_final_states_get_the_same_verdict_without_the_environment(spider):
    env = SQLEnv(taskset="spider", split="dev")
    for index in range(0, 598, 29):
        env.reset(seed=0, options={"task": spider.address("dev", index)})
        env.step(call("submit", sql="SELECT count(*) FROM sqlite_master"))
        stored = json.loads(json.dumps(env.final_state()))
        assert verify(env.task, stored, []) == env.verdict()
    env.close()
