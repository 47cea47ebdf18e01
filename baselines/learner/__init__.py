"""The learner: token streams in, better parameters out, and no algorithm or environment known."""
