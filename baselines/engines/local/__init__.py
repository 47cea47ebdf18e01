"""The torch engine: a checkpoint in this process, with continuous batching."""
