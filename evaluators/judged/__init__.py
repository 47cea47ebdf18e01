"""Judged scores beside a run's records: the files, and a summary of each.

No judge is asked here and no model is known; `hexathlon.baselines.judging` writes these files.
"""
