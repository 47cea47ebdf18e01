"""The plug-in of verifiers that the tests load, as a user's own file would be."""

from hexathlon.baselines.bridges.verifiers_env import ChatHarness, PlayedEnv
from hexathlon.baselines.bridges.verifiers_taskset import EventTaskset

__all__ = ["ChatHarness", "EventTaskset", "PlayedEnv"]
