"""What an episode on a database is worth: our strict rule, and the public ones by name."""
