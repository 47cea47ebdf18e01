"""The SQL event: worlds of generated databases, query programs and loaders of public data sets."""
