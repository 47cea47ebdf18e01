"""Checkpoint directories as models.

The in-process engine belongs to the trainer. Until an installation has one, asking for a
checkpoint says so plainly instead of failing somewhere deeper.
"""

from pathlib import Path

from hexathlon.baselines.engines.base import Engine
from hexathlon.baselines.engines.errors import EngineMissing

__all__ = ["open_checkpoint"]


def open_checkpoint(path: Path) -> Engine:
    """Return an engine for a checkpoint directory.

    Raises:
        EngineMissing: Always, in this version.
    """
    raise EngineMissing(
        f"{path} is a checkpoint directory, but this version of hexathlon has no in-process "
        "engine. Serve it with any OpenAI-compatible server, for example `vllm serve "
        f"{path}`, and use endpoint:http://localhost:8000/v1#{path}"
    )
