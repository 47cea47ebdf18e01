"""An in-process stand-in for the browser: the same sites, pages, numbers and actions.

It has no layout: anything that needs coordinates or pixels needs Chromium.
"""
