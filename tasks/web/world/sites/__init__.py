"""The sites, one folder each: schema, content, handlers, page templates and labels.

Sites are independent of each other, of tasks and of browsers.
"""
