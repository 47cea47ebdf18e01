"""The service desk: customers and orders, the tools over them, and the written policy.

Independent of the request that a customer brings.
"""
