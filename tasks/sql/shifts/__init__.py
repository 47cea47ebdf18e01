"""Shifts: a day as the analyst of one database, ticket by ticket.

A day is drawn in `day`, from the tables of `ground`, the metric of `metric`, and kinds of tickets.
"""
