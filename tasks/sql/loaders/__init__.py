"""Loaders of public text-to-SQL data sets in their own formats."""
