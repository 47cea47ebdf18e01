"""Registry of codecs by name."""

import difflib

from hexathlon.baselines.codecs.base import Codec
from hexathlon.baselines.codecs.browsergym import BrowserGymCodec
from hexathlon.baselines.codecs.compact import CompactCodec, LinesCodec
from hexathlon.baselines.codecs.gui.android_world import AndroidWorldCodec
from hexathlon.baselines.codecs.gui.qwen import (
    GuiOwl15Codec,
    GuiOwl15ComputerCodec,
    GuiOwlCodec,
    Qwen3VlComputerCodec,
    Qwen3VlMobileCodec,
    Qwen25VlComputerCodec,
    Qwen25VlMobileCodec,
)
from hexathlon.baselines.codecs.gui.ui_tars import UiTars15Codec, UiTarsCodec
from hexathlon.baselines.codecs.hermes import HermesCodec
from hexathlon.baselines.codecs.openai import OpenAICodec
from hexathlon.baselines.codecs.plain import PlainCodec
from hexathlon.baselines.codecs.react import ReActCodec

__all__ = ["CODEC_NAMES", "UnknownCodec", "get_codec"]

_CODECS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        OpenAICodec(),
        HermesCodec(),
        ReActCodec(),
        PlainCodec(),
        CompactCodec(),
        LinesCodec(),
        BrowserGymCodec(),
        AndroidWorldCodec(),
        UiTarsCodec(),
        UiTars15Codec(),
        Qwen25VlMobileCodec(),
        Qwen25VlComputerCodec(),
        Qwen3VlMobileCodec(),
        Qwen3VlComputerCodec(),
        GuiOwlCodec(),
        GuiOwl15Codec(),
        GuiOwl15ComputerCodec(),
    )
}
CODEC_NAMES = tuple(_CODECS)


class UnknownCodec(ValueError):
    """The name of a dialect is unknown."""


def get_codec(name: str) -> Codec:
    """Return the codec of a dialect.

    Raises:
        UnknownCodec: If the name is unknown.
    """
    if name not in _CODECS:
        near = difflib.get_close_matches(name, CODEC_NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise UnknownCodec(f"there is no dialect {name!r}{hint} Known: {', '.join(CODEC_NAMES)}")
    return _CODECS[name]
