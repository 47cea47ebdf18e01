"""One conversation at the service desk in which several matters of a customer interact.

Bookings are final. The policy, the amounts that follow from it, and the desk with its tools.
"""
