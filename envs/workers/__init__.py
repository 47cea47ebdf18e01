"""Environments hosted in worker processes that may crash or hang without harm to the rest.

Which environment is hosted is not known here, nor how many are stepped together: that is
`hexathlon.envs.vector`.
"""

from hexathlon.envs.workers.hosted import HostedEnvironment, HostedState

__all__ = ["HostedEnvironment", "HostedState"]
