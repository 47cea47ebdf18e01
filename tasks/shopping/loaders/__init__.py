"""Loaders of public shopping benchmarks; the user brings the data.

Nothing is downloaded, and the generated catalogue is not known here.
"""
