"""`hexathlon/Shopping-v1`: search and buy, serve customers, and the public shopping benchmarks.

The environment only chooses the task's world and passes tool calls to it. Facts and tools of a
world are in the world's own module; expected answers are in none of them.
"""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import ToolError
from hexathlon.envs.shopping.hints import HINTS
from hexathlon.envs.shopping.world import ShoppingWorld, open_world
from hexathlon.tasks.shopping.loaders.tau2 import END_TOOL
from hexathlon.tasks.shopping.loaders.webshop import WEBSHOP_TOOLS
from hexathlon.tasks.shopping.service.casework import service_tools
from hexathlon.tasks.shopping.world.household.house_tools import HOUSE_TOOLS
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.retail_tools import RETAIL_TOOLS
from hexathlon.tasks.shopping.world.shift.tools import SHIFT_TOOLS
from hexathlon.tasks.shopping.world.talk.talk_tools import TALK_TOOLS
from hexathlon.tasks.shopping.world.tools import store_tools
from hexathlon.tasks.shopping.world.wording import say
from hexathlon.tasks.task import Task

__all__ = ["ShoppingEnv", "make_vector"]

_BUDGETED = ("shift", "household")
"""Worlds whose closing answers state the actions left."""


class ShoppingEnv(Environment):
    """Shopping and customer service.

    Args:
        **kwargs: As for every environment.
    """

    family: ClassVar[str] = "shopping"
    version: ClassVar[str] = "1"
    default_taskset: ClassVar[str] = "shopping"
    system_prompt: ClassVar[str] = (
        "You work in a shop through tools. Reply with one tool call at a time, as JSON; any other "
        "text goes to the person you serve. Products that look alike differ in details: look "
        "before you buy, and do what was asked, nothing more."
    )

    hints: ClassVar[Mapping[str, str]] = HINTS

    example_tools: ClassVar[tuple[str, ...]] = tuple(
        sorted(
            {
                *(schema.name for schema in store_tools(dialogue=True, personal=True)),
                *(schema.name for schema in service_tools(dialogue=True)),
                *(
                    schema.name
                    for schema in (
                        *SHIFT_TOOLS,
                        *HOUSE_TOOLS,
                        *TALK_TOOLS,
                        *RETAIL_TOOLS,
                        END_TOOL,
                        *WEBSHOP_TOOLS,
                    )
                ),
            }
        )
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._world: ShoppingWorld | None = None
        self._world_task: Task | None = None

    def on_reset(self, task: Task) -> str:
        """Open the task's world."""
        self._world = open_world(task, self.np_random)
        self._world_task = task
        return self._world.opening()

    def on_text(self, text: str) -> str:
        """Pass prose to the person in the world."""
        answer = self.world.say(text)
        self._end_if_closed()
        return answer

    def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool of the world; the task defines which tools exist."""
        try:
            answer = self.world.call(name, arguments)
            closing = name in ("finish_case", "finish_request")
            return f"{answer}{self._actions_left()}" if closing else answer
        except DeskProblem as problem:
            raise ToolError(str(problem)) from None
        finally:
            self._end_if_closed()

    @property
    def world(self) -> ShoppingWorld:
        """The current world."""
        if self._world is None:
            raise RuntimeError("there is no world yet; call reset() first")
        return self._world

    def final_state(self) -> dict[str, Any]:
        """Return the world's final state."""
        return self.world.final_state()

    def save(self) -> Any:
        """Return the world's state."""
        return self.world.save()

    def load(self, payload: Any) -> None:
        """Restore a world's state, opening the world first if the task differs."""
        if self._world is None or self._world_task is not self.task:
            self._world, self._world_task = open_world(self.task, self.np_random), self.task
        self._world.load(payload)

    def detach(self) -> None:
        """Give a fork its own world; `load` fills it."""
        self._world = copy.copy(self._world)

    def _actions_left(self) -> str:
        """Return how many actions are left of a day or a month; empty for other tasks."""
        if self.task.params["world"] not in _BUDGETED:
            return ""
        left = max(0, self._most_turns - self._turn)
        en, zh = f"\n(Actions left: {left})", f"\n（剩余操作次数：{left}）"
        return say(self.task.params["language"], en, zh)

    def _end_if_closed(self) -> None:
        if self.world.closed:
            self.finish()


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of shopping environments; named by the registered id."""
    from hexathlon.envs.vector import make_vector as make

    return make(ShoppingEnv, num_envs, **kwargs)
