"""Environments hosted in worker processes that may crash or hang without harm to the rest.

Independent of the environment that is hosted; `hexathlon.envs.vector` steps many of them together.
"""

from hexathlon.envs.workers.hosted import HostedEnvironment, HostedState

__all__ = ["HostedEnvironment", "HostedState"]
