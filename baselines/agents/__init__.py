"""Agents: anything that maps the messages of an episode to the next message.

There are scripted agents, agents that use a chat model, and policies that sample tokens, each with
one player per trial. Agents know neither budgets nor records, which belong to `rollout`.
"""
