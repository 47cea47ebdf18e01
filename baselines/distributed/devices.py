"""Devices of ranks: which GPU a rank uses, and over which backend ranks exchange tensors."""

__all__ = ["GLOO", "NCCL", "backend_with", "use_device"]

GLOO = "gloo"
NCCL = "cpu:gloo,cuda:nccl"
"""NCCL for tensors on GPUs, gloo for those in main memory."""


def use_device(number: int, count: int) -> str:
    """Choose the device of one of several ranks on this machine and return their backend.

    With a GPU for each, rank N uses GPU N and NCCL. Otherwise all ranks use the first GPU, or none,
    and gloo: NCCL does not let ranks share a GPU.

    Args:
        number: Number of the rank.
        count: Number of ranks on this machine.
    """
    import torch

    if torch.cuda.device_count() < count:
        return GLOO
    torch.cuda.set_device(number)
    return NCCL


def backend_with(gpus: float) -> str:
    """Return the backend for ranks with this many GPUs each."""
    return NCCL if gpus >= 1 else GLOO
