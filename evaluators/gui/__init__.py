"""Verifiers of the GUI event: rows and files as they should be, nothing else touched.

Independent of the device: what changed and what was reported come in as JSON.
"""
