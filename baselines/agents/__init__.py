"""Agents: anything that maps the messages of an episode to the next message.

Scripted agents, agents that ask a language model, and policies that sample tokens, each with a
player per trial. Agents know neither budgets nor records; these belong to `rollout`.
"""
