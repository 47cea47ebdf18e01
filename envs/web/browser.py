"""The browser interface of the environment, implemented by Chromium and by the twin."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from hexathlon.tasks.web.world.network import Network

__all__ = ["Browser", "View"]


class View(NamedTuple):
    """The current screen."""

    tabs: tuple[tuple[str, str], ...]
    """Title and URL of every tab."""

    current: int
    """Position of the current tab."""

    text: str
    """Accessibility tree of the current page, see `hexathlon.envs.web.page.tree`."""

    content: tuple[str, ...] = ()
    """Lines of the text outside headers, footers and navigation."""


class Browser(Protocol):
    """A browser connected to the episode's network."""

    def open(self, network: Network) -> None:
        """Begin an episode: a tab at the network's start page, with its cookies."""
        ...

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out one action; return a remark for the agent, usually empty.

        Raises:
            ActionError: If the action is refused.
        """
        ...

    def view(self) -> View:
        """Return the current screen."""
        ...

    @property
    def blocked(self) -> tuple[str, ...]:
        """Blocked URLs outside the episode."""
        ...

    def save(self) -> Any:
        """Return the state as an immutable value: tabs, cookies, form values."""
        ...

    def load(self, state: Any, network: Network) -> None:
        """Restore a state, together with a network restored to the same moment."""
        ...

    def close(self) -> None:
        """Release the browser's resources."""
        ...
