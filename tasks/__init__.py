"""What is asked: task records, generators, splits, oracles, loaders of public formats."""
