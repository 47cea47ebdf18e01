"""The shopping event: buy exactly the right thing, or serve a customer under a written policy.

Catalogue, store records and policy are `hexathlon.tasks.shopping.world`; the expected order is
never in the environment.
"""
