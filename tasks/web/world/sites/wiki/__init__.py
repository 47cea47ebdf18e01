"""A wiki of a region: pages with key facts, histories, talk pages, protections and guidelines.

It knows no task; what is to be done on it is drawn elsewhere.
"""
