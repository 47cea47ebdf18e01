"""The agent that samples from a policy and keeps all prompt and sampled tokens.

It is the token-level counterpart of `llm`. The trainer and `eval CHECKPOINT` both use
it, so that a policy is evaluated exactly as it is trained.
"""

import itertools
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hexathlon.baselines.agents.base import (
    AgentMismatch,
    Episode,
    Interrupted,
    PastTurn,
    Turn,
)
from hexathlon.baselines.codecs import Codec, WireMessage
from hexathlon.baselines.codecs.base import fitted, with_thought
from hexathlon.baselines.codecs.parts import ImageNotSupported, pictured, text_only
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.tokens.conversation import ConversationState, TokenConversation
from hexathlon.baselines.tokens.patches import IMAGE_TOKEN
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.baselines.tokens.soft import SoftPrefixes
from hexathlon.baselines.tokens.tree import TokenTree
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import Image
from hexathlon.evaluators.records import TrialKey
from hexathlon.evaluators.records.canonical import text_hash
from hexathlon.tasks.seeding import derive_seed

__all__ = [
    "PolicyAgent",
    "PolicyMemory",
    "PolicyPlayer",
    "Told",
    "env_of_session",
    "session_name",
]


def session_name(key: TrialKey, number: int) -> str:
    """Return the name of an episode's session at the engine.

    Args:
        key: The trial.
        number: Distinguishes the episodes of identical trials.
    """
    return "|".join(map(str, (*key, number)))


def env_of_session(session: str) -> str:
    """Return the id of the environment that a session plays; empty if it has another name."""
    env, bar, _ = session.partition("|")
    return env if bar else ""


class PolicyAgent:
    """Plays by sampling from a token engine.

    Args:
        engine: Continues token sequences; shared by all trials.
        renderer: The checkpoint's chat template.
        codec: The policy's tool-call format.
        sampling: Sampling parameters; the seed of every request is derived from their seed, the
            trial and the turn.
        prefixes: Draws the soft prefixes of training rollouts; None for none.
    """

    name = "policy"
    version = "1"
    asynchronous = True
    keeps_tokens = True

    def __init__(
        self,
        engine: TokenEngine,
        renderer: ChatRenderer,
        codec: Codec,
        sampling: TokenSampling,
        prefixes: SoftPrefixes | None = None,
    ) -> None:
        self.engine = engine
        self.renderer = renderer
        self.codec = codec
        self.prefixes = prefixes
        stops = (*renderer.stop_ids, *sampling.stop_ids)
        self.sampling = replace(sampling, stop_ids=tuple(dict.fromkeys(stops)))
        self.episodes = itertools.count()
        """Counter that distinguishes the sessions of identical trials."""

    @property
    def prompt_hash(self) -> str:
        """Hash of everything this agent adds to prompts."""
        sample = [{"name": "tool", "description": "", "parameters": {"type": "object"}}]
        template = str(self.renderer.tokenizer.chat_template)
        return text_hash(f"{self.codec.name}\n{self.codec.system_prompt('', sample)}{template}")

    def begin(self, episode: Episode) -> "PolicyPlayer":
        """Return a player with an empty conversation."""
        return PolicyPlayer(self, episode)


class Told(NamedTuple):
    """A turn that the policy is told to take."""

    action: str
    """The canonical action."""

    trained: bool = False
    """Whether the policy imitates it; otherwise it has no gradient."""


class PolicyMemory(NamedTuple):
    """A saved player."""

    conversation: ConversationState
    last: WireMessage | None
    pending: TokenReply | None
    """The partial reply of an aborted turn."""

    key: TrialKey
    session: str
    shared: bool = False
    """Whether `pending` is the beginning of a turn that other trials share; if so, the conversation
    does not yet have the messages before it."""

    forced: tuple[TokenReply | Told, ...] = ()
    """Turns to take before sampling again."""


