"""Training: the loop from a checkpoint and an event to a better checkpoint, a curve and records."""
