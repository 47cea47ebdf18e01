"""Write tasks: templates of changes to a database, each derived in SQL and in Python.

How questions that only read are made, and how an agent's changes are judged, is not known here.
"""
