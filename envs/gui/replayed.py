"""Semi-online replay of recorded trajectories (UI-S1): recorded screens, the agent's own actions.

Each turn is one step of the recording. If the action matches the expert's, the next recorded screen
follows and the step pays its share of the reward. If it does not, the patch rule applies: the
expert's action is shown and carried out in its place, up to `patches` times; after that the episode
ends. Source: Lu et al. 2025, "UI-S1: Advancing GUI Automation via Semi-online Reinforcement
Learning". There the expert's action replaces the agent's in the history; here the history keeps
what the agent wrote, and the answer states the expert's action.
"""

import json
from typing import Any, ClassVar

from hexathlon.envs.base import Environment
from hexathlon.envs.messages import ParsedCall
from hexathlon.evaluators.content import Content, Image, Text
from hexathlon.tasks.gui.loaders.recorded import RecordedSource
from hexathlon.tasks.gui.loaders.recorded_actions import (
    ActionMatch,
    RecordedStep,
    Recording,
    call_of,
    matches,
)
from hexathlon.tasks.gui.loaders.tools import PUBLIC_PHONE_TOOLS
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Task

__all__ = ["ReplayedGuiEnv", "make_vector"]

_NO_MATCH = ActionMatch(False, False)


class ReplayedGuiEnv(Environment):
    """Replay recorded trajectories of a phone.

    The reward of a step is its share of the trajectory, so that the rewards add up to the score.

    Args:
        patches: Number of mismatches replaced by the expert's action before the next one ends the
            episode.
        screenshot: Whether screens are shown as images, where the recording has them; otherwise as
            a list of elements, where it has those.
        **kwargs: As for every environment.
    """

    family: ClassVar[str] = "gui"
    version: ClassVar[str] = "0"
    default_taskset: ClassVar[str] = "gui-replay"
    system_prompt: ClassVar[str] = (
        "You operate a phone on behalf of its user. Reply with one tool call at a time, as JSON. "
        "When the request is done, report the status."
    )
    example_tools: ClassVar[tuple[str, ...]] = tuple(
        sorted(tool.name for tool in PUBLIC_PHONE_TOOLS)
    )

    def __init__(self, *, patches: int = 2, screenshot: bool = False, **kwargs: Any) -> None:
        if isinstance(patches, bool) or not isinstance(patches, int) or patches < 0:
            raise ValueError(f"patches must be a non-negative integer, got {patches!r}")
        super().__init__(**kwargs)
        self.patches = patches
        self.screenshot = screenshot
        self._base_names |= {"patches", "screenshot"}
        self._recording: Recording | None = None
        self._matches: list[tuple[bool, bool]] = []
        self._turn_done = False

    def on_reset(self, task: Task) -> Content:
        """Show the first recorded screen."""
        self._recording = Recording(**task.params["recording"])
        self._matches = []
        return self._screen(f"{task.instruction}\n\n")

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Content:
        """Compare an action with the expert's and show the next screen."""
        return self._compared(matches(self._current, name, arguments))

    def on_text(self, text: str) -> Content:
        """Count a turn without an action as a mismatch."""
        self._tool_errors += 1
        return self._compared(_NO_MATCH, "The turn has no action. ")

    def advance(self, action: Any) -> Any:
        """Take one turn; only its first call counts."""
        self._turn_done = False
        return super().advance(action)

    def outcome(self, observation: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the result of a step; every matching step is rewarded at once."""
        result, _, terminated, truncated, info = super().outcome(observation)
        paid = 1.0 / len(self._steps) if self._matches and self._matches[-1][1] else 0.0
        return result, paid, terminated, truncated, info

    def final_state(self) -> dict[str, Any]:
        """Return how each step compared with the expert's."""
        return {"matches": [list(match) for match in self._matches]}

    def _run(self, call: ParsedCall) -> Content:
        if self._turn_done:
            return "Error: only the first action of a turn counts; this call was not run."
        problem = self._table.problem(call)
        if not problem or self._status is not self._status.ONGOING:
            self._turn_done = True
            return super()._run(call)
        self._turn_done = True
        self._tool_errors += 1
        return self._compared(_NO_MATCH, f"Error: {problem} ")

    @property
    def _steps(self) -> tuple[RecordedStep, ...]:
        assert self._recording is not None
        return self._recording.steps

    @property
    def _current(self) -> RecordedStep:
        return self._steps[len(self._matches)]

    def _compared(self, match: ActionMatch, remark: str = "") -> Content:
        step = self._current
        self._matches.append((match.kind, match.exact))
        missed = sum(not exact for _, exact in self._matches)
        if missed > self.patches or len(self._matches) == len(self._steps):
            self.finish()
            return f"{remark}The recording ends here."
        if not match.exact:
            name, arguments = call_of(step.expert)
            call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
            remark += f"The recording goes on with another action: {call}\n"
        return self._screen(remark)

    def _screen(self, head: str) -> Content:
        step = self._current
        width, height = step.size
        text = f"{head}Screen of {width} x {height} pixels."
        if step.elements:
            rows = [_described(number, each) for number, each in enumerate(step.elements)]
            text += "\n" + "\n".join(rows)
        if not self.screenshot or not step.screenshot:
            return text
        recorded = get_source(self.task.generator)
        assert isinstance(recorded, RecordedSource)
        return (Text(text), Image.from_bytes(recorded.screenshot(step.screenshot)))


def _described(number: int, element: Any) -> str:
    left, top, right, bottom = (round(edge) for edge in element["bbox"])
    kind = element.get("class_name", "element")
    text = str(element.get("text", ""))
    return f"[{number}] {kind} {text!r} at {left},{top} to {right},{bottom}"


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of replay environments; named by the registered id."""
    from hexathlon.envs.vector import make_vector as make

    return make(ReplayedGuiEnv, num_envs, **kwargs)
