"""Demonstrations: the actions of a source's oracle, with seeded mistakes, as token samples.

Every demonstration is played in the environment, so the policy learns from real observations. On a
seeded share of the tasks, the script of a near miss is played instead, at once or after the
oracle's read-only actions; a policy cloned from them has room to improve.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hexathlon.baselines.agents.base import Episode, GaveUp, Turn, text_of
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.codecs import Codec, get_codec
from hexathlon.baselines.codecs.base import WireMessage, fitted, parse_calls, with_thought
from hexathlon.baselines.codecs.parts import pictured
from hexathlon.baselines.rollout.drivers import play
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.patches import IMAGE_TOKEN
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import Span, TokenReply
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import PathOutcome
from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message
from hexathlon.evaluators.closing import Closing
from hexathlon.evaluators.content import Image, content_from_json, described
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script

__all__ = [
    "Demonstration",
    "DemonstrationFailed",
    "Demonstrator",
    "Noise",
    "demonstration_of",
    "sample_of",
    "transcript",
]


@dataclass(frozen=True, slots=True)
class Noise:
    """Departures of demonstrations from the oracle."""

    mistakes: float = 0.0
    """Share of demonstrations that play a near miss of their task."""

    looking: float = 0.0
    """Share of these that begin with the oracle's read-only actions; the others answer at once."""

    without: tuple[str, ...] = ()
    """Near misses that are not played, such as one that writes a name it never read, which would
    teach the policy to invent names."""

    skipped: tuple[str, ...] = ()
    """Tools whose read-only calls are omitted."""

    seed: int = 0


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One played script."""

    task: str
    system_prompt: str
    tools: Sequence[Any]
    opening: str
    turns: tuple[tuple[str, str], ...]
    """Canonical actions, each with the observation that followed."""

    reward: float
    thoughts: tuple[str, ...] = ()
    """The thought before each action; empty for demonstrations without thoughts."""

    images: tuple[tuple[Image, ...], ...] = ()
    """Pictures of the opening and of each observation, where the policy sees pictures; texts then
    have placeholders for them."""


class Demonstrator(Closing):
    """Plays demonstrations in its own environment; a context manager.

    Args:
        env_id: Id of the environment.
        make: Creates an environment from its id.
        noise: Departures from the oracle.
        pictures: Whether demonstrations keep pictures instead of the text that describes them.
    """

    def __init__(
        self, env_id: str, make: Callable[[str], Environment], noise: Noise, *,
        pictures: bool = False,
    ) -> None:  # fmt: skip
        self._env_id, self._pictures = env_id, pictures
        self._noise = noise
        self._slot = EnvironmentSlot(lambda: make(env_id))

    def demonstrate(self, task_id: str, *, thinking: bool = False) -> Demonstration:
        """Play the oracle of a task, or a near miss.

        Near misses have the oracle's thoughts: they read correctly and conclude wrongly. A skipped
        call is made in a fork of the environment, so that the script receives its result and the
        demonstration does not contain it. A call that changes anything is never skipped.

        Raises:
            DemonstrationFailed: If the environment fails.
        """
        agent = _DemonstratingAgent(self._noise, thinking=thinking)
        rollout = Rollout(agent, retries=0)
        played = play(rollout.trial(self._slot, (self._env_id, task_id, self._noise.seed, 0)))
        if played.record["status"] == "infra":
            raise DemonstrationFailed(f"{task_id}: {played.record['error']}")
        return _pictured(played) if self._pictures else demonstration_of(played)

    def close(self) -> None:
        """Close the environment."""
        self._slot.close()


class DemonstrationFailed(Exception):
    """A demonstration could not be played."""


def demonstration_of(played: Trajectory) -> Demonstration:
    """Return a rollout as a demonstration, with pictures described in words."""
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


def _pictured(played: Trajectory) -> Demonstration:
    """Return a demonstration with placeholders for its pictures."""
    steps = played.record["steps"]
    fields = [played.record["opening"], *(step["observation"] for step in steps)]
    contents = [content_from_json(each, lambda part: played.media[part["sha256"]])
                for each in fields]  # fmt: skip
    seen = [pictured([content], IMAGE_TOKEN) for content in contents]
    texts = [text for (text,), _ in seen]
    return replace(
        demonstration_of(played),
        opening=texts[0],
        turns=tuple((step["action"], text) for step, text in zip(steps, texts[1:], strict=True)),
        images=tuple(tuple(images) for _, images in seen),
    )


class _DemonstratingAgent:
    """Plays a script with thoughts, and skips read-only calls of some tools."""

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
        self._observations: list[str] = []

    def act(self, messages: Sequence[Message]) -> Turn:
        self._observations.append(text_of(messages))
        try:
            action = self._next()
            while _skip(action, self._agent.noise.skipped):
                result = self._episode.peek(action)
                if result is None:
                    break
                self._observations.append(result)
                action = self._next()
        except StopIteration:
            raise GaveUp("the script has no further action") from None
        return Turn(action, said=self._thought(action))

    def _next(self) -> str:
        """Return the script's next action; the first one receives no observation."""
        if len(self._observations) == 1:
            return next(self._script)
        return self._script.send(self._observations[-1])

    def _thought(self, action: str) -> str:
        if not self._agent.thinking:
            return ""
        return self._episode.source.thought(self._episode.task, self._observations, action)


