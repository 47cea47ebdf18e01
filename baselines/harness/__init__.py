"""The evaluation harness: plan, run, resume, rescore, verify, compare, report."""
