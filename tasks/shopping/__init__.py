"""The shopping event: the catalogue, purchases, customer service and public formats."""
