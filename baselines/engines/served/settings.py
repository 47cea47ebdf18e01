"""Settings of a vLLM server: its command line and environment variables."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

__all__ = ["GLOO_ARGUMENTS", "NCCL_ARGUMENTS", "VllmSettings", "usable_cores"]

_STEP = 8192
"""Minimum number of tokens that the server may prefill in one step."""

_CONTEXT = 4096
"""Context of a checkpoint that does not state it."""

_WORKER = Path(__file__).with_name("worker")
"""Directory of the module that vLLM's workers import to receive over gloo."""

GLOO_ARGUMENTS = (
    "--worker-extension-cls=hexathlon_gloo.Receiver",
    '--weight-transfer-config={"backend":"hexathlon_gloo"}',
)
"""Arguments of a server that receives over gloo; its module path must have `worker/`."""

NCCL_ARGUMENTS = ('--weight-transfer-config={"backend":"nccl"}',)
"""Arguments of a server that receives over NCCL."""

_LORA_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Limits on the rank of adapters that vLLM accepts."""


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """Settings for starting a server."""

    context: int = 0
    """Maximum number of tokens of a prompt and its reply; 0 means the model's limit."""

    sequences: int = 64
    """Maximum number of sequences decoded concurrently."""

    dtype: str = "float32"
    cache_gib: int = 1
    """Size of the key-value cache on a CPU, in GiB."""

    threads: int = 0
    """Compute threads of a CPU server; 0 means all processors but one, which is left to the
    front end."""

    whole_prompts: bool = True
    """Whether a prompt is prefilled in one step. Chunked prefill crashes the CPU server (0.32) on
    seeded requests, but is faster on a GPU."""

    eager: bool = True
    """Whether the model runs without compilation and CUDA graphs, and in the scheduler's process:
    needed on a CPU, slow on a GPU."""

    ready_within: float = 240.0
    """Deadline for the first successful health check, in seconds."""

    receives: Literal["", "gloo", "nccl"] = ""
    """Backend over which the server receives weights by vLLM's transfer API; empty for none."""

    lora_rank: int = 0
    """Rank up to which the server loads low-rank adapters; 0 for none."""

    sleeps: bool = False
    """Whether the server can release its memory; needs a GPU."""

    more: tuple[str, ...] = ()
    """Further command-line arguments for vLLM."""

    @classmethod
    def of(cls, checkpoint: Path, sequences: int, more: tuple[str, ...] = ()) -> Self:
        """Return settings for sampling from a checkpoint on this machine, as torch would.

        Args:
            checkpoint: A checkpoint directory; its limit is the context.
            sequences: Maximum number of sequences decoded concurrently.
            more: Further command-line arguments for vLLM.
        """
        import torch

        context = int(_setting(checkpoint, "max_position_embeddings") or _CONTEXT)
        if torch.cuda.is_available():
            dtype = str(_setting(checkpoint, "dtype", "torch_dtype") or "auto")
            return cls(context, sequences, dtype, whole_prompts=False, eager=False, more=more)
        return cls(context, sequences, more=more)

    def arguments(self, checkpoint: Path, port: int) -> list[str]:
        """Return the arguments for the interpreter."""
        options = {
            "model": str(checkpoint.resolve()),
            "host": "127.0.0.1",
            "port": str(port),
            "dtype": self.dtype,
            "max-num-seqs": str(self.sequences),
            "logprobs-mode": "processed_logprobs",
            "generation-config": "vllm",
        }
        if self.context:
            options["max-model-len"] = str(self.context)
        if self.whole_prompts:
            longest = self.context or int(_setting(checkpoint, "max_position_embeddings") or 0)
            options["max-num-batched-tokens"] = str(max(_STEP, longest))
        pairs = [part for name, value in options.items() for part in (f"--{name}", value)]
        flags = ["--enable-scale-out", "--disable-uvicorn-access-log"]
        if self.eager:
            flags.append("--enforce-eager")
        if self.whole_prompts:
            flags.append("--no-enable-chunked-prefill")
        if self.receives:
            flags += GLOO_ARGUMENTS if self.receives == "gloo" else NCCL_ARGUMENTS
        if self.lora_rank:
            flags += ["--enable-lora", f"--max-lora-rank={_lora_rank(self.lora_rank)}"]
        if self.sleeps:
            flags.append("--enable-sleep-mode")
        return ["-m", "vllm.entrypoints.openai.api_server", *pairs, *flags, *self.more]

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables, without those of the caller's interpreter."""
        kept = {k: v for k, v in outer.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        kept |= {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
        if self.receives == "gloo":
            kept["PYTHONPATH"] = str(_WORKER)
            if sys.platform == "linux":
                kept.setdefault("GLOO_SOCKET_IFNAME", "lo")  # the server is on this machine
        if self.lora_rank:
            kept["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "1"
        if not self.eager:
            return kept
        return kept | {
            "OMP_NUM_THREADS": str(self.threads or max(1, usable_cores() - 1)),
            # Run the model in the scheduler's process: separate processes would busy-wait for each
            # other and starve the front end on a machine with two processors.
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "TORCHDYNAMO_DISABLE": "1",  # compilation would add 18 s to the first request
            "VLLM_CPU_KVCACHE_SPACE": str(self.cache_gib),
        }


def _lora_rank(rank: int) -> int:
    """Return the smallest limit that admits adapters of a rank."""
    return next((limit for limit in _LORA_RANKS if limit >= rank), rank)


def _setting(checkpoint: Path, *names: str) -> Any:
    """Return a value of a model's configuration; None if unreadable, which the server reports.

    Args:
        checkpoint: The checkpoint directory.
        names: Names of the setting, the newest first.
    """
    try:
        config = json.loads((checkpoint / "config.json").read_text())
        return next((config[name] for name in names if name in config), None)
    except (OSError, ValueError, TypeError):
        return None


def usable_cores() -> int:
    """Return the number of processors available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
