"""`hexathlon/RolePlay-v1`: play a character, in prose and in typed acts.

The environment passes acts to the task's scene. Correct answers are in the task's checks, which
no scene reads.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from hexathlon.envs.base import Environment
from hexathlon.envs.roleplay.conversation import Conversation
from hexathlon.envs.roleplay.evening import Evening
from hexathlon.envs.roleplay.games import Bargain, Inquiry
from hexathlon.envs.roleplay.voices import Voice
from hexathlon.tasks.roleplay.tools import (
    bargain_tools,
    dialogue_tools,
    inquiry_tools,
    scene_tools,
)
from hexathlon.tasks.task import Task

__all__ = ["RolePlayEnv", "Scene", "make_vector", "open_scene"]


class Scene(Protocol):
    """Interactive scene of a task."""

    @property
    def closed(self) -> bool:
        """Whether the scene is over."""
        ...

    def opening(self) -> str:
        """Return the opening line that the character hears."""
        ...

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute one act; return what the character hears next."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the state for the verifiers, as JSON."""
        ...

    def save(self) -> Any:
        """Return the state as immutable data."""
        ...

    def load(self, saved: Any) -> None:
        """Restore a state."""
        ...


_SCENES: Mapping[str, Callable[[Mapping[str, Any], int, Voice | None], Scene]] = {
    "dialogue": Conversation,
    "bargain": Bargain,
    "inquiry": Inquiry,
    "scene": Evening,
}


def open_scene(params: Mapping[str, Any], seed: int, voice: Voice | None = None) -> Scene:
    """Open the scene of a task."""
    return _SCENES[params["mode"]](params, seed, voice)


class RolePlayEnv(Environment):
    """Conversations of a character with another speaker.

    Args:
        partner: Rewords the other speaker's lines, such as a model; None for the script alone.
            Episodes are then only as reproducible as the partner.
        **kwargs: As for every environment.
    """

    family: ClassVar[str] = "roleplay"
    version: ClassVar[str] = "1"
    default_taskset: ClassVar[str] = "roleplay"
    system_prompt: ClassVar[str] = (
        "You play a character in a conversation. Reply with one tool call at a time, as JSON; "
        "`reply` is what the character says aloud, in the language of the card, and the other "
        "arguments say what kind of act it is. Plain text is said aloud as it stands."
    )

    example_tools: ClassVar[tuple[str, ...]] = tuple(
        sorted(
            {
                schema.name
                for schemas in (
                    dialogue_tools(),
                    bargain_tools({}, 1),
                    inquiry_tools([]),
                    scene_tools(),
                )
                for schema in schemas
            }
        )
    )

    def __init__(self, *, partner: Voice | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._partner = partner
        self._scene: Scene | None = None
        self._scene_task: Task | None = None

    def on_reset(self, task: Task) -> str:
        """Open the scene; the card and the first line are the opening text."""
        seed = int(self.np_random.integers(1 << 31))
        self._scene, self._scene_task = open_scene(task.params, seed, self._partner), task
        return f"{task.instruction}\n\n{self._scene.opening()}"

    def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        """Pass an act on to the scene; the task defines which acts exist."""
        return self.act(name, arguments)

    def on_text(self, text: str) -> str:
        """Speak prose aloud."""
        return self.act("say", {"reply": text})

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Execute one act of the character."""
        try:
            return self.scene.act(name, arguments)
        finally:
            if self.scene.closed:
                self.finish()

    @property
    def scene(self) -> Scene:
        """The current scene."""
        if self._scene is None:
            raise RuntimeError("there is no scene yet; call reset() first")
        return self._scene

    def final_state(self) -> dict[str, Any]:
        """Return the scene's state."""
        return self.scene.state()

    def save(self) -> Any:
        """Return the scene's state as immutable data."""
        return self.scene.save()

    def load(self, payload: Any) -> None:
        """Restore a scene's state, opening the scene first if the task differs."""
        if self._scene is None or self._scene_task is not self.task:
            self._scene = open_scene(self.task.params, 0, self._partner)
            self._scene_task = self.task
        self._scene.load(payload)

    def detach(self) -> None:
        """Give a fork its own scene; `load` fills it."""
        self._scene = copy.copy(self._scene)


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of these environments; see `hexathlon.envs.vector`."""
    from hexathlon.envs.vector import make_vector as make

    return make(RolePlayEnv, num_envs, **kwargs)
