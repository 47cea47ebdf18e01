"""How far a judge can be trusted: agreement, biases, attacks, corrected means."""
