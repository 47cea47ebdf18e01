"""Grading of free text: rubrics, aggregation, prompts, parsing, and the audit of judges.

Everything here is pure. Calling models, caching and writing files is `hexathlon.baselines.judging`.
"""
