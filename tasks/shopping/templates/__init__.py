"""Templates of the shopping event: each generates one kind of task from a scene."""
