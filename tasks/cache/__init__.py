"""A cache on disk of what is expensive to derive: tasks, oracles' actions, databases, fingerprints.

Keys cover the code and data that decide a value, so an entry is never older than its code; each
file carries a digest of its content and is ignored if that does not match.

What is stored is decided by the callers, such as `hexathlon.tasks.stored`; this package knows no
task.
"""
