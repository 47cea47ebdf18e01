"""Asks models to judge: calls, cache, concurrency, judged records, audits.

What is asked and how answers are read is `hexathlon.evaluators.judges`.
"""
