"""The SQL event: questions about databases, and changes to them.

Engines and their locks are in `hexathlon.tasks.sql.world`, scoring in `hexathlon.evaluators.sql`.
"""
