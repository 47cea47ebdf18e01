"""Estates: business questions on a company's grown database, whose rules are spread over it.

`spec` draws the facts and rules of one task, `rows` the rows, `reading` the SQL of any reading of
them, `by_hand` a second derivation, and `papers` the documents.
"""
