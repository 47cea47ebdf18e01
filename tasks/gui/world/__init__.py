"""The simulated phone: widgets, system, apps and their content.

Independent of tasks: nothing here knows what an agent is asked to do, or what would be right.
"""
