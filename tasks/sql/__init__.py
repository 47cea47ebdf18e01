"""The SQL event: questions and changes over generated databases, and loaders of public sets.

How an agent queries a database, and how its answer is scored, is not known here.
"""
