"""Spaces and observations in the formats of an environment: text, messages, text with an image."""

from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict

from hexathlon.envs.messages import Message, cut_middle, with_image
from hexathlon.envs.spaces import MAX_TEXT, Unicode, message_space, messages_space
from hexathlon.evaluators.content import Image, joined, text_of

__all__ = ["ActionFormat", "checked_image", "show_image", "spaces_of", "text_observation"]

ActionFormat = Literal["text", "message"]


def spaces_of(
    action_format: ActionFormat, image_size: tuple[int, int] | None, examples: Sequence[str]
) -> tuple[gymnasium.Space[Any], gymnasium.Space[Any]]:
    """Return the action space and the observation space of a format.

    Args:
        action_format: Of actions and observations.
        image_size: Height and width of the image after each turn; None if there are no images.
        examples: Actions for samples of the action space.
    """
    if action_format == "message":
        return message_space(examples), messages_space()
    if image_size is None:
        return Unicode(examples=examples), Unicode()
    image = Box(0, 255, (*image_size, 3), np.uint8)
    return Unicode(examples=examples), Dict({"image": image, "text": Unicode()})


def text_observation(new: Sequence[Message]) -> str:
    """Return the text of new messages, without images and files, at most `MAX_TEXT` characters."""
    content = new[0]["content"] if len(new) == 1 else joined(m["content"] for m in new)
    text = content if isinstance(content, str) else text_of(content)
    return text if len(text) <= MAX_TEXT else cut_middle(text, MAX_TEXT)[0]


def checked_image(frame: Any, image_size: tuple[int, int] | None) -> Image:
    """Convert the result of `Environment.frame` to an image.

    Raises:
        ValueError: If its size is not `image_size`.
    """
    image = frame if isinstance(frame, Image) else Image.from_array(frame)
    if (image.height, image.width) != image_size:
        raise ValueError(
            f"frame() has height x width {image.height} x {image.width}, image_size is {image_size}"
        )
    return image


def show_image(messages: Sequence[Message], image: Image) -> None:
    """Append the image after a turn to the last message."""
    messages[-1]["content"] = with_image(messages[-1]["content"], image)
