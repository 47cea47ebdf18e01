"""The kinds of role-play tasks: each turns a card into beats, or into a game with a pay-off.

Level, split and seed are chosen by `hexathlon.tasks.roleplay.source`.
"""
