"""A browser without a browser: the same sites, pages, numbers and actions, in process.

It has no layout: what needs coordinates or pixels needs Chromium.
"""
