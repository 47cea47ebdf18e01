"""OSWorld's check: its metric functions that need no office formats, on stored results.

The metrics follow OSWorld's published definitions, flaws included, on bytes and texts that the
environment read from the machine. How they were read, and the machine itself, are not known here.
"""
