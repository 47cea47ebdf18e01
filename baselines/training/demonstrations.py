"""Demonstrations: what a source's oracle does, with noise and recovery, as token samples.

Every demonstration is played in the environment, so what the policy is shown is what it will see.
On a seeded share of the tasks the script of a near miss is followed instead, at once or after the
oracle's looks; a policy cloned from them has room to rise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.codecs import Codec, get_codec
from hexathlon.baselines.codecs.base import Wire, parse_calls, with_thought
from hexathlon.baselines.engines.tokens import Span, TokenReply
from hexathlon.baselines.tokens.conversation import Conversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.tree import Outcome
from hexathlon.envs.base import Environment
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script, parse_address
from hexathlon.tasks.taskset import build_task

__all__ = ["Demonstration", "Noise", "demonstrate", "sample_of", "transcript"]


@dataclass(frozen=True, slots=True)
class Noise:
    """How demonstrations depart from the oracle."""

    mistakes: float = 0.0
    """Share of demonstrations that follow a near miss of their task."""

    looking: float = 0.0
    """Share of these that first look around as the oracle does; the others hand in at once."""

    without: tuple[str, ...] = ()
    """Near misses that are not followed, such as one that writes a name which it never read: to
    follow it is to learn to make names up."""

    skipped: tuple[str, ...] = ()
    """Tools whose calls are left out wherever they only look."""

    seed: int = 0


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One played script."""

    task: str
    system_prompt: str
    tools: Sequence[Any]
    opening: str
    turns: tuple[tuple[str, str], ...]
    """Canonical action and the observation that followed."""

    reward: float
    thoughts: tuple[str, ...] = ()
    """What was thought before each action; empty where demonstrations do not think."""


def _script(env: Environment, task_id: str, noise: Noise) -> Script:
    task = build_task(task_id)
    source = get_source(parse_address(task_id).source)
    draw = generator_for("demonstration", noise.seed, task_id)
    if draw.random() < noise.mistakes:
        misses = source.mutants(task)
        misses = {name: miss for name, miss in misses.items() if name not in noise.without}
        if misses:
            miss = misses[sorted(misses)[int(draw.integers(len(misses)))]]
            looks = draw.random() < noise.looking
            return _after_looks(env, source.oracle(task), miss) if looks else miss
    return source.oracle(task)


def _after_looks(env: Environment, oracle: Script, miss: Script) -> Script:
    """Do what the oracle does while it only looks, then the near miss."""
    answer: str | None = None
    while True:
        try:
            action = next(oracle) if answer is None else oracle.send(answer)
        except StopIteration:
            break
        if _aside(env, action) is None:
            break
        answer = yield action
    oracle.close()
    yield from miss


def _skip(action: str, skipped: Sequence[str]) -> bool:
    calls = parse_calls(action)
    return bool(calls) and all(call.name in skipped for call in calls or ())


def _aside(env: Environment, action: str) -> str | None:
    """Return what an action would answer, or None where it would change anything."""
    (aside,) = env.fork(1)
    try:
        before = aside.final_state()
        observed, _, terminated, truncated, _ = aside.step(action)
        changed = terminated or truncated or aside.final_state() != before
        return None if changed else str(observed)
    finally:
        aside.close()


def demonstrate(
    env: Environment, task_id: str, noise: Noise, *, thinking: bool = False
) -> Demonstration:
    """Play a task's oracle, or a near miss, and return what happened.

    Near misses think what the oracle thinks: what they read is right, what they make of it not.

    A call that is skipped is made in a fork of the environment, so that the script has its answer
    and the demonstration does not show it. What changes anything is never skipped.
    """
    observation, info = env.reset(seed=noise.seed, options={"task": task_id})
    opening = observation
    system_prompt, tools = str(info["system_prompt"]), list(info["tools"])
    script = _script(env, task_id, noise)
    heard, thoughts = [opening], []
    turns: list[tuple[str, str]] = []
    reward, ended, answer = 0.0, False, None
    while not ended:
        try:
            action = next(script) if answer is None else script.send(answer)
        except StopIteration:
            break
        if _skip(action, noise.skipped) and (seen := _aside(env, action)) is not None:
            answer = seen
            heard.append(seen)
            continue
        thoughts.append(_thought(env, heard, action) if thinking else "")
        observed, value, terminated, truncated, _ = env.step(action)
        answer, reward = str(observed), reward + float(value)
        turns.append((action, answer))
        heard.append(answer)
        ended = terminated or truncated
    script.close()
    return Demonstration(
        task_id, system_prompt, tools, str(opening), tuple(turns), reward, tuple(thoughts)
    )


def _thought(env: Environment, heard: Sequence[str], action: str) -> str:
    return get_source(parse_address(env.task.id).source).thought(env.task, heard, action)


def _said(shown: Demonstration, number: int, codec: Codec) -> Wire:
    """Return what the assistant says in a turn: its thought, if it has one, and its action."""
    action, _ = shown.turns[number]
    thought = shown.thoughts[number] if shown.thoughts else ""
    return with_thought(thought, codec.encode(action))


def _opening(shown: Demonstration, codec: Codec) -> list[dict[str, Any]]:
    prompt = codec.system_prompt(shown.system_prompt, shown.tools)
    lead = [{"role": "system", "content": prompt}] if prompt else []
    return [*lead, {"role": "user", "content": shown.opening}]


def transcript(shown: Demonstration, dialect: str) -> list[dict[str, Any]]:
    """Return a demonstration as chat messages in a dialect."""
    codec = get_codec(dialect)
    messages = _opening(shown, codec)
    for number, (_, observation) in enumerate(shown.turns):
        said = _said(shown, number, codec)
        messages.append(said)
        if number + 1 < len(shown.turns):
            messages += codec.answer(said, [observation])
    return messages


def sample_of(shown: Demonstration, dialect: str, renderer: ChatRenderer) -> Sample:
    """Return a demonstration as a sample whose actions count as sampled."""
    codec = get_codec(dialect)
    conversation = Conversation(renderer)
    conversation.open(_opening(shown, codec))
    for number, (_, observation) in enumerate(shown.turns):
        said = _said(shown, number, codec)
        ids = renderer.encode(str(said["content"]))
        if renderer.end_of_turn is not None:
            ids = [*ids, renderer.end_of_turn]
        conversation.say(TokenReply(ids, [0.0] * len(ids), "stop", [Span(0, 0, len(ids))]))
        if number + 1 < len(shown.turns):
            conversation.hear(codec.answer(said, [observation]))
    rewards = (0.0,) * (len(shown.turns) - 1) + (shown.reward,)
    (sample,) = conversation.tree.samples(Outcome(rewards), shown.task)
    return sample
