"""A forum: boards, threads, votes, private messages, reports and a moderators' handbook.

Independent of tasks, which are drawn elsewhere.
"""
