"""What it is worth: verifiers, trial records, statistics."""
