"""The SQL event: questions about databases, and changes to them.

Engines and their locks are `hexathlon.tasks.sql.world`; which answer is right is not known here.
"""
