"""Shifts: days at the counter with several customers whose cases depend on each other."""
