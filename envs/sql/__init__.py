"""SQL event: questions about databases, and changes to them."""
