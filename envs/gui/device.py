"""The device of an episode: the interface of a phone or a desktop to the environment."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hexathlon.tasks.gui.elements import UIElement
from hexathlon.tasks.task import Task

__all__ = ["GuiDevice"]


class GuiDevice(Protocol):
    """A device that one episode uses."""

    size: tuple[int, int]
    """Width and height of the screen in pixels."""

    blocked: tuple[str, ...]
    """Actions refused because they would have left the task's scope, for the verdict."""

    def open(self, task: Task, rng: np.random.Generator) -> None:
        """Build the world of a task and show its first screen.

        Raises:
            EnvFault: If the device cannot be started.
        """
        ...

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Perform an action and return a remark for the agent, empty if there is none.

        Raises:
            DeviceRefusal: If the action is not possible.
        """
        ...

    def elements(self) -> Sequence[UIElement]:
        """Return the elements of the screen; `index` counts from 0."""
        ...

    def caption(self) -> str:
        """Return a description of the screen in addition to its elements; may be empty."""
        ...

    def pixels(self) -> NDArray[np.uint8]:
        """Return the screen, of shape (height, width, 3)."""
        ...

    def intervene(self, change: Mapping[str, Any]) -> None:
        """Apply what other people change before the next request of a shift."""
        ...

    def final_state(self) -> dict[str, Any]:
        """Return `changes`, the rows and files that differ from the start, as JSON."""
        ...

    def save(self) -> Any:
        """Return the state, detached from the device."""
        ...

    def load(self, payload: Any) -> None:
        """Continue from a saved state of the same task; `open` was not called before."""
        ...

    def close(self) -> None:
        """Release the device."""
        ...
