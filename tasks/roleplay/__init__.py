"""The role-play event: characters, scenes and dialogues from generative grammars, and loaders."""
