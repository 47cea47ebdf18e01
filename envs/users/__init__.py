"""The simulated user: a seeded, agenda-driven partner that events with dialogue share.

Which event it speaks in, and what its words are about, is not known here.
"""

from hexathlon.envs.users.agenda import Agenda, Slot
from hexathlon.envs.users.user import Reply, SimulatedUser

__all__ = ["Agenda", "Reply", "SimulatedUser", "Slot"]
