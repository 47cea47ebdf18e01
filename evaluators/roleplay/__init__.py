"""Verifiers of the role-play event: typed acts, prose, secrets, style and goals, by rule.

No model is asked here; free text that only a judge can score is `hexathlon.evaluators.judges`.
"""
