"""Tasks of the shopping event: the catalogue, purchases, customer service, public formats."""
