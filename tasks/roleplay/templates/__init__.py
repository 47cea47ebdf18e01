"""The kinds of role-play tasks: each turns a card into beats, or into a game with a pay-off.

Which level, split or seed is drawn is not known here.
"""
