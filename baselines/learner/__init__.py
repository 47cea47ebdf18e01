"""The learner: token streams in, better parameters out; it knows no algorithm and no environment."""
