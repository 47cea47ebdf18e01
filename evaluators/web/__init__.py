"""Verifiers of the web event.

They read stored changes, traces and answers; they open no page.
"""
