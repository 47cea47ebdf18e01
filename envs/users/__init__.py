"""The simulated user: a seeded, agenda-driven partner that events with dialogue share.

Independent of the event and of its subject.
"""

from hexathlon.envs.users.agenda import Agenda, Slot
from hexathlon.envs.users.user import Reply, SimulatedUser

__all__ = ["Agenda", "Reply", "SimulatedUser", "Slot"]
