"""The role-play event: characters, scenes and dialogues by grammars of our own, and loaders.

Independent of how characters are played and scored.
"""
