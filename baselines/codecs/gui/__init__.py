"""Codecs for the action dialects of public GUI models, on a phone and on a desktop.

A model names points in its own coordinate space, such as thousandths of the screen or pixels
of the resized screenshot. Its codec translates actions and points to the tools of the GUI event and
back. The screen size comes from the tools' schemas or, failing that, from the screenshot.

The codecs do not know elements, screens or apps: an action that has no counterpart among the tools
is passed on under its own name, so that the environment's error message says what is available.
"""
