"""Loaders of public role-play data sets as task sources; the user provides the data."""
