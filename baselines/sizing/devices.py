"""Devices: peak figures of GPUs, and the fractions of them that real programs reach."""

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Device", "Efficiency", "device", "device_names"]


class Device(BaseModel):
    """Peak figures of one GPU."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    tflops: float = Field(gt=0)
    """Dense bf16 performance in 10^12 operations per second."""

    bandwidth: float = Field(gt=0)
    """Memory bandwidth in GB/s."""

    memory: float = Field(gt=0)
    """Memory in GiB."""

    link: float = Field(gt=0)
    """Bandwidth to other GPUs of the machine in GB/s, one direction."""


class Efficiency(BaseModel):
    """Achieved fractions of the peak figures; assumptions until measured.

    The defaults are round figures, not measured here; `hexathlon plan --efficiency` replaces them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    learn: float = Field(default=0.35, gt=0, le=1)
    """Model FLOPs utilisation of the learner."""

    prefill: float = Field(default=0.4, gt=0, le=1)
    """FLOPs utilisation during prefill."""

    decode: float = Field(default=0.5, gt=0, le=1)
    """Fraction of the memory bandwidth used while decoding."""

    sync: float = Field(default=0.25, gt=0, le=1)
    """Fraction of the link bandwidth used while weights are sent."""


@cache
def _devices() -> dict[str, Device]:
    text = files("hexathlon.baselines.sizing").joinpath("devices.toml").read_text("utf-8")
    return {key: Device(**row) for key, row in tomllib.loads(text).items()}


def device_names() -> tuple[str, ...]:
    """Return the keys of the known devices."""
    return tuple(_devices())


def device(key: str) -> Device:
    """Return a device by its key, such as `h100`.

    Raises:
        KeyError: If it is unknown.
    """
    return _devices()[key]