def _script(episode: Episode, noise: Noise) -> Script:
    source, task = episode.source, episode.task
    draw = generator_for("demonstration", noise.seed, task.id)
    if draw.random() < noise.mistakes:
        misses = source.mutants(task)
        misses = {name: miss for name, miss in misses.items() if name not in noise.without}
        if misses:
            miss = misses[sorted(misses)[int(draw.integers(len(misses)))]]
            looking = draw.random() < noise.looking
            return _after_reading(episode, source.oracle(task), miss) if looking else miss
    return source.oracle(task)


def _after_reading(episode: Episode, oracle: Script, miss: Script) -> Script:
    """Play the oracle while its actions change nothing, then the near miss."""
    result: str | None = None
    while True:
        try:
            action = next(oracle) if result is None else oracle.send(result)
        except StopIteration:
            break
        if episode.peek(action) is None:
            break
        result = yield action
    oracle.close()
    yield from miss


def _skip(action: str, skipped: Sequence[str]) -> bool:
    calls = parse_calls(action)
    return bool(calls) and all(call.name in skipped for call in calls or ())


def _assistant_message(played: Demonstration, number: int, codec: Codec) -> WireMessage:
    """Return the message of a turn: its thought, if it has one, and its action."""
    action, _ = played.turns[number]
    thought = played.thoughts[number] if played.thoughts else ""
    return with_thought(thought, codec.encode(action))


def _opening(played: Demonstration, codec: Codec) -> list[dict[str, Any]]:
    prompt = codec.system_prompt(played.system_prompt, played.tools)
    lead = [{"role": "system", "content": prompt}] if prompt else []
    return [*lead, {"role": "user", "content": played.opening}]


def transcript(played: Demonstration, dialect: str) -> list[dict[str, Any]]:
    """Return a demonstration as chat messages in a dialect."""
    codec = fitted(get_codec(dialect), played.tools)
    messages = _opening(played, codec)
    for number, (_, observation) in enumerate(played.turns):
        message = _assistant_message(played, number, codec)
        messages.append(message)
        if number + 1 < len(played.turns):
            messages += codec.answer(message, [observation])
    return messages


def sample_of(played: Demonstration, dialect: str, renderer: ChatRenderer) -> Sample:
    """Return a demonstration as a sample whose actions count as sampled."""
    codec = fitted(get_codec(dialect), played.tools)
    conversation = TokenConversation(renderer)
    images = played.images or ((),) * (len(played.turns) + 1)
    conversation.open(_opening(played, codec), images[0])
    for number, (_, observation) in enumerate(played.turns):
        message = _assistant_message(played, number, codec)
        ids = renderer.encode(str(message["content"]))
        if renderer.end_of_turn is not None:
            ids = [*ids, renderer.end_of_turn]
        conversation.say(TokenReply(ids, [0.0] * len(ids), "stop", [Span(0, 0, len(ids))]))
        if number + 1 < len(played.turns):
            conversation.hear(codec.answer(message, [observation]), images[number + 1])
    rewards = (0.0,) * (len(played.turns) - 1) + (played.reward,)
    (sample,) = conversation.tree.samples(PathOutcome(rewards), played.task)
    return sample
