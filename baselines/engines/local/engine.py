"""The torch engine: batches concurrent requests of one event loop.

Model steps run on the loop itself. Between two steps all ready coroutines run, so that environments
take their turns and new requests join the batch. The engine does not depend on chat templates or
tasks.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import torch

from hexathlon.baselines.engines.errors import EngineError, EngineMissing
from hexathlon.baselines.engines.local.compiled import CompiledDecoder, compiled_cause
from hexathlon.baselines.engines.local.decoder import LlamaDecoder, is_llama_shaped
from hexathlon.baselines.engines.local.scheduler import Scheduler
from hexathlon.baselines.engines.local.sequences import Sequence
from hexathlon.baselines.engines.local.weights import load_weights
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import EntropyScale, TokenReply, TokenRequest

__all__ = ["LocalEngine"]


class LocalEngine:
    """Continues token sequences with a model in this process.

    On a CPU, torch is limited to one thread for the whole process, because sampled tokens must not
    depend on a row's place in the batch, bit for bit.

    Args:
        model: A Hugging Face causal language model; only `update` with another model writes its
            parameters.
        context: Maximum number of tokens of a prompt and its reply; by default the model's limit.
        batch: Maximum number of sequences decoded concurrently.
        rows: Maximum number of sequences in the key-value store, including idle sessions.
        invariant: Whether replies must not depend on the rest of the batch, bit for bit: on a CPU
            about a fifth slower, and needed if requests arrive in no fixed order.
        speculate: Maximum number of tokens that are proposed and checked in one pass; 0 for none.
            Replies are the same, bit for bit with `invariant`.
        compiled: Whether to decode with compiled kernels, which are always invariant; None uses
            them where they run, see `compiled_cause`. They round differently than torch.

    Raises:
        EngineMissing: If the architecture is not supported, or `compiled` is True where the kernels
            do not run.
    """

    def __init__(
        self,
        model: Any,
        *,
        context: int = 0,
        batch: int = 64,
        rows: int = 0,
        invariant: bool = False,
        speculate: int = 0,
        compiled: bool | None = None,
    ) -> None:
        if not is_llama_shaped(model.config):
            raise EngineMissing(
                "the torch engine supports Llama-style models (llama, mistral, qwen2, qwen3), not "
                f"{model.config.model_type!r}; serve it with vLLM and use endpoint:URL"
            )
        limit = int(getattr(model.config, "max_position_embeddings", 0) or 4096)
        if next(model.parameters()).device.type == "cpu":
            # Several threads split products by rows, so a row's last bit would depend on its index.
            torch.set_num_threads(1)
        self.context = min(context or limit, limit)
        self._model = model
        self._decoder = _decoder(model, self.context, invariant, compiled)
        self._scheduler = Scheduler(
            self._decoder, self.context, batch, rows or 2 * batch, speculate
        )
        self._pump: asyncio.Task[None] | None = None
        self._replies: set[asyncio.Future[TokenReply]] = set()
        self._closed = False
        self._failure: EngineError | None = None

    @property
    def version(self) -> int:
        """Version of the current policy."""
        return self._scheduler.version

    @property
    def entropy_scale(self) -> EntropyScale | None:
        """Scale by which requests with heat choose their temperature; None at first."""
        return self._scheduler.entropy_scale

    @entropy_scale.setter
    def entropy_scale(self, scale: EntropyScale | None) -> None:
        self._scheduler.entropy_scale = scale

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of tokens, by name.

        They were sampled (`drawn`), prefilled (`read`), copied at forks (`forked`), or `proposed`
        and `accepted` by speculation.
        """
        scheduler = self._scheduler
        proposed, accepted = scheduler.speculated_tokens
        return {
            "drawn": scheduler.drawn_tokens,
            "read": scheduler.read_tokens,
            "forked": scheduler.forked_tokens,
            "proposed": proposed,
            "accepted": accepted,
        }

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt.

        Raises:
            ContextOverflow: If the prompt leaves no room for a reply.
            WeightsDiffer: If the last update failed its verification.
            EngineError: If the engine is closed, or the model's logits are not numbers.
        """
        return await self.stream(request, None)

    async def stream(
        self, request: TokenRequest, on_token: Callable[[int], None] | None
    ) -> TokenReply:
        """Continue a prompt like `generate`; `on_token` is called with each token at once."""
        if self._closed:
            raise EngineError("the engine is closed")
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))
        loop = asyncio.get_running_loop()
        future: asyncio.Future[TokenReply] = loop.create_future()
        self._scheduler.add(Sequence(request, _resolver(future), on_token))
        self._replies.add(future)
        future.add_done_callback(self._replies.discard)
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
                self._fail(error)
            except Exception as error:
                self._fail(EngineError(f"the model failed: {error!r}"))
            except BaseException as error:
                # Nothing awaits this task, so the error is passed to the waiting requests.
                self._fail(EngineError(f"the engine stopped: {error!r}"))
                raise
            # Two iterations of the loop: one for coroutines that wait for a reply, one for the
            # coroutines that these start.
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    def _fail(self, error: EngineError) -> None:
        """End every request with an error, including one that the scheduler has just admitted."""
        self._scheduler.fail(error)
        for future in [*self._replies]:
            _resolver(future)(error)

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all; they return the tokens sampled so far."""
        self._scheduler.abort(session)

    def forget(self, session: str) -> None:
        """Drop the cache of a session, if there is one."""
        self._scheduler.forget(session)

    async def clear(self) -> None:
        """Abort all requests and drop all caches; later replies are reproducible bit for bit."""
        self._scheduler.clear()

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights and compare with the learner; see `TokenEngine.update`.

        If the learner's model is the engine's own, nothing is copied. No step runs during the
        update.

        Raises:
            WeightsDiffer: If the decoder's log-probabilities differ from the learner's; requests in
                flight fail with the same error.
            EngineError: If the weights belong to a different model; the old ones stay in use.
        """
        load_weights(self._model, weights)
        self._scheduler.refresh(version)
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
        """Return the log-probabilities of all tokens except the first of each sequence."""
        scores = []
        for sequence in ids:
            tokens = torch.tensor([sequence], device=self._decoder.device)
            log_probabilities = self._decoder.logits(tokens)[0, :-1].float().log_softmax(-1)
            scores.append(log_probabilities.gather(-1, tokens[0, 1:, None])[:, 0].tolist())
        return scores

    async def close(self) -> None:
        """Abort requests in flight and release the memory."""
        self._closed = True
        self._scheduler.abort()
        if self._pump is not None:
            await self._pump


def _decoder(model: Any, context: int, invariant: bool, compiled: bool | None) -> LlamaDecoder:
    cause = "" if compiled is False else compiled_cause(model)
    if compiled and cause:
        raise EngineMissing(f"{cause}; leave out `compiled`")
    if compiled is False or cause:
        return LlamaDecoder(model, context, invariant=invariant)
    return CompiledDecoder(model, context)


def _resolver(future: "asyncio.Future[TokenReply]") -> Callable[[TokenReply | EngineError], None]:
    def resolve(outcome: TokenReply | EngineError) -> None:
        if future.done():
            return
        if isinstance(outcome, EngineError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    return resolve
