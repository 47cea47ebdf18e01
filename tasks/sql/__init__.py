"""The SQL event: questions and changes over generated databases, and loaders of public sets.

Independent of how agents query a database and of how answers are scored.
"""
