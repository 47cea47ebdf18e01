"""Public role-play sets as task sources; the user brings the data.

Nothing is downloaded, and the generated tasks are not known here.
"""
