"""Model judges: requests, cache, concurrency, judged records, and audits.

Prompts and the parsing of replies are in `hexathlon.evaluators.judges`.
"""
