"""Each door as a client of its real package plays it; see `Door` in `contract.py`."""
