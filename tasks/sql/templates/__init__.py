"""Question templates of the SQL event: each binds a query program to a schema, with words for both.

`hexathlon.tasks.sql.screening` decides which questions are kept.
"""
