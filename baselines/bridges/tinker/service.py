"""Models, samplers and pending results of the service, by the identifiers of the API."""

import asyncio
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.checkpoint import OpenedPolicy
from hexathlon.baselines.bridges.tinker.models import SavedState, TrainedModel
from hexathlon.baselines.bridges.tinker.wire import TrainingRequest, write_samples
from hexathlon.baselines.engines.apis.base import JsonBody
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.gateway.policy import cut_reply
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from hexathlon.baselines.warmstart.initial import save_policy
from hexathlon.tasks.seeding import derive_seed

__all__ = ["TinkerService"]

_MAX_TOKENS = 1024
_SCHEME = "tinker://"


@dataclass(slots=True)
class _Trained:
    model: TrainedModel
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Requests of one model run in the order in which they came."""

    saves: int = 0


class TinkerService:
    """Trains copies of a checkpoint and samples from them.

    Args:
        policy: The base model.
        base: The loaded base model itself.
        name: The base model's name.
        path: Directory of the checkpoint, which has the tokenizer.
        out: Directory for saved weights, as checkpoints; None keeps them in memory only.
    """

    def __init__(
        self, policy: OpenedPolicy, base: Any, name: str, path: Path, out: Path | None = None
    ) -> None:
        self.name = name
        self.path = path
        self._policy = policy
        self._base = base
        self._out = out
        self._models: dict[str, _Trained] = {}
        self._failed: dict[str, str] = {}
        self._states: dict[str, SavedState] = {}
        self._plain: dict[str, Any] = {}
        self._samplers: dict[str, LocalEngine] = {}
        self._paths: dict[str, str] = {}
        self._sampled = 0

    @property
    def context(self) -> int:
        """Maximum number of tokens."""
        return self._policy.engine.context

    def create_model(self, body: Mapping[str, Any]) -> JsonBody:
        """Create a model to train; clients do not wait for it, so later requests report failures.

        Raises:
            BadRequest: If there is no such base model, or adapters are not installed.
        """
        name = _named(body)
        try:
            self._check_base(body.get("base_model"))
            lora = body.get("lora_config") or {}
            model = TrainedModel(self._base, int(lora.get("rank") or 0), int(lora.get("seed") or 0))
        except BadRequest as error:
            self._failed[name] = str(error)
            raise
        self._models[name] = _Trained(model)
        return {"type": "create_model", "model_id": name}

    def info(self, body: Mapping[str, Any]) -> JsonBody:
        """Describe a model."""
        model = self._model(body).model
        data = {"arch": "llama", "model_name": self.name, "tokenizer_id": str(self.path)}
        return {
            "type": "get_info", "model_id": body["model_id"], "model_data": data,
            "is_lora": model.rank > 0, "lora_rank": model.rank or None, "model_name": self.name,
        }  # fmt: skip

    async def train(self, request: TrainingRequest) -> bytes:
        """Take a forward and a backward pass."""
        trained = self._model({"model_id": request.model})
        async with trained.turn:
            return await asyncio.to_thread(trained.model.run, request)

    async def step(self, body: Mapping[str, Any]) -> JsonBody:
        """Take an optimiser step."""
        if body.get("optimizer_params"):
            raise BadRequest("only AdamW is supported")
        trained = self._model(body)
        async with trained.turn:
            return {"metrics": trained.model.step(body.get("adam_params") or {})}

    async def save(self, body: Mapping[str, Any]) -> JsonBody:
        """Save weights and the optimiser's state."""
        trained, path = self._model(body), self._path(body, "weights")
        async with trained.turn:
            self._states[path] = trained.model.save()
            self._write(path, trained.model.plain)
        return {"type": "save_weights", "path": path}

    async def save_for_sampler(self, body: Mapping[str, Any]) -> JsonBody:
        """Save weights to sample from; without a path, open a sampler at once."""
        trained, path = self._model(body), self._path(body, "sampler_weights")
        async with trained.turn:
            self._plain[path] = trained.model.plain()
        self._write(path, lambda: self._plain[path])
        reply: JsonBody = {"type": "save_weights_for_sampler"}
        if body.get("path"):
            return reply | {"path": path}
        return reply | {"sampling_session_id": self._opened(self._plain.pop(path))}

    async def load(self, body: Mapping[str, Any]) -> JsonBody:
        """Load saved weights, into a new model or an existing one."""
        path = str(body.get("path"))
        if path not in self._states:
            raise BadRequest(f"there are no weights at {path}")
        state = self._states[path]
        name = body.get("model_id")
        if name is None:
            name = _named(body)
            self._models[name] = _Trained(TrainedModel(self._base, state.rank, state.seed))
        trained = self._model({"model_id": name})
        async with trained.turn:
            trained.model.load(state, optimiser=bool(body.get("optimizer")))
        return {"type": "load_weights", "path": path, "model_id": name}

    def weights_info(self, body: Mapping[str, Any]) -> JsonBody:
        """Describe saved weights."""
        state = self._states.get(str(body.get("tinker_path")))
        rank = 0 if state is None else state.rank
        return {"base_model": self.name, "is_lora": rank > 0, "lora_rank": rank or None}

    def open_sampler(self, body: Mapping[str, Any]) -> JsonBody:
        """Open a sampler of saved weights, or of the base model."""
        path = body.get("model_path")
        if path is None:
            self._check_base(body.get("base_model"))
            name = self._opened(self._base)
        elif path in self._plain:
            name = self._opened(self._plain[path])
            self._paths[name] = str(path)
        else:
            raise BadRequest(f"there are no weights for sampling at {path}")
        return {"type": "create_sampling_session", "sampling_session_id": name}

    def sampler(self, name: str) -> JsonBody:
        """Describe a sampler."""
        path = self._paths.get(name)
        return {"sampler_id": name, "base_model": self.name, "model_path": path}

    async def sample(self, body: Mapping[str, Any]) -> bytes:
        """Sample continuations of a prompt."""
        engine = self._samplers.get(str(body.get("sampling_session_id")))
        if engine is None:
            raise BadRequest("open a sampler first: there is no such sampling session")
        for name in ("topk_prompt_logprobs", "topk_sample_logprobs", "prompt_alt_tokens_k"):
            if body.get(name):
                raise BadRequest(f"{name} is not supported")
        ids = _prompt(body["prompt"])
        asked = body.get("sampling_params") or {}
        strings, requests = self._requests(ids, asked, int(body.get("num_samples") or 1))
        replies = await asyncio.gather(*(engine.generate(request) for request in requests))
        cut = [cut_reply(self._policy.renderer, reply, strings)[0] for reply in replies]
        prompt = engine.score([ids])[0] if body.get("prompt_logprobs") else None
        return write_samples(cut, prompt)

    def _requests(
        self, ids: list[int], asked: Mapping[str, Any], count: int
    ) -> tuple[list[str], list[TokenRequest]]:
        """Return the stop strings, and one request per sample."""
        stop = asked.get("stop")
        given: list[Any] = [] if stop is None else [stop] if isinstance(stop, str) else list(stop)
        strings = [each for each in given if isinstance(each, str)]
        tokens = [each for each in given if not isinstance(each, str)]
        room = max(self.context - len(ids), 1)
        longest = min(int(asked.get("max_tokens") or _MAX_TOKENS), room)
        requests: list[TokenRequest] = []
        for _ in range(count):
            self._sampled += 1
            base, number = asked.get("seed"), self._sampled
            seed = derive_seed("tinker", number if base is None else base, len(requests))
            sampling = TokenSampling(
                float(asked.get("temperature", 1.0)),
                float(asked.get("top_p", 1.0)),
                max(int(asked.get("top_k", -1)), 0),
                longest,
                seed,
                stop_ids=tuple(tokens) or self._policy.renderer.stop_ids,
            )
            requests.append(TokenRequest(ids, sampling))
        return strings, requests

    def _opened(self, model: Any) -> str:
        name = f"sampler-{len(self._samplers)}"
        weights = copy.deepcopy(model).train(False)
        self._samplers[name] = LocalEngine(weights, context=self.context, invariant=True)
        return name

    def _model(self, body: Mapping[str, Any]) -> _Trained:
        name = str(body.get("model_id"))
        if name not in self._models:
            raise BadRequest(self._failed.get(name, f"there is no model {name}"))
        return self._models[name]

    def _path(self, body: Mapping[str, Any], kind: str) -> str:
        trained = self._model(body)
        trained.saves += 1
        name = str(body.get("path") or f"{trained.saves:06d}")
        if not all(letter.isalnum() or letter in "-_." for letter in name) or name[0] == ".":
            raise BadRequest(f"the name of saved weights has letters, digits and -_., got {name!r}")
        return f"{_SCHEME}{body['model_id']}/{kind}/{name}"

    def _write(self, path: str, model: Callable[[], Any]) -> None:
        if self._out is not None:
            folder = self._out / path.removeprefix(_SCHEME)
            save_policy(folder, model(), self._policy.renderer.tokenizer)

    def _check_base(self, name: Any) -> None:
        if name != self.name:
            raise BadRequest(f"this service has the base model {self.name!r}, got {name!r}")


def _named(body: Mapping[str, Any]) -> str:
    """Return the name of a new model, as clients derive it."""
    return f"{body.get('session_id')}:train:{body.get('model_seq_id')}"


def _prompt(prompt: Mapping[str, Any]) -> list[int]:
    ids: list[int] = []
    for chunk in prompt.get("chunks") or ():
        if "tokens" not in chunk:
            raise BadRequest("only text can be sampled from")
        ids += chunk["tokens"]
    if not ids:
        raise BadRequest("the prompt is empty")
    return ids
