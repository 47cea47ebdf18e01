"""A day at the counter: records, policy and memos, the tools over them, and the rulings.

Independent of which customers come and what they ask for.
"""
