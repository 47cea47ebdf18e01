"""The editorial system of a small publication: articles, schedule, media, menu and policies.

Independent of tasks, which are drawn elsewhere.
"""
