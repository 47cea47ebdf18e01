"""Verifiers of the SQL event: our strict rule, and the public ones by name.

How a statement was found is not known here; it is run again on pristine databases.
"""
