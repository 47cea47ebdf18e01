"""The torch engine: many requests on one event loop, one step of the model after another.

Steps run on the loop itself. Between two of them every coroutine that is ready goes on, so that
environments play their turn and the next requests join the batch. Nothing here knows a chat
template or a task.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import torch

from hexathlon.baselines.engines.errors import EngineError, EngineMissing
from hexathlon.baselines.engines.local.decoder import LlamaDecoder, is_llama_shaped
from hexathlon.baselines.engines.local.scheduler import Scheduler, Sequence
from hexathlon.baselines.engines.local.weights import take_over
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest

__all__ = ["LocalEngine"]


class LocalEngine:
    """Continues token sequences with a model in this process.

    On a CPU it sets torch to one thread, for the whole process: what is drawn must not depend on
    what else is in the batch, to the last bit.

    Args:
        model: A Hugging Face causal language model; its parameters are written only by an update
            that brings those of another.
        context: Most tokens of a prompt with its reply; by default the model's own limit.
        batch: Most sequences continued at once.
        rows: Most sequences whose keys and values are kept, resting episodes included.

    Raises:
        EngineMissing: If the architecture is not one that the engine computes.
    """

    def __init__(self, model: Any, *, context: int = 0, batch: int = 64, rows: int = 0) -> None:
        if not is_llama_shaped(model.config):
            raise EngineMissing(
                f"the torch engine computes models of the Llama shape (llama, mistral, qwen2, "
                f"qwen3), not {model.config.model_type!r}; serve it with vLLM and use endpoint:URL"
            )
        limit = int(getattr(model.config, "max_position_embeddings", 0) or 4096)
        if next(model.parameters()).device.type == "cpu":
            # Several threads cut products by rows, and a row's last bit is then its place's.
            torch.set_num_threads(1)
        self.context = min(context or limit, limit)
        self._model = model
        self._decoder = LlamaDecoder(model, self.context)
        self._scheduler = Scheduler(self._decoder, self.context, batch, rows or 2 * batch)
        self._pump: asyncio.Task[None] | None = None
        self._closed = False
        self._failure: EngineError | None = None

    @property
    def version(self) -> int:
        """Number of the policy that draws now."""
        return self._scheduler.version

    @property
    def counts(self) -> dict[str, int]:
        """Tokens drawn and tokens read so far; what was kept from an earlier turn is not read."""
        return {"drawn": self._scheduler.drawn_tokens, "read": self._scheduler.read_tokens}

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt.

        Raises:
            ContextOverflow: If the prompt leaves no room for a reply.
            WeightsDiffer: If the last update left other weights than the learner's.
            EngineError: If the engine is closed, or the model's logits are not numbers.
        """
        if self._closed:
            raise EngineError("the engine is closed")
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))
        loop = asyncio.get_running_loop()
        future: asyncio.Future[TokenReply] = loop.create_future()
        self._scheduler.add(Sequence(request, _resolver(future)))
        if self._pump is None or self._pump.done():
            self._pump = loop.create_task(self._run())
        try:
            return await future
        except asyncio.CancelledError:
            self._scheduler.abort(request.session)
            raise

    async def _run(self) -> None:
        while self._scheduler.busy:
            try:
                self._scheduler.step()
            except EngineError as error:
                self._scheduler.fail(error)
            except RuntimeError as error:
                self._scheduler.fail(EngineError(f"the model failed: {error}"))
            # Two passes of the loop: one for those that wait for a reply, one for what they call.
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def abort(self, session: str | None = None) -> None:
        """End a session's request, or all; each is answered with what was drawn so far."""
        self._scheduler.abort(session)

    def forget(self, session: str) -> None:
        """Drop what is kept of a session."""
        self._scheduler.forget(session)

    async def clear(self) -> None:
        """Abort everything and keep nothing, so that the next replies repeat bit for bit."""
        self._scheduler.clear()

    async def update(self, weights: Weights, version: int) -> float:
        """Take over weights and compare with the learner; see `TokenEngine.update`.

        The engine's own model, changed in place, is not copied. No step is made meanwhile.

        Raises:
            WeightsDiffer: If the decoder's log-probabilities differ from the learner's; requests in
                flight fail with the same error.
            EngineError: If the weights belong to a different model; the old ones stay in use.
        """
        take_over(self._model, weights)
        self._scheduler.stale(version)
        probe = weights.probe
        try:
            difference = probe.difference(probe.ids, self.score([probe.ids])[0])
        except EngineError as error:
            self._failure = error
            self._scheduler.fail(error)
            raise
        self._failure = None
        return difference

    def score(self, ids: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of every token but the first of each sequence."""
        found = []
        for sequence in ids:
            tokens = torch.tensor([sequence], device=self._decoder.device)
            log_probabilities = self._decoder.logits(tokens)[0, :-1].float().log_softmax(-1)
            found.append(log_probabilities.gather(-1, tokens[0, 1:, None])[:, 0].tolist())
        return found

    async def close(self) -> None:
        """Abort what is in flight and release the memory."""
        self._closed = True
        self._scheduler.abort()
        if self._pump is not None:
            await self._pump


def _resolver(future: "asyncio.Future[TokenReply]") -> Callable[[TokenReply | EngineError], None]:
    def resolve(outcome: TokenReply | EngineError) -> None:
        if future.done():
            return
        if isinstance(outcome, EngineError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    return resolve
