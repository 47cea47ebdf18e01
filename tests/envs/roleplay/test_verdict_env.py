"""The environment of verdicts: what a judge is asked, and how its answer is scored."""

import gymnasium
import pytest

from hexathlon.envs.testing import assert_conforms
from hexathlon.evaluators.judges.prompts import pointwise_prompt
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play

ENV = "judging/Verdicts-v0"
SOURCE = get_source("verdicts")
IDS = [SOURCE.address("dev", number, "tiny") for number in range(24)]


def verdict_of(task_id, script):
    env = gymnasium.make(ENV)
    env.reset(seed=0, options={"task": task_id})

    def respond(action):
        observation, _, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    play(script, respond)
    return env.verdict()


@pytest.mark.parametrize("task_id", IDS)
def test_right_verdicts_score_and_near_misses_do_not(task_id):
    task = SOURCE.build(task_id)
    assert verdict_of(task_id, SOURCE.oracle(task)).score == 1
    assert [verdict_of(task_id, s).score for s in SOURCE.alternatives(task).values()] == [1]
    misses = {name: verdict_of(task_id, s) for name, s in SOURCE.mutants(task).items()}
    assert {name: verdict.score for name, verdict in misses.items()} == dict.fromkeys(misses, 0)
    assert misses["abstention"].terms["abstained"] == misses["wrong_label"].terms["read"] == 1
    assert misses["invented_evidence"].terms["read"] == 0
    assert misses["wrong_label"].terms["critique"] == 1


@pytest.mark.parametrize("task_id", IDS[:6])
def test_the_agent_reads_what_a_judge_is_asked(task_id):
    task = SOURCE.build(task_id)
    env = gymnasium.make(ENV)
    opening, info = env.reset(seed=0, options={"task": task_id})
    criterion = Criterion(id="c", text=task.params["statement"], why="another reason")
    shown = JudgedTranscript.of_reply(task.params["question"], task.params["reply"])
    prompt = pointwise_prompt(criterion, shown)
    assert [info["system_prompt"], opening] == prompt.asks


def test_constant_judges_are_right_in_half_of_the_cases():
    scores = {}
    for task_id in IDS + [SOURCE.address("dev", n, "tiny") for n in range(24, 120)]:
        for name, script in SOURCE.policies(SOURCE.build(task_id)).items():
            scores.setdefault(name, []).append(verdict_of(task_id, script).score)
    means = {name: sum(each) / len(each) for name, each in scores.items()}
    assert means["always_cannot_tell"] == 0
    assert max(means.values()) < 0.62 and means["always_met"] + means["always_not_met"] == 1


def test_conforms():
    assert_conforms(ENV, fuzz=20, tasks=60, sample=100, floor=0.6)
