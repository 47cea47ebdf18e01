"""A forum: boards, threads, votes, private messages, reports and a moderators' handbook.

It knows no task; what is to be done on it is drawn elsewhere.
"""
