"""The simulated system of the SQL event: worlds, their databases, and the engines that run SQL.

Shared by environments and verifiers. Independent of what is asked about a database.
"""
