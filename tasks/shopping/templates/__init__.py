"""Templates of the shopping event: each makes one kind of task from a scene."""
