"""Models under training: gradients accumulate over requests until a step is asked for."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.bridges.tinker.losses import LOSSES, UnknownLoss
from hexathlon.baselines.bridges.tinker.wire import (
    TrainingRequest,
    WireDatum,
    WireFloats,
    write_outputs,
)
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.learner.adapters import (
    AdapterConfig,
    AdaptersMissing,
    add_adapters,
    merged,
)

__all__ = ["SavedState", "TrainedModel"]

_TOKENS = 16_384
"""Maximum number of tokens per pass, including padding."""


class SavedState(NamedTuple):
    """Weights, and the state of the optimiser."""

    weights: dict[str, Tensor]
    optimiser: dict[str, Any]
    rank: int
    seed: int


class TrainedModel:
    """A copy of the base model with an optimiser of its own.

    Args:
        base: The base model; not changed.
        rank: Rank of low-rank adapters; 0 trains all weights.
        seed: Seed of the adapters.

    Raises:
        BadRequest: If adapters are asked for and peft is not installed.
    """

    def __init__(self, base: Any, rank: int, seed: int) -> None:
        self.rank, self.seed = rank, seed
        self.model = copy.deepcopy(base).train(False)
        if rank:
            try:
                add_adapters(self.model, AdapterConfig(rank, alpha=32), seed)
            except AdaptersMissing as error:
                raise BadRequest(str(error)) from None
        self._parameters = [p for p in self.model.parameters() if p.requires_grad]
        self._optimiser = torch.optim.AdamW(self._parameters, lr=0.0)

    def run(self, request: TrainingRequest) -> bytes:
        """Take a forward and a backward pass; return log-probabilities and losses.

        Raises:
            UnknownLoss: If there is no such loss.
            BadRequest: If an input of the loss is missing.
        """
        if request.loss not in LOSSES:
            known = ", ".join(LOSSES)
            raise UnknownLoss(f"there is no loss {request.loss!r}; known: {known}")
        outputs: dict[int, tuple[WireFloats, WireFloats]] = {}
        total = 0.0
        with torch.set_grad_enabled(request.backward):
            for part in _parts(request.data):
                data = [request.data[number] for number in part]
                for number, values in zip(part, self._scored(data), strict=True):
                    loss = self._loss(request, request.data[number], values)
                    outputs[number] = _numbers(values), _numbers(loss)
                    total += float(loss.detach().sum())
                    if request.backward:
                        loss.sum().backward(retain_graph=number != part[-1])  # type: ignore[no-untyped-call]
        rows = [outputs[number] for number in range(len(request.data))]
        metrics = {"loss:sum": total}
        return write_outputs([row[0] for row in rows], [row[1] for row in rows], metrics)

    def step(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Take an AdamW step with the accumulated gradients, and clear them."""
        for group in self._optimiser.param_groups:
            group["lr"] = float(params.get("learning_rate", 1e-4))
            group["betas"] = (float(params.get("beta1", 0.9)), float(params.get("beta2", 0.95)))
            group["eps"] = float(params.get("eps", 1e-12))
            group["weight_decay"] = float(params.get("weight_decay", 0.0))
        limit = float(params.get("grad_clip_norm") or 0.0)
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, limit if limit > 0 else torch.inf)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return {"grad_norm:mean": float(norm)}

    def save(self) -> SavedState:
        """Return a copy of the weights that are trained, and of the optimiser's state."""
        weights = {
            name: value.detach().clone()
            for name, value in self.model.named_parameters()
            if value.requires_grad
        }
        state = copy.deepcopy(self._optimiser.state_dict())
        return SavedState(weights, state, self.rank, self.seed)

    def load(self, state: SavedState, *, optimiser: bool) -> None:
        """Continue from saved weights."""
        own = dict(self.model.named_parameters())
        with torch.no_grad():
            for name, value in state.weights.items():
                own[name].copy_(value)
        if optimiser:
            self._optimiser.load_state_dict(copy.deepcopy(state.optimiser))

    def plain(self) -> Any:
        """Return a copy of the model with its adapters merged."""
        whole = merged(self.model)
        return copy.deepcopy(whole) if whole is self.model else whole

    def _scored(self, data: Sequence[WireDatum]) -> list[Tensor]:
        """Return the log-probabilities of the targets, `[tokens]` each."""
        width = max(len(datum.ids) for datum in data)
        device = self._parameters[0].device
        ids = torch.tensor([d.ids + [0] * (width - len(d.ids)) for d in data], device=device)
        logits = self.model(input_ids=ids).logits.float()
        rows = []
        for row, datum in zip(logits, data, strict=True):
            targets = torch.tensor(datum.targets, device=device)
            values = row[: len(targets)].log_softmax(-1).gather(-1, targets[:, None])
            rows.append(values[:, 0])
        return rows

    def _loss(self, request: TrainingRequest, datum: WireDatum, values: Tensor) -> Tensor:
        inputs = {name: torch.tensor(row).to(values) for name, row in datum.inputs.items()}
        try:
            return LOSSES[request.loss](values, inputs, request.config)
        except KeyError as error:
            raise BadRequest(f"the loss {request.loss} needs the input {error}") from None


def _numbers(values: Tensor) -> WireFloats:
    numbers: WireFloats = values.detach().float().cpu().numpy()
    return numbers


def _parts(data: Sequence[WireDatum]) -> Iterator[list[int]]:
    """Yield the numbers of data for one pass, similar lengths together."""
    order = sorted(range(len(data)), key=lambda number: len(data[number].ids))
    part: list[int] = []
    for number in order:
        if part and len(data[number].ids) * (len(part) + 1) > _TOKENS:
            yield part
            part = []
        part.append(number)
    if part:
        yield part
