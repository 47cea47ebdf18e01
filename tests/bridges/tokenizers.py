"""A tokenizer that is made in a moment and decodes every text as it was."""

import functools
from typing import Any

from hexathlon.baselines.warmstart.initial import make_tokenizer

_TEXTS = ["Count to 7.", "add\namount: 2", "submit", '{"name": "run_query", "arguments": {}}'] * 20


@functools.cache
def tiny_tokenizer() -> Any:
    """Return a byte-level tokenizer of 300 tokens with a chat template."""
    return make_tokenizer(_TEXTS, 300)
