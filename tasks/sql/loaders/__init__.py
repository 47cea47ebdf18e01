"""Task sources that read public text-to-SQL sets in their own formats."""
