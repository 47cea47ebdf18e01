"""The templates of generated terminal tasks, by subject."""
