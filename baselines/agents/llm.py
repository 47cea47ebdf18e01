"""The agent that plays with a chat model: an engine gives replies, a codec parses tool calls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hexathlon.baselines.agents.base import Episode, PastTurn, Turn
from hexathlon.baselines.codecs import Codec, WireMessage
from hexathlon.baselines.codecs.base import fitted, with_thought
from hexathlon.baselines.codecs.parts import answer_messages, seeing, user_message
from hexathlon.baselines.engines.base import ChatRequest, Engine, Sampling
from hexathlon.envs.messages import Message
from hexathlon.evaluators.records.canonical import text_hash
from hexathlon.tasks.seeding import derive_seed

__all__ = ["LlmAgent"]

_SEED_RANGE = 2**31


class LlmAgent:
    """Plays episodes as conversations with a chat model.

    Args:
        engine: Returns the model's replies; shared by all trials.
        codec: The model's tool-call format.
        sampling: Sampling parameters. If a seed is set, every request gets its own, derived from
            the seed, the trial and the turn.
        suffix: Appended to every system prompt.
    """

    name = "llm"
    version = "1"
    asynchronous = True

    def __init__(
        self, engine: Engine, codec: Codec, sampling: Sampling | None = None, suffix: str = ""
    ) -> None:
        self.engine = engine
        self.codec = codec
        sampling = sampling or Sampling()
        self.sampling = replace(sampling, stop=(*codec.stop, *sampling.stop))
        self.suffix = suffix

    @property
    def prompt_hash(self) -> str:
        """Hash of everything this agent adds to prompts."""
        return text_hash(f"{self.codec.name}\n{self.codec.system_prompt('', _SAMPLE)}{self.suffix}")

    def begin(self, episode: Episode) -> "_LlmPlayer":
        """Return a player with an empty conversation."""
        return _LlmPlayer(self, episode)


_SAMPLE = [{"name": "tool", "description": "", "parameters": {"type": "object"}}]


class LlmMemory(NamedTuple):
    """A saved conversation."""

    messages: tuple[WireMessage, ...]
    last: WireMessage | None
    turn: int


class _LlmPlayer:
    def __init__(self, agent: LlmAgent, episode: Episode) -> None:
        self._agent = agent
        self._episode = episode
        self._tools: Sequence[Mapping[str, Any]] = episode.tools if agent.codec.native else ()
        self._codec = fitted(agent.codec, episode.tools)
        prompt = self._codec.system_prompt(episode.system_prompt, episode.tools) + agent.suffix
        self._messages: list[WireMessage] = (
            [{"role": "system", "content": prompt}] if prompt else []
        )
        self._last: WireMessage | None = None
        self._turn = 0

    async def act(self, messages: Sequence[Message]) -> Turn:
        """Ask the model for its next turn."""
        self._hear(messages)
        reply = await self._agent.engine.chat(
            ChatRequest(self._messages, self._tools, self._sampling())
        )
        self._turn += 1
        self._last = reply.message
        self._messages.append(self._last)
        action = self._codec.decode(self._last)
        prose = str(self._last.get("content") or "")
        return Turn(action, reply.usage, reply.waited, "" if prose == action else prose)

    def save(self) -> LlmMemory:
        """Return the conversation as detached data."""
        return LlmMemory(tuple(self._messages), self._last, self._turn)

    def resume(self, past: Sequence[PastTurn], memory: LlmMemory | None) -> None:
        """Continue from a saved conversation, or from turns taken by another agent."""
        if memory is not None:
            self._messages, self._last, self._turn = [*memory.messages], memory.last, memory.turn
            return
        for turn in past:
            self._hear(turn.messages)
            self._last = with_thought(turn.said, self._codec.encode(turn.action))
            self._messages.append(self._last)
            self._turn += 1

    def _hear(self, messages: Sequence[Message]) -> None:
        contents = [message["content"] for message in messages]
        self._codec = seeing(self._codec, contents)
        if self._last is None:
            self._messages.append(user_message(contents))
        else:
            self._messages.extend(answer_messages(self._codec, self._last, contents))

    def _sampling(self) -> Sampling:
        sampling = self._agent.sampling
        if sampling.seed is None:
            return sampling
        episode = self._episode
        seed = derive_seed(
            sampling.seed, episode.env, episode.task.id, episode.seed, episode.trial, self._turn
        )
        return replace(sampling, seed=seed % _SEED_RANGE)
