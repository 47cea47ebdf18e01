"""Question templates of the SQL event: each binds a query program to a schema and words to both.

Which questions are kept is not known here; that is `hexathlon.tasks.sql.screening`.
"""
