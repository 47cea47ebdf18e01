"""Loaders of public GUI benchmarks: AndroidWorld's templates and OSWorld's tasks.

They parse published files, state what each task requires and turn what can be stated as data into
tasks. They execute nothing in those files and are independent of devices, desktops and verifiers.
"""
