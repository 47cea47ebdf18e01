"""Agents that seek reward without understanding: their scores by kind of task."""

import itertools

import pytest

from hexathlon.envs.roleplay.env import RolePlayEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay.templates.catalogue import DIALOGUES, GAMES
from hexathlon.tasks.source import play
from support.pattern_scripts import compare, haggle, look_up
from support.scenes import build

SPLIT = "dev"
KINDS = (*DIALOGUES, *GAMES)


def score(task, script):
    """The reward of a script; an unfinished episode has none."""
    env, rewards = RolePlayEnv(), []
    env.reset(seed=0, options={"task": task.id})

    def respond(action):
        observation, reward, terminated, truncated, _ = env.step(action)
        rewards.append(reward)
        return None if terminated or truncated else observation

    play(script, respond)
    env.close()
    return rewards[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_no_trick_is_rewarded_in_any_kind(kind):
    source = get_source("roleplay")
    for level, index in itertools.product(("tiny", "hard"), range(8)):
        task = build(f"roleplay/{kind}/{level}/{SPLIT}/{index:05d}")
        names = set(source.policies(task)) - {"always_secret", "majority"}
        assert {"empty", "echo", "styled_echo", "yes_man", "card_aloud", "polite_dodge"} <= names
        for name in sorted(names):
            assert score(task, source.policies(task)[name]) == 0.0, (task.id, name)


@pytest.mark.parametrize("kind", [*DIALOGUES])
def test_looking_up_words_solves_nothing_from_medium_on(kind):
    for level, index in itertools.product(("medium", "hard"), range(8)):
        task = build(f"roleplay/{kind}/{level}/{SPLIT}/{index:05d}")
        assert score(task, look_up(task)) == 0.0, task.id


def test_looking_up_words_finds_some_single_answers():
    """The agent is no straw man: it gets a good part of the beats right."""
    shares = []
    for kind, index in itertools.product(("boundary", "memory", "secret"), range(8)):
        task = build(f"roleplay/{kind}/medium/{SPLIT}/{index:05d}")
        env = RolePlayEnv()
        env.reset(seed=0, options={"task": task.id})
        for _ in map(env.step, look_up(task, live=False)):
            pass
        shares.append(env.verdict().partial)
    assert sum(shares) / len(shares) > 0.3


def test_fair_prices_without_listening_sell_nothing_when_it_is_hard():
    for index in range(8):
        task = build(f"roleplay/negotiation/hard/{SPLIT}/{index:05d}")
        assert score(task, haggle(task)) == 0.0, task.id


def test_comparing_words_with_the_papers_solves_nothing_from_medium_on():
    for level, index in itertools.product(("medium", "hard"), range(8)):
        task = build(f"roleplay/interrogation/{level}/{SPLIT}/{index:05d}")
        assert score(task, compare(task)) == 0.0, task.id
