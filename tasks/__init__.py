"""Task records, generators, splits, oracles and loaders of public formats."""
