"""Widgets: what screens are made of, their layout in pixels, and how they are drawn.

Independent of apps and of the phone: the input is a screen's widgets, the output its UI nodes and
paint operations of one layout, so that what is tapped is what is drawn.
"""
