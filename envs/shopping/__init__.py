"""The shopping event: buy exactly the right thing, or serve a customer under a written policy."""