class PolicyPlayer:
    """Plays one trial and keeps its tokens.

    Args:
        agent: The agent.
        episode: The episode.
    """

    def __init__(self, agent: PolicyAgent, episode: Episode) -> None:
        self._agent = agent
        self._codec = fitted(agent.codec, episode.tools)
        self.episode = episode
        self.conversation = TokenConversation(
            agent.renderer, episode.tools if agent.codec.native else ()
        )
        self._last: WireMessage | None = None
        self._pending: TokenReply | None = None
        self._forced: deque[TokenReply | Told] = deque()
        self._shared = False
        self._parent = ""
        self._key: TrialKey = (episode.env, episode.task.id, episode.seed, episode.trial)
        self._session = session_name(self._key, next(agent.episodes))

    @property
    def tokens(self) -> TokenTree:
        """All prompt and sampled tokens so far."""
        return self.conversation.tree

    async def act(self, messages: Sequence[Message]) -> Turn:
        """Sample the next turn, or continue one that was aborted.

        Raises:
            AgentMismatch: If a message contains an image and the policy reads text only.
            Interrupted: If the engine aborted the reply; the partial reply is kept.
        """
        texts, images = self._seen(messages)
        partial = self._pending
        heard = partial is not None and not self._shared
        ids = self.conversation.ids if heard else self._hear(texts, images)
        self._shared = False
        state = text_hash("\n\n".join([*texts, *(image.sha256 for image in images)]))
        given = self._forced.popleft() if self._forced else None
        if isinstance(given, Told):
            return self._told(given)
        if given is not None:
            return self._said(given, state, len(ids))
        request = self._request(ids, partial)
        reply = await self._agent.engine.generate(request)
        self._parent = ""
        if partial is not None:
            reply = partial.joined(reply)
        if reply.finish == "abort":
            self._pending = reply
            raise Interrupted(f"turn {self.conversation.turns} was aborted")
        self._pending = None
        return self._said(reply, state, len(ids))

    def _said(self, reply: TokenReply, state: str, read: int) -> Turn:
        text = self.conversation.say(reply, state, self.episode.trial)
        self._last = {"role": "assistant", "content": text}
        action = self._codec.decode(self._last)
        usage = Usage(read, len(reply.ids), 1)
        return Turn(action, usage, 0.0, "" if text == action else text)

    def _told(self, given: Told) -> Turn:
        self._last = self._codec.encode(given.action)
        text = str(self._last.get("content") or "")
        self.conversation.tell(text, self.episode.trial, trained=given.trained)
        return Turn(given.action)

    def save(self) -> "PolicyMemory":
        """Return the conversation as detached data."""
        return PolicyMemory(
            self.conversation.save(),
            self._last,
            self._pending,
            self._key,
            self._session,
            self._shared,
            tuple(self._forced),
        )

    def resume(self, past: Sequence[PastTurn], memory: "PolicyMemory | None") -> None:
        """Continue from a saved conversation, or from turns taken by another agent."""
        if memory is None:
            for turn in past:
                self._hear(*self._seen(turn.messages))
                self._last = _assistant_message(turn, self._codec)
                self.conversation.tell(str(self._last.get("content") or ""))
            return
        self.conversation.load(memory.conversation)
        self._last, self._pending = memory.last, memory.pending
        self._forced, self._shared = deque(memory.forced), memory.shared
        if memory.key == self._key:
            # The engine may still have this session's prefix in its cache.
            self._session = memory.session
            return
        self._parent = memory.session
        if memory.pending is not None and not memory.shared:
            # Another trial of the group shares the prompt but samples its own turn.
            self._pending = _EMPTY_REPLY

    def close(self) -> None:
        """Release the engine's cache of the episode."""
        self._agent.engine.forget(self._session)

    def _seen(self, messages: Sequence[Message]) -> tuple[list[str], list[Image]]:
        """Return messages as texts, and the pictures for which their placeholders stand."""
        contents = [message["content"] for message in messages]
        if self._agent.renderer.image_id is not None:
            return pictured(contents, IMAGE_TOKEN)
        try:
            return text_only(contents), []
        except ImageNotSupported as error:
            raise AgentMismatch(str(error)) from None

    def _hear(self, texts: Sequence[str], images: Sequence[Image]) -> list[int]:
        codec = self._codec
        if self._last is not None:
            return self.conversation.hear(codec.answer(self._last, texts), images)
        prompt = codec.system_prompt(self.episode.system_prompt, self.episode.tools)
        system = [{"role": "system", "content": prompt}] if prompt else []
        opening = [*system, {"role": "user", "content": "\n\n".join(texts)}]
        context, prefixes = self.episode.context, self._agent.prefixes
        soft = () if prefixes is None else prefixes.drawn(*self._key)
        if not context:
            return self.conversation.open(opening, images, soft=soft)
        hinted = [*system, {"role": "user", "content": "\n\n".join([*texts, context])}]
        return self.conversation.open(hinted, images, context, opening, soft)

    def _request(self, ids: list[int], partial: TokenReply | None) -> TokenRequest:
        sampling = self._sampling(len(ids))
        if partial is None:
            return TokenRequest(ids, sampling, self._session, self._parent)
        return TokenRequest(ids, sampling, self._session, self._parent).after(partial)

    def _sampling(self, length: int) -> TokenSampling:
        sampling, episode = self._agent.sampling, self.episode
        seed = derive_seed(
            sampling.seed,
            episode.env,
            episode.task.id,
            episode.seed,
            episode.trial,
            self.conversation.turns,
        )
        room = max(self._agent.engine.context - length, 1)
        return replace(sampling, seed=seed, max_tokens=min(sampling.max_tokens, room))


_EMPTY_REPLY = TokenReply([], [], "abort", [])


def _assistant_message(turn: PastTurn, codec: Codec) -> WireMessage:
    """Return the assistant message of a turn taken by another agent."""
    return with_thought(turn.said, codec.encode(turn.action))
