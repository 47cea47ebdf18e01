"""Verifiers of the SQL event: the strict rule, and the public ones by name.

Submitted statements are run again on pristine databases.
"""
