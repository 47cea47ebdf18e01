"""Audits of judges: agreement, biases, attacks, corrected means.

Pure functions of labels and verdicts; no judge is called here.
"""
