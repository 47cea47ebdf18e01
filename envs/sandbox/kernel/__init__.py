"""System calls of the sandboxes; standard library only, and cheap to import.

What is run in a sandbox, and which rung uses a call, is not known here.
"""
