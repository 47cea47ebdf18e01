"""What apps stand on: the phone's state, what screens read, what handlers may do, people's names.

Independent of single apps and of how the screen is shown and touched.
"""
