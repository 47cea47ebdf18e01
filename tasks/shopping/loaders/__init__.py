"""Loaders of public shopping benchmarks; the user brings the data.

Nothing is downloaded. Independent of the generated catalogue.
"""
