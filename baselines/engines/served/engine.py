"""A vLLM server as a token engine: token ids over HTTP, none of them decoded on the way.

Log-probabilities are of the distribution that was drawn from, after temperature and cuts, if the
server runs with `--logprobs-mode processed_logprobs`; `ServedEngine.open` finds out and refuses a
server that does not. New weights are taken from a folder that the server can read. After each
update the server's version is read back and its log-probabilities are compared with the
learner's; no reply is handed out before that comparison, and none after it failed.
"""

import asyncio
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import (
    AuthRejected,
    ContextOverflow,
    EngineError,
    EngineMissing,
    MalformedReply,
    ReplyTimeout,
    UnknownModel,
    VersionDiffers,
)
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.sending import HttpSettings, Sender, bounded
from hexathlon.baselines.engines.served.routes import (
    CompletionRoute,
    Route,
    ServedReply,
    TokenRoute,
)
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import Span, TokenReply, TokenRequest, TokenSampling

__all__ = ["ServedEngine"]

_LAST_REPLIES = 10.0
"""Seconds that aborted requests have for their end."""

_ABORT_AGAIN = 0.05

_TIED = ". Tied embeddings are not replaced on a CPU server: untie them, or start it anew"

_UNNAMED = "default"
"""The version that a server names before it was told one."""


