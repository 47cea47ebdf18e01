"""Task sources that read public text-to-SQL sets in their own formats.

Nothing is downloaded. Independent of the generated worlds.
"""
