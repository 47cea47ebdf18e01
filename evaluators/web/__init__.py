"""Verifiers of the web event.

They read stored changes, traces and answers, and never open a page.
"""
