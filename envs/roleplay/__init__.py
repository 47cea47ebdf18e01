"""The role-play event: one character, one other speaker, and typed acts alongside the prose.

Scoring is in `hexathlon.evaluators.roleplay`; the words of the other speaker come
from the task.
"""
