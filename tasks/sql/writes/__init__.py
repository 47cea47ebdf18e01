"""Write tasks: templates of changes to a database, each derived in SQL and in Python.

Independent of read-only questions and of how an agent's changes are judged.
"""
