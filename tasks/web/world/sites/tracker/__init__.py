"""The issue tracker: projects, issues, boards, milestones and comments.

It knows no task; what is to be done on it is drawn elsewhere.
"""
