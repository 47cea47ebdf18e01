"""Tasks and scripts in the cache on disk: which sources are cached, built tasks, oracles' actions.

Files, keys and limits are the business of `hexathlon.tasks.cache`. Nothing of a held-out split is
stored.
"""
