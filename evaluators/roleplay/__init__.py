"""Verifiers of the role-play event: typed acts, prose, secrets, style and goals, by rule.

No model is involved; free text that only a judge can score is left to `hexathlon.evaluators.judges`.
"""
