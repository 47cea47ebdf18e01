"""Opens checkpoint directories: torch or vLLM servers sample, the policy agent plays."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.codecs import Codec, get_codec
from hexathlon.baselines.codecs.registry import UnknownCodec
from hexathlon.baselines.tokens.requests import TokenSampling

if TYPE_CHECKING:
    from hexathlon.baselines.engines.local.chat import LocalChat
    from hexathlon.baselines.engines.local.engine import LocalEngine
    from hexathlon.baselines.engines.tokens import TokenEngine
    from hexathlon.baselines.tokens.render import ChatRenderer

__all__ = [
    "InvalidCheckpoint",
    "OpenedCheckpoint",
    "OpenedPolicy",
    "Serving",
    "open_chat",
    "open_checkpoint",
    "open_policy",
    "revision_of",
]

SETTINGS = "hexathlon.json"
"""File in the directory of a policy trained by Hexathlon, with the policy's dialect."""

_MAX_TOKENS = 1024


class InvalidCheckpoint(Exception):
    """A directory is not a usable checkpoint; the message says why."""


class OpenedCheckpoint(NamedTuple):
    """An agent made from a checkpoint, with the properties that a plan records."""

    agent: PolicyAgent
    dialect: str
    revision: str
    """Hash of weights, tokenizer and chat template."""

    engine: str = ""
    """Name and version of the engine, if it is not torch in this process."""


class OpenedPolicy(NamedTuple):
    """The parts of a checkpoint that is served to other programs."""

    engine: "LocalEngine"
    renderer: "ChatRenderer"
    codec: Codec


class Serving(NamedTuple):
    """The vLLM servers that sample for a checkpoint."""

    logs: Path
    """Directory for their output."""

    replicas: int = 1
    more: tuple[str, ...] = ()
    """Further command-line arguments for vLLM."""


class _Sampling(Protocol):
    @property
    def temperature(self) -> float | None: ...
    @property
    def top_p(self) -> float | None: ...
    @property
    def max_tokens(self) -> int | None: ...
    @property
    def sampling_seed(self) -> int | None: ...


def open_checkpoint(
    path: Path,
    sampling: _Sampling,
    dialect: str,
    concurrency: int,
    suffix: str = "",
    serving: Serving | None = None,
) -> OpenedCheckpoint:
    """Return an agent for a checkpoint directory.

    Args:
        path: A Hugging Face causal language model with a tokenizer and a chat template.
        sampling: Sampling parameters; None means temperature 1, top-p 1 or seed 0.
        dialect: Tool-call format; `auto` is the one the policy was trained with, or else Hermes.
        concurrency: Maximum number of concurrent episodes.
        suffix: Prompt suffix; must be empty, since checkpoints do not support one.
        serving: Servers that start with the first request; by default torch samples.

    Raises:
        EngineMissing: If torch or transformers is not installed, or the architecture is unknown, or
            there is no vLLM.
        InvalidCheckpoint: If the directory is incomplete or damaged.
    """
    if suffix:
        raise InvalidCheckpoint("checkpoints do not support a prompt suffix; endpoints do")
    engine: TokenEngine
    name = ""
    if serving is None:
        engine, renderer = _open(path, concurrency)
    else:
        engine, renderer, name = _serve(path, concurrency, serving)
    spoken = _dialect(path) if dialect == "auto" else dialect
    try:
        codec = get_codec(spoken)
    except UnknownCodec as error:
        raise InvalidCheckpoint(f"{path}: {error}") from None
    token_sampling = TokenSampling(
        temperature=1.0 if sampling.temperature is None else sampling.temperature,
        top_p=sampling.top_p or 1.0,
        max_tokens=sampling.max_tokens or _MAX_TOKENS,
        seed=sampling.sampling_seed or 0,
    )
    agent = PolicyAgent(engine, renderer, codec, token_sampling)
    return OpenedCheckpoint(agent, spoken, revision_of(path), name)


