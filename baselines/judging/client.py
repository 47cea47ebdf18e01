"""Client of a judge: sends a question, parses the reply strictly, caches it, and retries.

The client knows neither rubrics nor transcripts. It takes a prompt and a parser, and returns the
parsed answer or the reason why there is none.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Engine, Sampling, Usage
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.judging.cache import VerdictCache
from hexathlon.evaluators.judges.labels import LabelSource, Why
from hexathlon.evaluators.judges.parsing import ReplyFault
from hexathlon.evaluators.judges.prompts import Prompt, image_prompt_hash, prompt_hash
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.tasks.seeding import derive_seed

__all__ = ["JudgeAnswer", "JudgeClient", "JudgeIdentity"]

Read = TypeVar("Read")

_SEED_RANGE = 2**31
_FAULTS = {
    "malformed": "it was not the one JSON object that was asked for",
    "off_menu": "its label was none of those that were offered",
    "no_evidence": "its evidence was not copied exactly from where it had to stand",
    "contradiction": "it said two different things",
    "swayed": "an answer that is certain was missing or wrong",
}


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """A judge with all settings that can change its verdicts."""

    model: str
    kind: str = "endpoint"
    """`endpoint` or `checkpoint`."""

    place: str = ""
    """The server's address or the directory; not part of the identity's hash."""

    revision: str = ""
    """The model's revision, if known."""

    families: tuple[str, ...] = ()
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 2048
    seed: int = 0
    structured: bool = True
    """Whether requests ask the server to enforce a JSON schema."""

    retries: int = 2
    """Maximum number of retries after invalid replies."""

    images: bool = False
    """Whether the judge receives images; otherwise it receives the lines that describe them."""

    def as_json(self) -> dict[str, Any]:
        """Return the identity with its hash, as in records."""
        return {**self._hashed_fields(), "hash": self.hash}

    @property
    def hash(self) -> str:
        """Hash of everything that can change a verdict, including prompts."""
        return content_hash(self._hashed_fields())

    def _hashed_fields(self) -> dict[str, Any]:
        names = ["model", "kind", "revision", "temperature", "top_p", "max_tokens", "seed"]
        names += ["structured", "retries"]
        data: dict[str, Any] = {name: getattr(self, name) for name in names}
        data |= {"families": list(self.families), "prompt_hash": prompt_hash()}
        return {**data, "image_prompt_hash": image_prompt_hash()} if self.images else data


@dataclass(frozen=True, slots=True)
class JudgeAnswer(Generic[Read]):
    """The result of one question."""

    answer: Read | None
    why: Why = ""
    """Why there is no answer; empty if there is one."""

    faults: tuple[str, ...] = ()
    """Description of each invalid reply."""

    source: LabelSource = "model"
    usage: Usage = field(default_factory=Usage)
    latency: float = 0.0
    """Seconds that the model took, without time in queues."""

    error: str = ""
    """The server's last error, if it gave no reply."""

    reply: str = ""
    """The text of the parsed reply."""


class JudgeClient:
    """Sends questions to one judge.

    Args:
        engine: A chat engine.
        identity: The judge.
        cache: Cache of earlier replies; None disables caching.
        concurrency: Maximum number of concurrent questions.
    """

    def __init__(
        self,
        engine: Engine,
        identity: JudgeIdentity,
        cache: VerdictCache | None = None,
        concurrency: int = 64,
    ) -> None:
        self.engine = engine
        self.identity = identity
        self.cache = cache
        self.usage = Usage()
        self.latencies: list[float] = []
        self._identity_hash = identity.hash
        self._slots = asyncio.Semaphore(concurrency)
        self._pending: dict[str, asyncio.Future[None]] = {}

    async def ask(
        self, prompt: Prompt, read: Callable[[str], Read], *, repeat: int = 0
    ) -> JudgeAnswer[Read]:
        """Ask a question until the reply is valid, at most `1 + retries` times.

        Args:
            prompt: The question.
            read: Parses the reply, or raises `ReplyFault`.
            repeat: If above 0, ask again without using the cache.

        Raises:
            EngineError: If every question would fail (wrong key, unknown model).
        """
        if not self.identity.images:
            prompt = prompt._replace(images=())
        question = content_hash([self._identity_hash, *prompt.asks])
        if repeat:
            return await self._ask_with_retries(prompt, read, question)
        return await self._ask_cached(prompt, read, question)

    async def close(self) -> None:
        """Close engine and cache."""
        await self.engine.close()
        if self.cache is not None:
            self.cache.close()

    async def _ask_cached(
        self, prompt: Prompt, read: Callable[[str], Read], key: str
    ) -> JudgeAnswer[Read]:
        cached = await self._cached(key, read)
        if cached is not None:
            return cached
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending[key] = answered
        try:
            asked = await self._ask_with_retries(prompt, read, key)
            if self.cache is not None and asked.answer is not None:
                self.cache.put(key, asked.reply)
            return asked
        finally:
            del self._pending[key]
            answered.set_result(None)

    async def _cached(self, key: str, read: Callable[[str], Read]) -> JudgeAnswer[Read] | None:
        """Return the cached answer, waiting for the same question if it is being asked."""
        if self.cache is None:
            return None
        while key in self._pending:
            await self._pending[key]
        reply = self.cache.get(key)
        if reply is None:
            return None
        try:
            return JudgeAnswer(read(reply), source="cache")
        except ReplyFault:
            return None

    async def _ask_with_retries(
        self, prompt: Prompt, read: Callable[[str], Read], key: str
    ) -> JudgeAnswer[Read]:
        usage, latency, faults = Usage(), 0.0, list[str]()
        why: Why = "malformed"
        for attempt in range(1 + self.identity.retries):
            try:
                reply = await self._reply(prompt, key, attempt, why)
            except EngineError as error:
                if error.fatal:
                    raise
                why = "refused" if error.kind == "refused" else "provider"
                faults.append(error.kind)
                if why == "refused":
                    continue
                return JudgeAnswer(None, why, tuple(faults), error=str(error), usage=usage)
            usage, latency = usage.plus(reply.usage), latency + reply.latency
            text = str(reply.message.get("content") or "")
            try:
                answer = self._read(reply, text, read)
            except ReplyFault as fault:
                why = fault.why
                faults.append(f"{fault.why}: {fault}")
                continue
            return JudgeAnswer(answer, "", tuple(faults), "model", usage, latency, reply=text)
        return JudgeAnswer(None, why, tuple(faults), "model", usage, latency)

    def _read(self, reply: ChatReply, text: str, read: Callable[[str], Read]) -> Read:
        if reply.finish == "length":
            raise ReplyFault("malformed", "the reply was cut off")
        if reply.message.get("tool_calls"):
            raise ReplyFault("malformed", "the reply calls a tool")
        return read(text)

    async def _reply(self, prompt: Prompt, key: str, attempt: int, why: Why) -> ChatReply:
        identity = self.identity
        if attempt:
            reason = _FAULTS.get(why, "it was not an answer")
            note = f"\n\nYour last reply could not be read: {reason}. Answer in the form asked for."
            prompt = prompt._replace(user=prompt.user + note)
        seed = derive_seed("judge", identity.seed, key, attempt) % _SEED_RANGE
        sampling = Sampling(identity.temperature, identity.top_p, identity.max_tokens, seed)
        schema = prompt.schema if identity.structured else None
        async with self._slots:
            reply = await self.engine.chat(ChatRequest(prompt.messages, (), sampling, None, schema))
        self.usage = self.usage.plus(reply.usage)
        self.latencies.append(reply.latency)
        return reply
