"""The issue tracker: projects, issues, boards, milestones and comments.

Independent of tasks, which are drawn elsewhere.
"""
