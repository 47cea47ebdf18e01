"""Environments hosted in worker processes that may crash or hang without harm to the rest."""

from hexathlon.envs.workers.hosted import HostedEnvironment, HostedState

__all__ = ["HostedEnvironment", "HostedState"]
