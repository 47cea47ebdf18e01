"""What an agent sees of an episode, in the forms that other tools take it.

`Observed` gives an observation as content of OpenAI messages, as a data URL, or as the blocks of
any protocol; `openai_tools` and `openai_message` are for tools and their calls.
"""

import base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hexathlon.evaluators.content import Image

__all__ = ["Observed", "Opening", "TurnReply", "openai_message", "openai_tools", "png_base64"]

Block = TypeVar("Block")


@dataclass(frozen=True, slots=True)
class Observed:
    """Text, and the screen for events that have one."""

    text: str
    image: Image | None

    @property
    def content(self) -> str | list[dict[str, Any]]:
        """As content of an OpenAI message: text as it is, or text and image parts."""
        if self.image is None:
            return self.text
        return self.blocks(
            lambda text: {"type": "text", "text": text},
            lambda image: {"type": "image_url", "image_url": {"url": image.data_url()}},
        )

    @property
    def image_url(self) -> str:
        """The screen as a data URL; empty if there is none."""
        return "" if self.image is None else self.image.data_url()

    def blocks(self, text: Callable[[str], Block], image: Callable[[Image], Block]) -> list[Block]:
        """Return a protocol's blocks: one of the text and, if there is a screen, one of it."""
        return [text(self.text)] if self.image is None else [text(self.text), image(self.image)]


@dataclass(frozen=True, slots=True)
class Opening(Observed):
    """Everything that an agent receives at the start of an episode, the first observation first."""

    system_prompt: str
    """The environment's own, without a description of the tools."""

    tools: tuple[dict[str, Any], ...]
    """Schemas with `name`, `description` and `parameters`."""

    task_id: str
    """Opaque: it tells the agent nothing about the task."""

    def instructions(self, offered: Collection[str]) -> str:
        """Return the system prompt; it names the usable tools where more are offered.

        Raises:
            ValueError: If a tool of the task is not offered.
        """
        names = [tool["name"] for tool in self.tools]
        if missing := set(names) - set(offered):
            raise ValueError(f"the task has tools that were not offered: {sorted(missing)}")
        if len(names) == len(offered):
            return self.system_prompt
        return f"{self.system_prompt}\n\nTools: {', '.join(names)}."


@dataclass(frozen=True, slots=True)
class TurnReply(Observed):
    """The environment's answer to one turn."""

    reward: float
    """The verdict's score at the end of the episode, else 0."""

    done: bool
    info: dict[str, Any]
    """As returned by `step`: `status`, `reward_terms`, `turn`, `tool_errors`, `cut_chars`."""

    @property
    def verdict(self) -> float | None:
        """The reward of an ended episode, else None."""
        return self.reward if self.done else None


def png_base64(image: Image) -> str:
    """Return an image as a PNG file in base64."""
    return base64.b64encode(image.png()).decode()


def openai_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tool schemas in the form of OpenAI chat completions."""
    return [{"type": "function", "function": dict(tool)} for tool in tools]


def openai_message(text: str, calls: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Return an assistant message in OpenAI's form.

    Args:
        text: Its text.
        calls: Id, name and JSON arguments of each tool call.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text}
    rows = [
        {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, name, arguments in calls
    ]
    return {**message, "tool_calls": rows} if rows else message
