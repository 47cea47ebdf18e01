"""Codecs translate between the tool-call formats (dialects) of models and canonical actions.

Environments know one form, `{"name": …, "arguments": {…}}`; only the codec knows the format a model
was trained on. Codecs never repair a malformed call: it reaches the environment as prose, and the
environment's message says what is wrong with it.
"""

from hexathlon.baselines.codecs.base import Codec, WireMessage
from hexathlon.baselines.codecs.registry import CODEC_NAMES, get_codec

__all__ = ["CODEC_NAMES", "Codec", "WireMessage", "get_codec"]
