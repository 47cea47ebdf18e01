"""The evaluation harness: plan, run, resume, rescore, verify, compare, report.

It turns a configuration into trial records in a run directory and reads them back. Playing a trial
is left to `rollout`, the format of records to `evaluators.records`.
"""
