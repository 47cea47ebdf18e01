"""Policies for a vLLM server, and the server, if its Python environment is available."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from hexathlon.baselines.agents.checkpoint import SETTINGS
from hexathlon.baselines.engines.served.server import INTERPRETER, VllmServer
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.warmstart.initial import (
    ModelShape,
    make_model,
    make_tokenizer,
    save_policy,
)
from support.policies import TEXTS

MADE = Path(__file__).resolve().parents[2] / ".venv-vllm" / "bin" / "python"

CONTEXT = 8192
"""Long enough that no reply ends while a test waits for it to start."""


def interpreter() -> Path:
    """Return the interpreter with vLLM installed, or skip."""
    python = Path(os.environ.get(INTERPRETER) or MADE)
    if not python.is_file():
        pytest.skip(f"{python} does not exist: scripts/vllm makes the environment with vLLM")
    return python


def sharp_policy(path: Path, seed: int = 0, *, tied: bool = False) -> Path:
    """Write a policy with peaked distributions, so that errors are visible."""
    import torch

    # Heads of 32, the smallest that vLLM supports on a CPU.
    shape = ModelShape(width=64, layers=2, heads=2, kv_heads=1, feed_forward=128, context=CONTEXT)
    tokenizer = make_tokenizer(TEXTS, 300)
    model = make_model(shape, len(tokenizer), seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(4.0)
    if tied:
        model.config.tie_word_embeddings = True
        model.tie_weights()
    save_policy(path, model, tokenizer)
    (path / SETTINGS).write_text(json.dumps({"dialect": "compact"}))
    return path


def learner(path: Path) -> Any:
    """Return a checkpoint's model."""
    from hexathlon.baselines.engines.local.loading import load_checkpoint

    return load_checkpoint(path, device="cpu").model


def moved(model: Any, seed: int = 1) -> Any:
    """Change a model's weights in place, more than a training step would."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=generator))
    return model


@contextmanager
def vllm_server(checkpoint: Path, log: Path, *more: str) -> Iterator[VllmServer]:
    """Serve a checkpoint, or skip."""
    settings = VllmSettings(sequences=32, ready_within=600.0, more=more)
    with VllmServer(checkpoint, log, settings, interpreter()) as server:
        yield server


def running(url: str) -> float:
    """Return the number of running requests of a server."""
    return _counted(url, ("vllm:num_requests_running{", "vllm:num_requests_waiting{"))


def drawn(url: str) -> float:
    """Return the number of tokens that a server has sampled since its start."""
    return _counted(url, ("vllm:generation_tokens_total{",))


def _counted(url: str, names: tuple[str, ...]) -> float:
    lines = httpx.get(f"{url}/metrics", timeout=60.0).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(names))


def group_members(group: int) -> list[int]:
    """Return the processes of a process group that have not ended."""
    result = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, owner, *_ = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended in the meantime
        if int(owner) == group and state != "Z":
            result.append(int(stat.parent.name))
    return result


def guards_of(parent: int) -> list[int]:
    """Return the guards of the servers that a process has started, in the order of their logs."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state, owner, *_ = (path / "stat").read_text().rpartition(")")[2].split()
            if int(owner) == parent and state != "Z" and "guard.py" in _arguments(path)[3:4]:
                found.append(int(path.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended in the meantime
    return sorted(found, key=lambda pid: os.readlink(f"/proc/{pid}/fd/1"))


def url_of(guard: int) -> str:
    """Return the address of a guard's server."""
    arguments = _arguments(Path("/proc") / str(guard))
    return f"http://127.0.0.1:{arguments[arguments.index('--port') + 1]}"


def _arguments(process: Path) -> list[str]:
    """Return a process's command line, its file reduced to the name."""
    parts = (process / "cmdline").read_bytes().decode().split("\0")
    return [Path(part).name if part.endswith(".py") else part for part in parts]
