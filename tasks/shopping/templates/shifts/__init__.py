"""Shifts: days at the counter with several customers whose cases depend on each other.

A day is composed case by case on a counter without defects, which gives the reference. The counter
itself, with its policy and its tools, is `hexathlon.tasks.shopping.world.shift`.
"""
