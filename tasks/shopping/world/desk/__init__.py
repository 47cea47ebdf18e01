"""The service desk: customers and orders, the tools over them, and the written policy.

Which request a customer brings is not known here.
"""
