"""The basis of apps: the phone's state, what screens read, what handlers may do, people's names.

Independent of individual apps and of how the screen is shown and touched.
"""
