"""Vela, a small language with proposals, minutes and errata: the template `long_language`."""
