"""Optimisers and learning rates."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

__all__ = ["OptimiserConfig", "Optimisers", "learning_rate"]


@dataclass(frozen=True, slots=True)
class OptimiserConfig:
    """How parameters are moved."""

    kind: Literal["adamw", "muon"] = "adamw"
    """`muon` moves the hidden layers' matrices by Muon and the rest by AdamW."""

    learning_rate: float = 1e-4
    """Of AdamW, at its highest."""

    matrix_learning_rate: float = 0.02
    """Of Muon, at its highest."""

    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    weight_decay: float = 0.0
    clip: float = 1.0
    """Largest norm of a step's gradient; 0 sets none."""

    warmup: int = 0
    """Steps over which the learning rate rises."""

    decay: Literal["constant", "linear", "cosine"] = "constant"
    floor: float = 0.0
    """Share of the learning rate that is left at the end of the decay."""


def learning_rate(config: OptimiserConfig, step: int, steps: int) -> float:
    """Return the share of the highest learning rate for a step, counted from 0."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    if config.decay == "constant":
        return 1.0
    gone = min(1.0, (step - config.warmup) / max(1, steps - config.warmup))
    left = 1.0 - gone if config.decay == "linear" else 0.5 * (1.0 + math.cos(math.pi * gone))
    return config.floor + (1.0 - config.floor) * left


class Optimisers:
    """The optimisers of one model behind one step.

    Args:
        model: Whose trainable parameters are moved.
        config: How.
        steps: Length of the schedule.
    """

    def __init__(self, model: nn.Module, config: OptimiserConfig, steps: int) -> None:
        self.config = config
        self.steps = steps
        self.taken = 0
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
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
            )
            self._parts.append((adamw, config.learning_rate))
        if matrices:
            muon = torch.optim.Muon(
                matrices, lr=config.matrix_learning_rate, weight_decay=config.weight_decay
            )
            self._parts.append((muon, config.matrix_learning_rate))

    def parameters(self) -> Iterator[Tensor]:
        """Yield all that is moved."""
        for part, _ in self._parts:
            for group in part.param_groups:
                yield from group["params"]

    def zero(self) -> None:
        """Drop the gradients."""
        for part, _ in self._parts:
            part.zero_grad(set_to_none=True)

    def step(self) -> tuple[float, float]:
        """Clip, move, and return the gradient's norm before clipping and the learning rate."""
        limit = self.config.clip if self.config.clip > 0 else math.inf
        norm = float(nn.utils.clip_grad_norm_(list(self.parameters()), limit))
        share = learning_rate(self.config, self.taken, self.steps)
        for part, highest in self._parts:
            for group in part.param_groups:
                group["lr"] = highest * share
            part.step()
        self.taken += 1
        return norm, self.config.learning_rate * share

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint needs."""
        return {"taken": self.taken, "parts": [part.state_dict() for part, _ in self._parts]}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint's state."""
        self.taken = int(state["taken"])
        for (part, _), kept in zip(self._parts, state["parts"], strict=True):
            part.load_state_dict(kept)


def _is_hidden(name: str, parameter: Tensor) -> bool:
    outer = ("embed_tokens", "lm_head", "embeddings", "wte", "wpe")
    return parameter.dim() == 2 and not any(part in name for part in outer)
