"""Verifiers of the role-play event: typed acts, prose, secrets, style and goals, by rule.

No model is involved; free text that needs a judge is left to `hexathlon.evaluators.judges`.
"""