def open_policy(path: Path, dialect: str, concurrency: int) -> OpenedPolicy:
    """Return engine, chat template and dialect of a checkpoint directory.

    Replies do not depend on other requests, bit for bit, since these arrive in no fixed order.

    Raises:
        EngineMissing: If torch or transformers is not installed, or the architecture is unknown.
        InvalidCheckpoint: If the directory is incomplete or damaged, or the dialect unknown.
    """
    spoken = _dialect(path) if dialect == "auto" else dialect
    try:
        codec = get_codec(spoken)
    except UnknownCodec as error:
        raise InvalidCheckpoint(f"{path}: {error}") from None
    return OpenedPolicy(*_open(path, concurrency, invariant=True), codec)


def open_chat(path: Path, concurrency: int) -> "LocalChat":
    """Return a chat engine for a checkpoint directory, for judges and role-play partners.

    Raises:
        EngineMissing: If torch or transformers is not installed, or the architecture is unknown.
        InvalidCheckpoint: If the directory is incomplete or damaged.
    """
    engine, renderer = _open(path, concurrency)
    from hexathlon.baselines.engines.local.chat import LocalChat

    return LocalChat(engine, renderer)


def _open(
    path: Path, concurrency: int, *, invariant: bool = False
) -> tuple["LocalEngine", "ChatRenderer"]:
    from hexathlon.baselines.engines.local.loading import (
        CheckpointError,
        check_files,
        load_checkpoint,
        require_torch,
    )

    require_torch()
    try:
        check_files(path)
    except CheckpointError as error:
        raise InvalidCheckpoint(str(error)) from None
    from hexathlon.baselines.engines.local.engine import LocalEngine
    from hexathlon.baselines.tokens.render import ChatRenderer, TemplateError

    try:
        checkpoint = load_checkpoint(path)
        renderer = ChatRenderer(checkpoint.tokenizer)
    except CheckpointError as error:
        raise InvalidCheckpoint(str(error)) from None
    except TemplateError as error:
        raise InvalidCheckpoint(f"{path}: {error}") from None
    batch = min(64, concurrency)
    engine = LocalEngine(
        checkpoint.model, context=checkpoint.context, batch=batch, invariant=invariant
    )
    return engine, renderer


def _serve(
    path: Path, concurrency: int, serving: Serving
) -> tuple["TokenEngine", "ChatRenderer", str]:
    """Return an engine of servers that are not started yet, with the engine's name."""
    from hexathlon.baselines.engines.local.loading import (
        CheckpointError,
        check_files,
        load_tokenizer,
        require_torch,
    )
    from hexathlon.baselines.engines.replicated import as_one
    from hexathlon.baselines.engines.served.launched import replicas_of
    from hexathlon.baselines.engines.served.server import vllm_version
    from hexathlon.baselines.engines.served.settings import VllmSettings
    from hexathlon.baselines.tokens.render import ChatRenderer, TemplateError

    require_torch()
    name = f"vllm {vllm_version()}"
    try:
        check_files(path)
        renderer = ChatRenderer(load_tokenizer(path))
    except CheckpointError as error:
        raise InvalidCheckpoint(str(error)) from None
    except TemplateError as error:
        raise InvalidCheckpoint(f"{path}: {error}") from None
    settings = VllmSettings.of(path, sequences=concurrency, more=serving.more)
    engines = replicas_of(path, serving.logs, settings, serving.replicas)
    return as_one({each.name: each for each in engines}), renderer, name


def _dialect(path: Path) -> str:
    file = path / SETTINGS
    if not file.is_file():
        return "hermes"
    try:
        settings: dict[str, Any] = json.loads(file.read_text())
        return str(settings["dialect"])
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidCheckpoint(f"{file} is invalid ({error!r}); fix or delete it") from None


def revision_of(path: Path) -> str:
    """Return a hash of all files that determine the output of a checkpoint."""
    digest = hashlib.sha256()
    kinds = {".safetensors", ".bin", ".json", ".jinja", ".model", ".txt"}
    for file in sorted(path.iterdir()):
        if file.is_file() and file.suffix in kinds:
            digest.update(file.name.encode() + b"\0")
            with file.open("rb") as opened:
                while block := opened.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()
