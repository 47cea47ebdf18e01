"""The evaluation harness: plan, run, resume, rescore, verify, compare, report.

It turns a configuration into trial records in a run folder and reads them back. How one trial is
played is left to `rollout`, the format of records to `evaluators.records`.
"""
