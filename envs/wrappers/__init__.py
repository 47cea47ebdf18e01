"""Wrappers for text environments; each can be forked, recorded in a spec, and awaited."""
