"""Vector environments: many environments stepped in completion order or in lock-step.

Nothing here knows a family or a task; environments are stepped through gymnasium's interface and
the hooks of `hexathlon.envs.base`.
"""

from hexathlon.envs.vector.batching import OnFault, VectorFault
from hexathlon.envs.vector.environment import VectorEnvironment, make_vector, vectorised
from hexathlon.envs.vector.lanes import Arrival

__all__ = ["Arrival", "OnFault", "VectorEnvironment", "VectorFault", "make_vector", "vectorised"]
