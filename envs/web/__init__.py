"""`hexathlon/Web-v0`: pages in a real browser, or in a fast twin without one.

The sites and tasks are those of `hexathlon.tasks.web`; this package browses them.
"""
