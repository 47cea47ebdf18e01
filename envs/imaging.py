"""Environments that show an image beside the text.

The observation becomes `{"text": …, "image": …}`. The image is a separate key of fixed shape, so
that it can be batched and sent between processes as bytes.
"""

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Message

__all__ = ["ImagingEnvironment"]


class ImagingEnvironment(Environment):
    """An environment whose observation is a dictionary of `text` and `image`.

    Authors set `image_size` and implement `frame`. Takes the arguments of `Environment`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}

    image_size: ClassVar[tuple[int, int]] = (64, 64)
    """Height and width in pixels."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        shape = (*self.image_size, 3)
        self.observation_space = Dict(
            {"image": Box(0, 255, shape, np.uint8), "text": self.observation_space}
        )

    def frame(self) -> NDArray[np.uint8]:
        """Return a fresh image of the world as it stands: uint8, height x width x 3."""
        raise NotImplementedError

    def render(self) -> Any:
        """Return the transcript in `ansi` mode, the image in `rgb_array` mode."""
        return self.frame() if self.render_mode == "rgb_array" else super().render()

    def _as_observation(self, new: list[Message]) -> Any:
        return {"image": self.frame(), "text": super()._as_observation(new)}
