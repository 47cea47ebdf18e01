"""Models as the other speaker of a role-play scene.

A model only rewords scripted lines; the scene itself is in `envs.roleplay`.
"""
