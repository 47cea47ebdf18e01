"""Public role-play sets as task sources; the user brings the data.

Nothing is downloaded. Independent of the generated tasks.
"""
