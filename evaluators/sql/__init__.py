"""Verifiers of the SQL event: our strict rule, and the public ones by name."""
