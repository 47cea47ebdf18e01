"""The spreadsheet: workbooks, cells with formulas, comments, protections, charts, dashboards.

The first row of every sheet has the names of its columns. Independent of tasks.
"""
