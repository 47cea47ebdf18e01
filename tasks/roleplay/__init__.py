"""The role-play event: characters, scenes and dialogues by grammars of our own, and loaders.

How a character is played and scored is not known here.
"""
