"""Loaders of public web benchmarks, whose sites are the user's own copies, named by URL.

They parse published files into tasks and execute nothing in them. Independent of browsers and
verifiers.
"""
