"""Checkpoint directories of untrained policies."""

import json
from pathlib import Path

from hexathlon.baselines.agents.checkpoint import SETTINGS
from hexathlon.baselines.warmstart.initial import (
    ModelShape,
    make_model,
    make_tokenizer,
    save_policy,
)

TEXTS = ["Count to 7.", "add\namount: 2", "submit", "The counter stands at 3."] * 20


def untrained_policy(path: Path, context: int = 256) -> Path:
    """Write an untrained policy that uses the compact dialect."""
    shape = ModelShape(width=32, layers=2, heads=2, kv_heads=1, feed_forward=64, context=context)
    tokenizer = make_tokenizer(TEXTS, 300)
    save_policy(path, make_model(shape, len(tokenizer), 0), tokenizer)
    (path / SETTINGS).write_text(json.dumps({"dialect": "compact"}))
    return path
