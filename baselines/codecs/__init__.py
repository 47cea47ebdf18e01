"""The dialects in which models write tool calls, translated to the one canonical action and back.

Environments know a single form, `{"name": …, "arguments": {…}}`. What a model was trained to emit
is a matter between it and its codec. A call that is not well formed is never repaired here: it
goes to the environment as the prose that it is, and the environment's own message says what was
wrong with it.
"""

from hexathlon.baselines.codecs.base import Codec, Wire
from hexathlon.baselines.codecs.registry import CODEC_NAMES, get_codec

__all__ = ["CODEC_NAMES", "Codec", "Wire", "get_codec"]