class ServedEngine:
    """Continues token sequences on a vLLM server; made by `open`.

    Args:
        sender: Connections to the server, whose base address has no `/v1`.
        route: How continuations are asked for.
        model: The model's name on the server.
        context: Most tokens of a prompt with its reply.
        version: Number of the policy that the server draws from.
        deadline: Seconds that one request may take, retries and waiting included.
    """

    def __init__(
        self,
        sender: Sender,
        route: Route,
        model: str,
        context: int,
        version: int,
        deadline: float | None = None,
    ) -> None:
        self.route = route
        self.model = model
        self.context = context
        self._sender = sender
        self._version = version
        self._deadline = deadline
        self._names = f"hexathlon-{secrets.token_hex(4)}"
        self._asked = 0
        self._sessions: dict[str, str] = {}
        self._settled = asyncio.Event()
        self._settled.set()
        self._failure: EngineError | None = None
        self._controlled = False
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @classmethod
    async def open(
        cls,
        settings: HttpSettings,
        limit: AdaptiveLimit | None = None,
        *,
        deadline: float | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> "ServedEngine":
        """Find out what a server serves, by which route, and that its numbers can be used.

        Args:
            settings: The server; an empty model name means the only one that it serves.
            limit: Shared bound on requests at once; by default the server's queue is left to it.
            deadline: Seconds that one request may take, retries and waiting included.
            client: Brings its own connections (tests).

        Raises:
            EngineMissing: If its log-probabilities are not of the distribution drawn from.
            EngineError: If the server does not answer, or not as vLLM does.
        """
        limit = limit or AdaptiveLimit(256, ceiling=1024)
        sender = Sender(settings, limit, client)
        try:
            model, context = await _served_model(sender)
            route = await _route(sender, model)
            engine = cls(sender, route, model, context, 0, deadline)
            if route.versions:
                await engine._find_control()
        except BaseException:
            await sender.close()
            raise
        return engine

    @property
    def version(self) -> int:
        """Number of the policy that draws now."""
        return self._version

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt.

        Raises:
            ContextOverflow: If the prompt leaves no room for a reply.
            WeightsDiffer: If the last update left the server with other weights than the learner's.
            EngineError: If no reply could be had; only infrastructure faults were tried again.
        """
        if self._closed:
            raise EngineError("the engine is closed")
        self._refuse(request.ids)
        await self._trusted()
        before = self._version
        with self._named(request.session) as name:
            drawn = await self._draw(request, name)
        await self._trusted()
        # Without version spans there are no updates either, so the version has not changed.
        spans = [Span(_number(label), start, end) for label, start, end in drawn.spans]
        if not spans and drawn.ids:
            spans = [Span(before, 0, len(drawn.ids))]
        return TokenReply(drawn.ids, drawn.log_probabilities, drawn.finish, spans)

    async def abort(self, session: str | None = None) -> None:
        """End a session's request, or all of this engine's; each is answered with what it has.

        Raises:
            EngineMissing: If the server's route has no such thing; cancel the caller instead.
        """
        if not self.route.versions:
            raise EngineMissing(
                f"{self.route.path} cannot abort by name; cancel the caller instead"
            )
        names = [n for n, owner in self._sessions.items() if session in (None, owner)]
        try:
            async with asyncio.timeout(_LAST_REPLIES):
                # A request that was only just sent is not known to the server yet.
                while names := [name for name in names if name in self._sessions]:
                    known = [f"generate-tokens-{name}" for name in names]
                    await self._control("/inference/v1/abort_requests", {"request_ids": known})
                    await asyncio.sleep(_ABORT_AGAIN)
        except TimeoutError:
            raise ReplyTimeout(
                f"{len(names)} aborted requests did not end within {_LAST_REPLIES:g} s"
            ) from None

    async def clear(self) -> None:
        """End all of this engine's requests and let the server drop the prompts that it cached.

        Raises:
            EngineError: If the server did not do so.
        """
        if self._sessions:
            await self.abort()
        if self._controlled:
            await self._control("/reset_prefix_cache")

    def forget(self, session: str) -> None:
        """Do nothing: the server keeps no sessions, and what it cached it replaces when it must."""

    async def update(self, weights: Weights, version: int) -> float:
        """Let the server take over weights, and make sure that it did.

        Requests in flight go on under the new weights; their replies say which version drew which
        token, and are handed out only once the comparison has succeeded.

        Args:
            weights: A folder, which the server can read under the same path.
            version: Its number from now on.

        Returns:
            The largest difference of a log-probability.

        Raises:
            VersionDiffers: If the server reports a different version afterwards.
            WeightsDiffer: If its log-probabilities differ from the learner's.
            EngineError: If the server failed. After any of these errors, no token is sampled until
                an update succeeds.
        """
        if not self._controlled:
            raise EngineMissing(
                "an update of weights needs a vLLM server started with --enable-scale-out and "
                "VLLM_SERVER_DEV_MODE=1"
            )
        if not self._settled.is_set():
            raise EngineError("an update is under way; wait for it before the next")
        folder = weights.folder
        if folder is None:
            raise EngineError("a server reads weights from a folder; write the model to one first")
        if not any(folder.glob("*.safetensors")):
            # A server that cannot load what it is told to does not survive it.
            raise EngineError(f"{folder} holds no safetensors; expected a checkpoint's weights")
        self._settled.clear()
        try:
            await self._replace(folder, version)
            difference = await self.compare(weights.probe)
        except BaseException as error:
            self._failure = error if isinstance(error, EngineError) else _unfinished(version)
            raise
        else:
            self._version, self._failure = version, None
        finally:
            self._settled.set()
        return difference

    async def compare(self, probe: LogProbabilityProbe) -> float:
        """Return the largest difference between the server's log-probabilities and the learner's.

        Raises:
            WeightsDiffer: If it is above the probe's tolerance.
        """
        sampling = TokenSampling(temperature=0.0, max_tokens=probe.drawn)
        drawn = await self._draw(TokenRequest(probe.ids, sampling), self._names, prompt=True)
        values = [*drawn.prompt, *drawn.log_probabilities]
        return probe.difference([*probe.ids, *drawn.ids], values, _TIED)

    async def close(self) -> None:
        """Close the connections; requests in flight are aborted."""
        self._closed = True
        if self.route.versions:
            with suppress(EngineError):  # a server that is gone has nothing in flight
                await self.abort()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), _LAST_REPLIES)
        await self._sender.close()

    async def _replace(self, folder: Path, version: int) -> None:
        """Exchange the weights between two steps of the server and read the version back."""
        place = {"weights_path": str(folder.resolve())}
        try:
            await self._control("/pause?mode=keep")
            await self._control("/collective_rpc", {"method": "reload_weights", "kwargs": place})
            await self._control("/update_weight_version", {"new_version": str(version)})
        except BaseException:
            with suppress(EngineError):  # the first failure is the one that is told
                await self._control("/resume")
            raise
        await self._control("/resume")
        found = await self._named_version()
        if found != version:
            raise VersionDiffers(f"the server says version {found} after it was sent {version}")

    async def _find_control(self) -> None:
        try:
            self._version = await self._named_version()
        except UnknownModel:
            return  # a server without control routes keeps its weights
        self._controlled = True

    async def _named_version(self) -> int:
        try:
            label = json.loads(await self._sender.ask(self._url("/weight_info")))["weight_version"]
        except (ValueError, LookupError, TypeError) as error:
            raise MalformedReply(f"/weight_info names no version: {error!r}") from None
        return _number(str(label))

    async def _draw(self, request: TokenRequest, name: str, *, prompt: bool = False) -> ServedReply:
        async def read(response: httpx.Response) -> ServedReply:
            return self.route.read(await bounded(response))

        body = self.route.body(request, name, self.model, prompt=prompt)
        sent = await self._sender.post(self._url(self.route.path), body, read, self._deadline)
        return sent.value

    async def _trusted(self) -> None:
        """Wait for an update that is under way; raise if the last one failed."""
        await self._settled.wait()
        if self._failure is not None:
            raise type(self._failure)(str(self._failure))

    def _refuse(self, ids: list[int]) -> None:
        if not ids:
            raise EngineError("the prompt has no tokens; a model needs at least one to go on from")
        if len(ids) >= self.context:
            raise ContextOverflow(
                f"the prompt has {len(ids)} tokens; the model's context holds {self.context} "
                "together with the reply"
            )

    @contextmanager
    def _named(self, session: str) -> Iterator[str]:
        self._asked += 1
        name = f"{self._names}-{self._asked}"
        self._sessions[name] = session
        self._idle.clear()
        try:
            yield name
        finally:
            del self._sessions[name]
            if not self._sessions:
                self._idle.set()

    async def _control(self, path: str, body: dict[str, Any] | None = None) -> None:
        await self._sender.ask(self._url(path), json.dumps(body or {}).encode())

    def _url(self, path: str) -> str:
        return f"{self._sender.settings.url}{path}"


def _number(label: str) -> int:
    if label == _UNNAMED:
        return 0
    try:
        return int(label)
    except ValueError:
        raise MalformedReply(f"the server's weights are named {label!r}, not by number") from None


def _unfinished(version: int) -> EngineError:
    return EngineError(f"the update to version {version} was broken off; update once more")


async def _served_model(sender: Sender) -> tuple[str, int]:
    """Return name and context of the model that is meant."""
    url, wanted = f"{sender.settings.url}/v1/models", sender.settings.model
    try:
        rows = {str(row["id"]): row for row in json.loads(await sender.ask(url))["data"]}
        contexts = {name: int(row["max_model_len"]) for name, row in rows.items()}
    except (ValueError, LookupError, TypeError) as error:
        raise MalformedReply(f"{url} is no list of vLLM's models: {error!r}") from None
    if not wanted and len(contexts) == 1:
        return next(iter(contexts.items()))
    if wanted not in contexts:
        offered = ", ".join(contexts) or "none"
        raise UnknownModel(f"the server has no model {wanted!r}; it offers {offered}")
    return wanted, contexts[wanted]


async def _route(sender: Sender, model: str) -> Route:
    """Return the best route that the server has and whose log-probabilities can be used."""
    # The only token that may be drawn has log-probability 0 in the distribution drawn from.
    request = TokenRequest([0], TokenSampling(top_k=1, max_tokens=1))
    routes: tuple[Route, Route] = (TokenRoute(), CompletionRoute())
    refusal: EngineError | None = None
    for route in routes:
        body = route.body(request, "hexathlon-opens", model, prompt=False)
        try:
            drawn = route.read(await sender.ask(f"{sender.settings.url}{route.path}", body))
        except (AuthRejected, UnknownModel) as error:
            refusal = error
            continue
        if not drawn.log_probabilities or abs(drawn.log_probabilities[0]) > 1e-6:
            raise EngineMissing(
                "the server's log-probabilities are of the raw logits, not of the distribution "
                "drawn from; start it with --logprobs-mode processed_logprobs"
            )
        return route
    assert refusal is not None
    raise refusal
