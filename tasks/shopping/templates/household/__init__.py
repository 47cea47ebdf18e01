"""Baskets and months of a household: requests whose right answer is one cheapest order.

A month is composed request by request on the household itself, which gives the reference. Every
twist of a request has a near miss: the order of somebody who overlooks it.
"""
