"""Templates of generated terminal tasks, by subject."""
