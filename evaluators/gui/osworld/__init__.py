"""OSWorld's check: those of its metric functions that need no office formats, on stored results.

The metrics follow OSWorld's published definitions, flaws included, on bytes and texts that the
environment read from the machine. Independent of the machine and of how they were read.
"""
