"""Loaders of public shopping benchmarks; the user provides the data."""
