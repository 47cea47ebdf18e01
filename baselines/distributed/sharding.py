"""Sharded training with FSDP2: every rank holds its part of parameters, gradients and optimisers.

A layer's parameters are gathered for its forward and backward pass, and its gradients are summed
into the ranks' parts as soon as they are available. Training weights are float32, whatever the
precision of the policy and of the computation. States are written with torch's distributed
checkpoints, which any number of ranks reads.
"""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from hexathlon.baselines.distributed.transports import probe_of
from hexathlon.baselines.learner.ranks import Ranks
from hexathlon.baselines.learner.scoring import score

__all__ = ["CheckpointFailed", "Sharded"]

T = TypeVar("T")

_SHARDS = "shards"
"""Directory of the distributed checkpoint within a state."""

_ROUNDING = 0.3
"""Largest difference of a log-probability between learner and policy in bfloat16."""


class Sharded:
    """The state of training in parts, one on each rank; a `Parallelism`.

    With one rank, nothing is exchanged, but several ranks can read its states.

    Args:
        ranks: The ranks of torch's process group, which must exist if there are several.
        precision: Of the computation and of gathered parameters.
        reshard: Whether gathered parameters are freed between a layer's forward and backward pass.
        keeps: Whether this rank keeps the whole policy, from which its engine samples.
    """

    sharded = True

    def __init__(
        self,
        ranks: Ranks,
        *,
        precision: Literal["float32", "bfloat16"] = "float32",
        reshard: bool = True,
        keeps: bool = True,
    ) -> None:
        self._ranks = ranks
        self._precision = precision
        self._reshard = reshard
        self._keeps = keeps

    def placed(self, model: Any, *, whole: bool = True) -> Any:
        """Return a copy of the model in float32 with this rank's part of every parameter.

        The parameters of the given model are freed unless this rank needs it as a whole.
        """
        made = _without_values(model)
        if self._ranks.count > 1:
            self._shard(made, model.get_input_embeddings().weight.device)
        _fill(made, model)
        if not (whole and self._keeps):
            model.to("meta")
        return made

    def _shard(self, model: Any, device: torch.device) -> None:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import (
            FSDPModule,
            MixedPrecisionPolicy,
            fully_shard,
            register_fsdp_forward_method,
        )

        mesh = init_device_mesh(device.type, (self._ranks.count,))
        lower = torch.bfloat16 if self._precision == "bfloat16" else None
        policy = MixedPrecisionPolicy(
            param_dtype=lower, reduce_dtype=torch.float32, cast_forward_inputs=False
        )
        for block in _blocks(model):
            fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=self._reshard)
        # Embeddings, last norm and head stay gathered, since the head follows the layers at once.
        fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=False)
        for module in model.modules():
            if isinstance(module, FSDPModule):
                # Sums, not means: denominators are counted over all ranks before the loss.
                module.set_gradient_divide_factor(1.0)
                module.set_force_sum_reduction_for_comms(True)
        model.evaluate_function = MethodType(_evaluate, model)
        register_fsdp_forward_method(model, "evaluate_function")

    def evaluate(self, model: Any, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call the function on all ranks, which gather parameters for each other."""
        if self._ranks.count == 1:
            return function(model, *args, **kwargs)
        result: T = model.evaluate_function(function, *args, **kwargs)
        if not torch.is_grad_enabled():
            # The parameters gathered last stay gathered, for a backward pass that does not follow.
            for module in model.modules():
                if hasattr(module, "reshard"):
                    module.reshard()
        return result

    def passes(self, count: int) -> int:
        """Return the largest number of any rank."""
        return int(self._ranks.gathered(torch.tensor([count])).max())

    def reduce(self, parameters: Sequence[Tensor]) -> None:
        """Do nothing: the backward pass has summed them."""

    def all_finite(self, gradients: Sequence[Tensor]) -> bool:
        """Return whether the parts of all ranks are finite."""
        bad = sum(not bool(torch.isfinite(_local(gradient)).all()) for gradient in gradients)
        return self._ranks.summed(torch.tensor([float(bad)], dtype=torch.float64)) == [0.0]

    @torch.no_grad()
    def gather(self, placed: Any, model: Any) -> None:
        """Copy the trained parameters to the policy, and verify that it scores as the learner does.

        Raises:
            WeightsDiffer: If their log-probabilities differ by more than rounding explains.
        """
        own = dict(model.named_parameters())
        for name, parameter in placed.named_parameters():
            if parameter.requires_grad:
                whole = _whole(parameter)
                if self._keeps:
                    own[name].copy_(whole)
        self._verify(placed, model)

    def _verify(self, placed: Any, model: Any) -> None:
        probe = probe_of(placed, tolerance=_ROUNDING if self._precision == "bfloat16" else 0.0)
        device = model.get_input_embeddings().weight.device if self._keeps else _device(placed)
        ids = torch.tensor([probe.ids], device=device)
        training = placed.training
        placed.eval()
        lower = self._precision == "bfloat16"
        with torch.autocast(device.type, torch.bfloat16, enabled=lower):
            scores = self.evaluate(placed, score, ids, torch.ones_like(ids[:, 1:]))
        placed.train(training)
        if self._keeps:
            expected = probe_of(model, tolerance=probe.tolerance)
            expected.difference(probe.ids, scores.log_probabilities[0].tolist())

    def save(self, folder: Path, placed: Any, optimisers: Any) -> None:
        """Write every rank's parts into a distributed checkpoint."""
        from torch.distributed.checkpoint.state_dict_saver import save

        state, alone = _state(placed, optimisers), self._ranks.count == 1
        with _named_failures():
            save(state, checkpoint_id=str(folder / _SHARDS), no_dist=alone)

    def load(self, folder: Path, placed: Any, optimisers: Any) -> None:
        """Read this rank's parts of a distributed checkpoint, however many ranks wrote it."""
        from torch.distributed.checkpoint.state_dict import set_state_dict
        from torch.distributed.checkpoint.state_dict_loader import load

        state, alone = _state(placed, optimisers), self._ranks.count == 1
        with _named_failures():
            load(state, checkpoint_id=str(folder / _SHARDS), no_dist=alone)
        set_state_dict(
            placed,
            optimisers.parts,
            model_state_dict=state["model"],
            optim_state_dict=state["optimisers"],
        )
        optimisers.taken = int(state["taken"])


class CheckpointFailed(OSError):
    """A distributed checkpoint cannot be written or read."""


@contextmanager
def _named_failures() -> Iterator[None]:
    """Raise the first rank's failure as an error that can be caught."""
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.distributed is disabled")  # with one rank
            yield
    except CheckpointException as error:
        number, (cause, _) = min(error.failures.items())
        raise CheckpointFailed(f"rank {number}: {type(cause).__name__}: {cause}") from error


def _evaluate(model: Any, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    return function(model, *args, **kwargs)


def _without_values(model: Any) -> Any:
    """Return a copy of a model whose parameters are float32 and have no values yet."""
    known: dict[int, Any] = {}
    for parameter in model.parameters():
        floating = parameter.dtype.is_floating_point
        empty = torch.empty(
            parameter.shape, dtype=torch.float32 if floating else parameter.dtype, device="meta"
        )
        known[id(parameter)] = nn.Parameter(empty, requires_grad=parameter.requires_grad)
    return copy.deepcopy(model, known)


def _fill(made: Any, model: Any) -> None:
    """Copy the values of a model's parameters; of sharded ones, this rank's part."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    values = dict(model.named_parameters(remove_duplicate=False))
    filled: dict[int, nn.Parameter] = {}
    state = {}
    for name, empty in made.named_parameters(remove_duplicate=False):
        if id(empty) not in filled:
            value = values[name].detach().to(empty.dtype, copy=True)
            if isinstance(empty, DTensor):
                # Every rank has all values, so none has to send them.
                value = distribute_tensor(
                    value, empty.device_mesh, empty.placements, src_data_rank=None
                )
            filled[id(empty)] = nn.Parameter(value, requires_grad=empty.requires_grad)
        state[name] = filled[id(empty)]
    made.load_state_dict(state, strict=False, assign=True)


def _blocks(model: Any) -> Iterator[nn.Module]:
    """Yield the modules whose parameters are gathered together: the layers."""
    names = set(getattr(model, "_no_split_modules", None) or ())
    for module in model.modules():
        if type(module).__name__ in names:
            yield module


def _state(placed: Any, optimisers: Any) -> dict[str, Any]:
    from torch.distributed.checkpoint.state_dict import get_state_dict

    parameters, states = get_state_dict(placed, optimisers.parts)
    return {"model": parameters, "optimisers": states, "taken": optimisers.taken}


def _local(value: Any) -> Tensor:
    """Return this rank's part of a tensor."""
    local: Tensor = value.to_local() if hasattr(value, "to_local") else value
    return local


def _whole(value: Any) -> Tensor:
    """Return a tensor gathered from all ranks, all of which must call this."""
    whole: Tensor = value.full_tensor() if hasattr(value, "full_tensor") else value
    return whole


def _device(placed: Any) -> torch.device:
    device: torch.device = next(placed.parameters()).device
    return device
