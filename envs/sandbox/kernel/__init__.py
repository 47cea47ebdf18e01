"""System calls of the sandboxes; standard library only, and cheap to import.

Independent of the backends that use them and of the commands that are run.
"""
