"""The sites, one folder each: schema, content, handlers, page templates and labels.

A site knows no other site, no task and no browser.
"""
