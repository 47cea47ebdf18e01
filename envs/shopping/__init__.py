"""Shopping event: buy exactly the right item, or serve a customer under a written policy."""
