"""Models as the other speaker of a role-play scene.

Only the wording of scripted lines is a model's; the scene itself is in `envs.roleplay`.
"""
