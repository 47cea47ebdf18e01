"""Question templates of the SQL event: each binds a query program and its wording to a schema."""
