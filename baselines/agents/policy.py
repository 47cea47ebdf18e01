"""The agent that is a policy: tokens in, tokens out, every one of them kept.

What `llm` does over messages, this does over tokens; the trainer and `eval CHECKPOINT` both play
through it, so what is trained is what is evaluated.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hexathlon.baselines.agents.base import AgentMismatch, Episode, Turn
from hexathlon.baselines.codecs import Codec, Wire
from hexathlon.baselines.codecs.parts import ImageRefused, text_alone
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.tokens import TokenEngine, TokenReply, TokenRequest, TokenSampling
from hexathlon.baselines.tokens.conversation import Conversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.tree import TokenTree
from hexathlon.envs.messages import Message
from hexathlon.evaluators.canonical import text_hash
from hexathlon.tasks.seeding import derive_seed

__all__ = ["PolicyAgent", "PolicyPlayer"]


class PolicyAgent:
    """Plays by sampling from a token engine.

    Args:
        engine: Continues token sequences; shared by all trials.
        renderer: The checkpoint's chat template.
        codec: The dialect in which the policy calls tools.
        sampling: How tokens are drawn; the seed of each request is derived from this one's, the
            trial and the turn.
    """

    name = "policy"
    version = "1"
    asynchronous = True

    def __init__(
        self,
        engine: TokenEngine,
        renderer: ChatRenderer,
        codec: Codec,
        sampling: TokenSampling,
    ) -> None:
        self.engine = engine
        self.renderer = renderer
        self.codec = codec
        stops = (*renderer.stop_ids, *sampling.stop_ids)
        self.sampling = replace(sampling, stop_ids=tuple(dict.fromkeys(stops)))
        self.episodes = itertools.count()
        """Numbers that tell the sessions of equal trials apart."""

    @property
    def prompt_hash(self) -> str:
        """Hash of what this agent itself adds to prompts."""
        sample = [{"name": "tool", "description": "", "parameters": {"type": "object"}}]
        template = str(self.renderer.tokenizer.chat_template)
        return text_hash(f"{self.codec.name}\n{self.codec.system_prompt('', sample)}{template}")

    def begin(self, episode: Episode) -> "PolicyPlayer":
        """Return a player with an empty conversation."""
        return PolicyPlayer(self, episode)


class PolicyPlayer:
    """Plays one trial and keeps its tokens.

    Args:
        agent: Whose episode it is.
        episode: What is played.
    """

    def __init__(self, agent: PolicyAgent, episode: Episode) -> None:
        self._agent = agent
        self.episode = episode
        self.conversation = Conversation(
            agent.renderer, episode.tools if agent.codec.native else ()
        )
        self._last: Wire | None = None
        self._session = (
            f"{episode.env}|{episode.task.id}|{episode.seed}|{episode.trial}|{next(agent.episodes)}"
        )

    @property
    def tokens(self) -> TokenTree:
        """Every token read and drawn so far."""
        return self.conversation.tree

    async def act(self, messages: Sequence[Message]) -> Turn:
        """Sample the next turn.

        Raises:
            AgentMismatch: There is an image among the messages; policies read text only.
        """
        try:
            texts = text_alone([message["content"] for message in messages])
        except ImageRefused as error:
            raise AgentMismatch(str(error)) from None
        ids = self._hear(texts)
        reply: TokenReply = await self._agent.engine.generate(
            TokenRequest(ids, self._sampling(len(ids)), self._session)
        )
        text = self.conversation.say(reply, text_hash("\n\n".join(texts)))
        self._last = {"role": "assistant", "content": text}
        action = self._agent.codec.decode(self._last)
        usage = Usage(len(ids), len(reply.ids), 1)
        return Turn(action, usage, 0.0, "" if text == action else text)

    def close(self) -> None:
        """Let the engine drop what it keeps of the episode."""
        self._agent.engine.forget(self._session)

    def _hear(self, texts: Sequence[str]) -> list[int]:
        codec = self._agent.codec
        if self._last is not None:
            return self.conversation.hear(codec.answer(self._last, texts))
        prompt = codec.system_prompt(self.episode.system_prompt, self.episode.tools)
        opening: list[dict[str, Any]] = [{"role": "user", "content": "\n\n".join(texts)}]
        return self.conversation.open(
            [{"role": "system", "content": prompt}, *opening] if prompt else opening
        )

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
