"""The editorial system of a small publication: articles, schedule, media, menu and policies.

It knows no task; what is to be done in it is drawn elsewhere.
"""
