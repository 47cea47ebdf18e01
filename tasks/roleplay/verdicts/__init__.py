"""Verdicts on role-play replies: replies with known faults, statements about them, tasks of judges.

It knows nothing of judges' prompts or of how their answers are read; that is in `evaluators`.
"""
