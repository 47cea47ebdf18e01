"""Environments in worker processes, whose crashes and hangs do not affect the others."""

from hexathlon.envs.workers.hosted import HostedEnvironment, HostedState

__all__ = ["HostedEnvironment", "HostedState"]
