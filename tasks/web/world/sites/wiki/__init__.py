"""A wiki of a region: pages with key facts, histories, talk pages, protections and guidelines.

Independent of tasks, which are drawn elsewhere.
"""
