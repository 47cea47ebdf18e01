"""Task sources that read public text-to-SQL sets in their own formats.

Nothing is downloaded, and generated worlds are not known here.
"""
