"""Publication: submissions, a board with its ledger, and a static site built from records alone.

No trial is played here. A score is read from records or computed from them, never from a page.
"""
