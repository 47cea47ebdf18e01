"""Demonstrations with reasoning: the same actions and rewards, each preceded by a quotation."""

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

import gymnasium

from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.warmstart.demonstrations import (
    Demonstration,
    Demonstrator,
    Noise,
    sample_of,
    transcript,
)
from hexathlon.baselines.warmstart.initial import make_tokenizer
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import build_task

TASKS = [f"roleplay/boundary/tiny/train/{number:05d}" for number in range(4)]


def shown(
    task: str, *, thinking: bool, mistakes: float = 0.0, without: tuple[str, ...] = ()
) -> Demonstration:
    noise = Noise(mistakes=mistakes, without=without)
    with Demonstrator("hexathlon/RolePlay-v1", gymnasium.make, noise) as demonstrator:
        return demonstrator.demonstrate(task, thinking=thinking)


@pytest.mark.parametrize("mistakes", [0.0, 1.0])
@pytest.mark.parametrize("task", TASKS)
def test_thinking_changes_no_action(task: str, mistakes: float) -> None:
    silent = shown(task, thinking=False, mistakes=mistakes)
    aloud = shown(task, thinking=True, mistakes=mistakes)
    assert (silent.turns, silent.reward) == (aloud.turns, aloud.reward)
    assert silent.reward == 1.0 - mistakes
    assert not any(silent.thoughts) and all(aloud.thoughts)


@pytest.mark.parametrize("task", TASKS)
def test_near_misses_can_be_excluded(task: str) -> None:
    names = sorted(get_source("roleplay").mutants(build_task(task)))
    first = shown(task, thinking=False, mistakes=1.0, without=tuple(names[1:]))
    last = shown(task, thinking=False, mistakes=1.0, without=tuple(names[:-1]))
    assert first.reward == last.reward == 0.0 and first.turns != last.turns
    assert shown(task, thinking=False, mistakes=1.0, without=tuple(names)).reward == 1.0


def test_thought_precedes_the_action_and_is_trained() -> None:
    one = shown(TASKS[0], thinking=True)
    said = [m["content"] for m in transcript(one, "compact") if m["role"] == "assistant"]
    for text, thought in zip(said, one.thoughts, strict=True):
        assert text.startswith(f"<think>\n{thought}\n</think>\n\n")
    tokenizer = make_tokenizer(said + [one.opening], 600)
    sample = sample_of(one, "compact", ChatRenderer(tokenizer))
    written = tokenizer.decode(sample.ids[sample.sampled].tolist())
    assert written == "".join(f"{text}<|im_end|>" for text in said)
