"""The role-play event: characters, scenes and dialogues from hexathlon's grammars, and loaders.

Independent of how characters are played and scored.
"""
