"""The spreadsheet: workbooks, cells with formulas, comments, protections, charts, dashboards.

It knows nothing of tasks; the first row of every sheet holds the names of its columns.
"""
