"""The simulated phone: widgets, system, apps and their content.

Independent of tasks: nothing here depends on what an agent is asked to do, or on what would be
correct.
"""
