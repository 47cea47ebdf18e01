"""Wrappers for text environments; each can be forked, recorded in a spec, and awaited.

No wrapper knows a family, a task or an agent.
"""

from hexathlon.envs.wrappers.chat_history import ChatHistory
from hexathlon.envs.wrappers.episode_recorder import EpisodeRecorder
from hexathlon.envs.wrappers.reward_terms import RewardTerms
from hexathlon.envs.wrappers.step_timeout import StepTimeout
from hexathlon.envs.wrappers.token_budget import TokenBudget, register_counter

__all__ = [
    "ChatHistory",
    "EpisodeRecorder",
    "RewardTerms",
    "StepTimeout",
    "TokenBudget",
    "register_counter",
]
