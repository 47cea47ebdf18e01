"""The GUI environment: a device that is seen and touched, and the tools of the agent on it.

Independent of what is expected at the end: answers and expected states never get here.
"""
