"""Estates: business questions on databases that companies have accumulated over the years.

The rules are spread over documents, tables and data. `spec` draws the rules of one task, `facts`
the documents of the company and `rows` how its systems store them, `reading` the SQL of any reading
of them, `by_hand` a second derivation, and `papers` what an agent can read.
"""
