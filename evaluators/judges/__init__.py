"""Grading of free text: rubrics, aggregation, prompts, parsing, and the audit of judges.

All functions here are pure. Calling models, caching and writing files are left to
`hexathlon.baselines.judging`.
"""
