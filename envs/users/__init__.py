"""Simulated user: a seeded, agenda-driven partner for all events with dialogue."""

from hexathlon.envs.users.agenda import Agenda, Slot
from hexathlon.envs.users.user import Reply, SimulatedUser

__all__ = ["Agenda", "Reply", "SimulatedUser", "Slot"]
