"""Loaders of public shopping benchmarks; the user brings the data."""
