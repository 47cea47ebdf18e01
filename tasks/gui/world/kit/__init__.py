"""Widgets: what screens are made of, their layout in pixels, and how they are drawn.

Independent of apps and of the phone: a screen comes in as widgets, and goes out as UI nodes and
paint operations of one layout, so that what is tapped is what is drawn.
"""
