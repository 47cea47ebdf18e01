"""What the world sees: a static site built from records alone."""
