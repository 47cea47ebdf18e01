"""The apps of the phone, one package each: content, screens and what their buttons do.

Independent of tasks; apps meet only through intents and by reading each other's tables.
"""
