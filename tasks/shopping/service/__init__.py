"""Customer service as tasks: from a case to records, expected changes and scripts.

The desk, its records and its policy are `hexathlon.tasks.shopping.world.desk`.
"""
