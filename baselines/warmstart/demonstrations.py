"""Demonstrations: what a source's oracle does, with noise and recovery, as token samples.

Every demonstration is played in the environment, so what the policy is shown is what it will see.
On a seeded share of the tasks the script of a near miss is followed instead, at once or after the
oracle's looks; a policy cloned from them has room to rise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from hexathlon.baselines.agents.base import Episode, GaveUp, Turn, text_of
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.codecs import Codec, get_codec
from hexathlon.baselines.codecs.base import Wire, parse_calls, with_thought
from hexathlon.baselines.rollout.drivers import play
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import Span, TokenReply
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import PathOutcome
from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import described
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script

__all__ = [
    "Demonstration",
    "DemonstrationFailed",
    "Demonstrator",
    "Noise",
    "sample_of",
    "transcript",
]


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


class Demonstrator:
    """Plays demonstrations in an environment of its own; a context manager.

    Args:
        env_id: Where they are played.
        make: Makes an environment by its id.
        noise: How they depart from the oracle.
    """

    def __init__(self, env_id: str, make: Callable[[str], Environment], noise: Noise) -> None:
        self._env_id = env_id
        self._noise = noise
        self._slot = EnvironmentSlot(lambda: make(env_id))

    def demonstrate(self, task_id: str, *, thinking: bool = False) -> Demonstration:
        """Play a task's oracle, or a near miss, and return what happened.

        Near misses think what the oracle thinks: what they read is right, what they make of it is
        not. A call that is skipped is made in a fork of the environment, so that the script has
        its answer and the demonstration does not show it. What changes anything is never skipped.

        Raises:
            DemonstrationFailed: The environment failed.
        """
        agent = _DemonstratingAgent(self._noise, thinking=thinking)
        rollout = Rollout(agent, retries=0)
        played = play(rollout.trial(self._slot, (self._env_id, task_id, self._noise.seed, 0)))
        if played.record["status"] == "infra":
            raise DemonstrationFailed(f"{task_id}: {played.record['error']}")
        return _of(played)

    def close(self) -> None:
        """Close the environment."""
        self._slot.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class DemonstrationFailed(Exception):
    """A demonstration could not be played."""


def _of(played: Trajectory) -> Demonstration:
    steps: Sequence[Mapping[str, Any]] = played.record["steps"]
    return Demonstration(
        played.key[1],
        played.system_prompt,
        list(played.tools),
        described(played.record["opening"]),
        tuple((step["action"], described(step["observation"])) for step in steps),
        sum(float(step["reward"]) for step in steps),
        tuple(step.get("said", "") for step in steps),
    )


class _DemonstratingAgent:
    """Takes a script's turns, thinks aloud before them, and skips calls that only look."""

    name = "demonstrator"
    version = "1"
    asynchronous = False

    def __init__(self, noise: Noise, *, thinking: bool) -> None:
        self.noise = noise
        self.thinking = thinking

    def begin(self, episode: Episode) -> "_DemonstratingPlayer":
        return _DemonstratingPlayer(self, episode)


class _DemonstratingPlayer:
    def __init__(self, agent: _DemonstratingAgent, episode: Episode) -> None:
        self._agent = agent
        self._episode = episode
        self._script = _script(episode, agent.noise)
        self._heard: list[str] = []

    def act(self, messages: Sequence[Message]) -> Turn:
        self._heard.append(text_of(messages))
        try:
            action = self._next()
            while _skip(action, self._agent.noise.skipped):
                seen = self._episode.peek(action)
                if seen is None:
                    break
                self._heard.append(seen)
                action = self._next()
        except StopIteration:
            raise GaveUp("the script has no further action") from None
        return Turn(action, said=self._thought(action))

    def _next(self) -> str:
        """Return the script's next action; the opening is not an answer to any."""
        return next(self._script) if len(self._heard) == 1 else self._script.send(self._heard[-1])

    def _thought(self, action: str) -> str:
        if not self._agent.thinking:
            return ""
        return self._episode.source.thought(self._episode.task, self._heard, action)


def _script(episode: Episode, noise: Noise) -> Script:
    source, task = episode.source, episode.task
    draw = generator_for("demonstration", noise.seed, task.id)
    if draw.random() < noise.mistakes:
        misses = source.mutants(task)
        misses = {name: miss for name, miss in misses.items() if name not in noise.without}
        if misses:
            miss = misses[sorted(misses)[int(draw.integers(len(misses)))]]
            looks = draw.random() < noise.looking
            return _after_looks(episode, source.oracle(task), miss) if looks else miss
    return source.oracle(task)


def _after_looks(episode: Episode, oracle: Script, miss: Script) -> Script:
    """Do what the oracle does while it only looks, then the near miss."""
    answer: str | None = None
    while True:
        try:
            action = next(oracle) if answer is None else oracle.send(answer)
        except StopIteration:
            break
        if episode.peek(action) is None:
            break
        answer = yield action
    oracle.close()
    yield from miss


def _skip(action: str, skipped: Sequence[str]) -> bool:
    calls = parse_calls(action)
    return bool(calls) and all(call.name in skipped for call in calls or ())


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
    conversation = TokenConversation(renderer)
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
    (sample,) = conversation.tree.samples(PathOutcome(rewards), shown.task)
    return sample
