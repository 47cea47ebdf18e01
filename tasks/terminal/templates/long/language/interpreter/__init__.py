"""The interpreter's sources.

Lines between `#@ CONDITION` and `#@ end`, possibly with `#@ or CONDITION` and `#@ else`, belong
only to releases whose rules fulfil the condition; `release.rendered` resolves these directives.
"""
