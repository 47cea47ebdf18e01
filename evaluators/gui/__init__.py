"""Verifiers of the GUI event: rows and files as requested, everything else unchanged.

Independent of the device: what changed and what was reported come in as JSON.
"""
