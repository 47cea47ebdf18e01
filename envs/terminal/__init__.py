"""Terminal event: a shell in a sandbox, and a grader out of its reach."""
