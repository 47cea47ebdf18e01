"""A cache on disk of what is expensive to derive: built tasks, the oracle's actions, fingerprints.

Keys cover the code and data that decide a value, so an entry is never older than its code; each
file carries a digest of its content and is ignored if that does not match. Values are JSON.

What is stored where is decided by the callers. The package knows no event and stores nothing of a
held-out split.
"""
