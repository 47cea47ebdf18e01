"""Receives weights over gloo inside vLLM's workers, in vLLM's own Python environment.

`--worker-extension-cls` imports it, which registers the backend `hexathlon_gloo` of vLLM's transfer
API. The sender is `GlooSender` in `hexathlon.baselines.engines.served.senders`.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from vllm.distributed.weight_transfer import WeightTransferEngineFactory
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
)

__all__ = ["Receiver"]


@dataclass
class GlooInit(WeightTransferInitInfo):  # type: ignore[misc]
    """The group to join."""

    master_address: str
    master_port: int
    rank_offset: int
    """Rank of the server's first worker."""

    world_size: int
    deadline: float
    """Seconds that joining and one tensor may take."""


@dataclass
class GlooUpdate(WeightTransferUpdateInfo):  # type: ignore[misc]
    """The tensors that will be broadcast, in their order."""

    names: list[str]
    dtype_names: list[str]
    shapes: list[list[int]]


class GlooReceiver(WeightTransferEngine):  # type: ignore[misc]
    """Receives tensors in the layout of the checkpoint and loads them layer by layer."""

    init_info_cls = GlooInit
    update_info_cls = GlooUpdate
    group: Any = None
    store: Any = None

    def init_transfer_engine(self, init_info: GlooInit) -> None:
        """Join the sender's group, instead of an earlier one."""
        span = timedelta(seconds=init_info.deadline)
        self.shutdown()
        self.store = dist.TCPStore(  # type: ignore[attr-defined]
            init_info.master_address, init_info.master_port, is_master=False, timeout=span
        )
        parallel = self.parallel_config
        worker = parallel.data_parallel_index * parallel.world_size + parallel.rank
        rank = init_info.rank_offset + worker
        self.group = dist.ProcessGroupGloo(self.store, rank, init_info.world_size, span)

    def start_weight_update(self) -> None:
        """Prepare the layers for new weights."""
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """Receive and load all tensors; on a CPU there is no accelerator to wait for."""
        self.receive_weights(self.parse_update_info(update_info))
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()

    def receive_weights(self, update_info: GlooUpdate) -> None:
        """Receive and load one tensor after the other."""
        if self.group is None:
            raise RuntimeError("init_weight_transfer_engine was not called")
        described = zip(update_info.names, update_info.dtype_names, update_info.shapes, strict=True)
        for name, dtype, shape in described:
            tensor = torch.empty(shape, dtype=getattr(torch, dtype))
            self.group.broadcast(tensor, 0).wait()
            self.model.load_weights([(name, tensor.to(self.device))])

    def finish_weight_update(self) -> None:
        """Finish the layers, as after loading a checkpoint."""
        finalize_layerwise_reload(self.model, self.model_config)

    def shutdown(self) -> None:
        """Leave the group."""
        self.group = self.store = None


class Receiver:
    """Added to vLLM's worker class; has no methods, its module registers the backend."""


WeightTransferEngineFactory.register_engine("hexathlon_gloo", GlooReceiver)
