"""The phone as a small picture, for policies that see pixels alone.

Each turn shows the list of elements with their bounds, which scripts read, and the picture. What
precedes the list, the request, is separated by a blank line; policies with a picture encoder leave
out the rest of the text.
"""

from typing import Any, ClassVar

from hexathlon.envs.gui.env import GUIEnv

__all__ = ["PixelGuiEnv", "make_vector"]

_SIZE = (135, 165)


class PixelGuiEnv(GUIEnv):
    """A phone of a quarter of the usual width and height, in one look.

    Args:
        **kwargs: As for `GUIEnv`.
    """

    default_taskset: ClassVar[str] = "gui-pixels"

    def __init__(self, **kwargs: Any) -> None:
        small = {"size": _SIZE, "screenshot": True, "bounds": True, "look": "pebble",
                 "large_text": False, "theme": "light"}  # fmt: skip
        super().__init__(**{**small, **kwargs})


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of environments; named by the registered id."""
    from hexathlon.envs.vector import make_vector as make

    return make(PixelGuiEnv, num_envs, **kwargs)
