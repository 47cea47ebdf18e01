"""Loaders of public web benchmarks, whose sites are the user's own copies, named by URL.

They parse published files into tasks. Knows neither browsers nor verifiers, and runs nothing that a
file says.
"""
