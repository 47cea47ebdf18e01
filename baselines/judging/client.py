"""One question to a judge: cached, asked, read strictly, asked again a bounded number of times.

The client knows neither rubrics nor transcripts: it takes a prompt and a function that reads the
reply, and says what was read, or why nothing was.
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

__all__ = ["Asked", "JudgeClient", "JudgeIdentity"]

Read = TypeVar("Read")

_SEED_RANGE = 2**31
_SAID = {
    "malformed": "it was not the one JSON object that was asked for",
    "off_menu": "its label was none of those that were offered",
    "no_evidence": "its evidence was not copied exactly from where it had to stand",
    "contradiction": "it said two different things",
}


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Who judges and how: whatever can change a verdict."""

    model: str
    kind: str = "endpoint"
    """`endpoint` or `checkpoint`."""

    place: str = ""
    """The server's address or the directory: where it is asked, not who it is."""

    revision: str = ""
    """The model's revision where its owner knows it."""

    families: tuple[str, ...] = ()
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 2048
    seed: int = 0
    structured: bool = True
    """Whether the server is asked to hold replies to a JSON schema."""

    retries: int = 2
    """Further questions where a reply cannot be read."""

    images: bool = False
    """Whether the judge is shown images; otherwise it reads the lines that name them."""

    def as_json(self) -> dict[str, Any]:
        """Return the identity with its hash, as records hold it."""
        return {**self._decisive(), "hash": self.hash}

    @property
    def hash(self) -> str:
        """Hash of whatever can change a verdict, prompts included."""
        return content_hash(self._decisive())

    def _decisive(self) -> dict[str, Any]:
        names = ["model", "kind", "revision", "temperature", "top_p", "max_tokens", "seed"]
        names += ["structured", "retries"]
        data: dict[str, Any] = {name: getattr(self, name) for name in names}
        data |= {"families": list(self.families), "prompt_hash": prompt_hash()}
        return {**data, "image_prompt_hash": image_prompt_hash()} if self.images else data


@dataclass(frozen=True, slots=True)
class Asked(Generic[Read]):
    """What came of one question."""

    answer: Read | None
    why: Why = ""
    """Why there is no answer; empty where there is one."""

    faults: tuple[str, ...] = ()
    """What was wrong with each reply that could not be read."""

    source: LabelSource = "model"
    usage: Usage = field(default_factory=Usage)
    latency: float = 0.0
    """Seconds the model worked, queues and waiting left out."""

    error: str = ""
    """The server's last error, where it gave no reply."""

    reply: str = ""
    """The text that was read."""


class JudgeClient:
    """Puts questions to one judge.

    Args:
        engine: Produces replies; the same kind of engine that agents use.
        identity: Who is asked.
        cache: Replies that were read before; None to ask each time.
        concurrency: Questions at once.
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
        self._places = asyncio.Semaphore(concurrency)
        self._under_way: dict[str, asyncio.Future[None]] = {}

    async def ask(
        self, prompt: Prompt, read: Callable[[str], Read], *, repeat: int = 0
    ) -> Asked[Read]:
        """Ask a question until its answer can be read, at most `1 + retries` times.

        Args:
            prompt: What is asked.
            read: Reads the reply or raises `ReplyFault`.
            repeat: Asks the same again, past the cache, where it is above 0.

        Raises:
            EngineError: If no question can be answered at all (wrong key, unknown model).
        """
        if not self.identity.images:
            prompt = prompt._replace(images=())
        question = content_hash([self._identity_hash, *prompt.asks])
        if repeat:
            return await self._persist(prompt, read, question)
        return await self._once(prompt, read, question)

    async def close(self) -> None:
        """Close engine and cache."""
        await self.engine.close()
        if self.cache is not None:
            self.cache.close()

    async def _once(self, prompt: Prompt, read: Callable[[str], Read], key: str) -> Asked[Read]:
        """Ask what was not asked before."""
        cached = await self._cached(key, read)
        if cached is not None:
            return cached
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = mine
        try:
            asked = await self._persist(prompt, read, key)
            if self.cache is not None and asked.answer is not None:
                self.cache.put(key, asked.reply)
            return asked
        finally:
            del self._under_way[key]
            mine.set_result(None)

    async def _cached(self, key: str, read: Callable[[str], Read]) -> Asked[Read] | None:
        """Return the kept answer; waits for the same question if it is just being asked."""
        if self.cache is None:
            return None
        while key in self._under_way:
            await self._under_way[key]
        reply = self.cache.get(key)
        if reply is None:
            return None
        try:
            return Asked(read(reply), source="cache")
        except ReplyFault:
            return None

    async def _persist(self, prompt: Prompt, read: Callable[[str], Read], key: str) -> Asked[Read]:
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
                return Asked(None, why, tuple(faults), error=str(error), usage=usage)
            usage, latency = usage.plus(reply.usage), latency + reply.latency
            text = str(reply.message.get("content") or "")
            try:
                answer = self._read(reply, text, read)
            except ReplyFault as fault:
                why = fault.why
                faults.append(f"{fault.why}: {fault}")
                continue
            return Asked(answer, "", tuple(faults), "model", usage, latency, reply=text)
        return Asked(None, why, tuple(faults), "model", usage, latency)

    def _read(self, reply: ChatReply, text: str, read: Callable[[str], Read]) -> Read:
        if reply.finish == "length":
            raise ReplyFault("malformed", "the reply was cut off")
        if reply.message.get("tool_calls"):
            raise ReplyFault("malformed", "the reply calls a tool")
        return read(text)

    async def _reply(self, prompt: Prompt, key: str, attempt: int, why: Why) -> ChatReply:
        identity = self.identity
        if attempt:
            said = _SAID.get(why, "it was no answer")
            note = f"\n\nYour last reply could not be read: {said}. Answer in the form asked for."
            prompt = prompt._replace(user=prompt.user + note)
        seed = derive_seed("judge", identity.seed, key, attempt) % _SEED_RANGE
        sampling = Sampling(identity.temperature, identity.top_p, identity.max_tokens, seed)
        schema = prompt.schema if identity.structured else None
        async with self._places:
            reply = await self.engine.chat(ChatRequest(prompt.messages, (), sampling, None, schema))
        self.usage = self.usage.plus(reply.usage)
        self.latencies.append(reply.latency)
        return reply
