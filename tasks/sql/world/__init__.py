"""The simulated system of the SQL event: worlds, their databases, and the engines that run SQL.

Environments and verifiers share it. What is asked about a database is not known here.
"""
