"""Loaders of public GUI benchmarks: AndroidWorld's templates and OSWorld's tasks.

They parse published files, say what each task requires and turn what can be stated as data into
tasks. Nothing that a file says is run here, and no device, desktop or verifier is known.
"""
