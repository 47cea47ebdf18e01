"""Optimisers and learning rates."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from hexathlon.baselines.learner.products import is_plain

__all__ = ["OptimiserConfig", "Optimisers", "learning_rate"]

_HALVES = (torch.bfloat16, torch.float16)


@dataclass(frozen=True, slots=True)
class OptimiserConfig:
    """Settings of an optimiser."""

    kind: Literal["adamw", "muon"] = "adamw"
    """`muon` uses Muon for the hidden layers' matrices and AdamW for the rest."""

    learning_rate: float = 1e-4
    """Peak learning rate of AdamW."""

    matrix_learning_rate: float = 0.02
    """Peak learning rate of Muon."""

    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    """Added to the root mean square of AdamW's gradients. Far above the gradients, it makes steps
    proportional to them; far below, steps from noise are as large as those from a signal."""

    weight_decay: float = 0.0
    clip: float = 1.0
    """Maximum gradient norm of a step; 0 disables clipping."""

    warmup: int = 0
    """Steps over which the learning rate rises to its peak."""

    decay: Literal["constant", "linear", "cosine"] = "constant"
    floor: float = 0.0
    """Fraction of the peak at the end of the decay."""


def learning_rate(config: OptimiserConfig, step: int, steps: int) -> float:
    """Return the learning rate of a step, counted from 0, as a fraction of its peak."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    if config.decay == "constant":
        return 1.0
    progress = min(1.0, (step - config.warmup) / max(1, steps - config.warmup))
    cosine = 0.5 * (1.0 + math.cos(math.pi * progress))
    remaining = 1.0 - progress if config.decay == "linear" else cosine
    return config.floor + (1.0 - config.floor) * remaining


class Optimisers:
    """The optimisers of one model, stepped together.

    A parameter in half precision is trained through a 32-bit copy, its master, and is the rounded
    master after every step: small steps would have no effect on the parameter itself.

    Args:
        model: The model; its trainable parameters are updated.
        config: Settings.
        steps: Length of the schedule.
    """

    def __init__(self, model: nn.Module, config: OptimiserConfig, steps: int) -> None:
        self.config = config
        self.steps = steps
        self.taken = 0
        found = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        self._masters = {p: _master(p) for _, p in found if p.dtype in _HALVES}
        named = [(name, self._masters.get(p, p)) for name, p in found]
        matrices = [p for name, p in named if config.kind == "muon" and _is_hidden(name, p)]
        chosen = {id(p) for p in matrices}
        rest = [p for _, p in named if id(p) not in chosen]
        self._parts: list[tuple[torch.optim.Optimizer, float]] = []
        if rest:
            adamw = torch.optim.AdamW(
                rest,
                lr=config.learning_rate,
                betas=config.betas,
                eps=config.eps,
                weight_decay=config.weight_decay,
                # One pass over each parameter instead of ten.
                fused=all(is_plain(parameter) for parameter in rest),
            )
            self._parts.append((adamw, config.learning_rate))
        if matrices:
            muon = torch.optim.Muon(
                matrices, lr=config.matrix_learning_rate, weight_decay=config.weight_decay
            )
            self._parts.append((muon, config.matrix_learning_rate))

    def parameters(self) -> Iterator[Tensor]:
        """Yield what the optimisers change: parameters, or masters of those in half precision."""
        for part, _ in self._parts:
            for group in part.param_groups:
                yield from group["params"]

    @property
    def parts(self) -> list[torch.optim.Optimizer]:
        """The optimisers, each with its own parameters."""
        return [part for part, _ in self._parts]

    def zero(self) -> None:
        """Clear the gradients."""
        for part, _ in self._parts:
            part.zero_grad(set_to_none=True)
        for parameter in self._masters:
            parameter.grad = None

    def collect(self) -> None:
        """Move gradients of half-precision parameters to their masters, after a backward pass."""
        for parameter, master in self._masters.items():
            if parameter.grad is None:
                continue
            gradient = parameter.grad.float()
            master.grad = gradient if master.grad is None else master.grad.add_(gradient)
            parameter.grad = None

    def step(self) -> tuple[float, float]:
        """Clip and step; return the gradient's norm before clipping and the learning rate."""
        self.collect()
        with torch.no_grad():
            for parameter, master in self._masters.items():
                # Values that others have changed since, as by loading weights.
                own = master.to(parameter.dtype) == parameter
                master.copy_(torch.where(own, master, parameter.float()))
        limit = self.config.clip if self.config.clip > 0 else math.inf
        norm: Any = nn.utils.clip_grad_norm_(list(self.parameters()), limit)
        if hasattr(norm, "full_tensor"):
            norm = norm.full_tensor()  # sharded gradients have a part of it on every rank
        fraction = learning_rate(self.config, self.taken, self.steps)
        for part, peak in self._parts:
            for group in part.param_groups:
                group["lr"] = peak * fraction
            part.step()
        with torch.no_grad():
            for parameter, master in self._masters.items():
                parameter.copy_(master)
        self.taken += 1
        return float(norm), self.config.learning_rate * fraction

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        state = {"taken": self.taken, "parts": [part.state_dict() for part, _ in self._parts]}
        masters = [master.detach() for master in self._masters.values()]
        return {**state, "masters": masters} if masters else state

    def load(self, state: dict[str, Any]) -> None:
        """Restore a checkpoint's state."""
        self.taken = int(state["taken"])
        for (part, _), kept in zip(self._parts, state["parts"], strict=True):
            part.load_state_dict(kept)
        if "masters" in state:
            with torch.no_grad():
                for master, value in zip(self._masters.values(), state["masters"], strict=True):
                    master.copy_(value)


def _master(parameter: Tensor) -> nn.Parameter:
    return nn.Parameter(parameter.detach().float())


def _is_hidden(name: str, parameter: Tensor) -> bool:
    outer = ("embed_tokens", "lm_head", "embeddings", "wte", "wpe")
    return parameter.dim() == 2 and not any(part in name for part in outer)
