"""Public role-play sets as task sources; the user brings the data."""
