"""Base class of every environment: task choice, turns, tools, budgets, verdict, fork.

An author writes a subclass with `on_reset`, a few methods marked `@tool`, `final_state`, and, if
the world changes, `save` and `load`. Answers are text or parts (text, images, files). If the agent
sees an image of the world after each turn, the subclass also defines `image_size` and `frame`.
The base does the rest: it chooses the task, parses the action, checks tool calls, truncates long
observations and counts turns; `hexathlon.envs.episode` verifies the final state and takes
snapshots. What the agent sees is a function of (task, seed) and of its own actions.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, get_args

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from hexathlon.envs.episode import EpisodeEnvironment
from hexathlon.envs.errors import ToolError
from hexathlon.envs.infos import Advance, ToolFormat, info_of, reset_info_of
from hexathlon.envs.messages import (
    Action,
    Message,
    ParsedCall,
    Transcript,
    cut_content,
    last_image,
    make_message,
    parse_message,
    parse_text,
    rendered,
    scrub,
)
from hexathlon.envs.observations import (
    ActionFormat,
    checked_image,
    show_image,
    spaces_of,
    text_observation,
)
from hexathlon.envs.options import check_choices, check_seed, choose_task
from hexathlon.envs.spaces import MAX_TEXT
from hexathlon.envs.status import Status
from hexathlon.envs.tools import tools_of
from hexathlon.evaluators.content import Content, Image
from hexathlon.tasks.task import Level, Split, Task

__all__ = ["ActionFormat", "Environment"]

_TURN_METHODS = (
    "advance",
    "outcome",
    "_open_turn",
    "_parse",
    "_settle",
    "_answer",
    "_as_observation",
    "_step_info",
)
_ONGOING = Status.ONGOING  # cached, as the member lookup is slow
_CALLS_OR_BLANKS = frozenset(["", *"{[ \t\n\r\v\f\x1c\x1d\x1e\x1f"])
"""What a turn may begin with that needs to be parsed; all other ASCII text is prose."""


class Environment(EpisodeEnvironment):
    """A task world with a chat-message interface.

    In text format an observation is the text of the new messages; images and files are available in
    the transcript and in message format. With `image_size` set, the observation is a dictionary of
    that `text` and the `image` after the turn, which is also the last part of the last message.

    Args:
        taskset: Name of the task source; the family's own by default.
        split: Split to draw from when `reset` names no task.
        level: Level to draw from; None for all.
        action_format: `text`: actions and observations are strings. `message`: actions are one
            chat message, observations a tuple of the new messages. The assistant messages of
            OpenAI's and Anthropic's APIs are read as they are.
        tool_format: Form of the tools in `info` of `reset`: `plain`, `openai` or `anthropic`.
        limits: Overrides single limits of every task, such as `{"turns": 5}`; flat JSON.
        render_mode: `ansi`, `rgb_array` for environments with images, or None.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    version: ClassVar[str] = "0"
    """Version of the environment's behaviour; incremented whenever results can change."""

    default_taskset: ClassVar[str] = ""
    """Name of the task source; the family's by default."""

    system_prompt: ClassVar[str] = ""
    """System prompt, given to the agent once per episode; constant."""

    sandbox: str = "simulated"
    """Isolation level, as written to records."""

    hints: ClassVar[Mapping[str, str]] = {}
    """Hints for human players: what to do after a tool, by tool name (empty key: at the start), and
    the meaning of a verdict term that is not met, by term name, or that is met, as `TERM=1`."""

    plain_tool: ClassVar[str] = ""
    """For human players: the tool that receives lines naming no tool; empty: they are prose."""

    image_size: tuple[int, int] | None = None
    """Height and width in pixels of the image after each turn; None if there are no images."""

    example_tools: ClassVar[tuple[str, ...]] = ()
    """Tool names used in samples of the action space; by default the class's tools."""

    _tools: ClassVar[dict[str, str]] = {}

    _own_turns: ClassVar[bool] = True
    """Whether the class changes how turns are taken; if so, no turn takes a short cut."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own_turns = any(
            getattr(cls, name) is not getattr(Environment, name) for name in _TURN_METHODS
        )
        cls._tools = tools_of(cls)
        if not cls.default_taskset:
            cls.default_taskset = cls.family
        if "example_tools" not in cls.__dict__ and cls._tools:
            cls.example_tools = tuple(cls._tools)
        if cls.image_size is not None and "rgb_array" not in cls.metadata["render_modes"]:
            modes = [*cls.metadata["render_modes"], "rgb_array"]
            cls.metadata = {**cls.metadata, "render_modes": modes}

    def __init__(
        self,
        *,
        taskset: str | None = None,
        split: Split = "train",
        level: Level | None = None,
        action_format: ActionFormat = "text",
        tool_format: ToolFormat = "plain",
        limits: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if action_format not in ("text", "message"):
            raise ValueError(f"action_format must be 'text' or 'message', got {action_format!r}")
        if tool_format not in get_args(ToolFormat):
            raise ValueError(
                f"tool_format must be one of {get_args(ToolFormat)}, got {tool_format!r}"
            )
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(
                f"render_mode must be None or one of {self.metadata['render_modes']}, "
                f"got {render_mode!r}"
            )
        check_choices(split, level)
        super().__init__(limits)
        self.taskset = self.default_taskset if taskset is None else taskset
        self.split: Split = split
        self.level = level
        self.action_format: ActionFormat = action_format
        self.tool_format: ToolFormat = tool_format
        self.render_mode = render_mode
        examples = [f'{{"name": "{name}", "arguments": {{}}}}' for name in self.example_tools]
        spaces = spaces_of(action_format, self.image_size, examples)
        self.action_space, self.observation_space = spaces
        self._short_turns = not (self._own_turns or self.image_size or action_format != "text")
        self._base_names = frozenset({*vars(self), "_base_names", "_np_random_seed", "spec"})
        # `vars` has created a dictionary whose keys all instances share, and CPython 3.11 accesses
        # such attributes without inline caches. With an unshared one, an episode takes 15 % less.
        self.__dict__ = dict(vars(self))

    # Hooks for authors -------------------------------------------------------------------------

    def on_reset(self, task: Task) -> Content:
        """Build the world of `task` and return the opening content, by default the instruction."""
        return task.instruction

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Content:
        """Run one tool of the task, by default the class's method marked `tool`.

        Overridden by environments whose tools are data of the episode. `name` is one of the task's
        tools, and `arguments` fit its schema.

        Raises:
            ToolError: If the call is refused; the message becomes the agent's observation.
        """
        method = self._tools.get(name)
        if method is None:
            raise ToolError(f"{name} is not available here.")
        answer: Content = getattr(self, method)(**arguments)
        return answer

    def frame(self) -> NDArray[np.uint8]:
        """Return an image of the current world; required if `image_size` is set.

        A uint8 array of shape (height, width, 3). It is copied at once, so it may be a buffer.
        """
        raise NotImplementedError(f"{type(self).__name__} sets image_size but no frame()")

    def on_text(self, text: str) -> Content:
        """Answer a turn without tool calls; by default, explain how to call a tool."""
        self._tool_errors += 1
        known = ", ".join(self._table.schemas) or "none"
        return (
            "Error: the turn holds no tool call. Reply with JSON such as "
            f'{{"name": "tool", "arguments": {{}}}}. The tools are: {known}.'
        )

    # Gymnasium ---------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Together with the task, fixes every byte that the agent sees.
            options: `task` (an id), or any of `taskset`, `split`, `level`, `index`; `salt` for a
                held-out round. Without options the seed picks a task.

        Returns:
            The opening observation and info with `task_id` (opaque: `task.id` is not for agents),
            `task_hash`, `seed`, `system_prompt`, `tools`, `status`, `reward_terms`, `turn`.

        Raises:
            UnknownOption: If `options` has an unknown key.
        """
        task = self._open_episode(seed, options)
        opening = self.on_reset(task)
        return self._opened(task, opening, None if self.image_size is None else self.frame())

    def _open_episode(self, seed: int | None, options: dict[str, Any] | None) -> Task:
        if seed is None:
            self._episode_seed = int(self.np_random.integers(1 << 31))
        else:
            check_seed(seed)
            self._episode_seed = self._np_random_seed = int(seed)
        task = self._choose_task({} if options is None else options)
        self._begin(task)
        return task

    def _choose_task(self, options: dict[str, Any]) -> Task:
        return choose_task(options, self.taskset, self.split, self.level, self._episode_seed)

    def _opened(self, task: Task, opening: Content, frame: Any) -> tuple[Any, dict[str, Any]]:
        if (
            self._short_turns
            and opening.__class__ is str
            and opening.isascii()
            and len(opening) <= MAX_TEXT
        ):
            self._transcript = Transcript(((opening,),))
            return opening, self._reset_info(task)
        content, self._cut_chars = cut_content(opening, MAX_TEXT)
        messages = [make_message("user", content)]
        if frame is not None:
            show_image(messages, checked_image(frame, self.image_size))
        self._transcript = Transcript(messages)
        return self._as_observation(messages), self._reset_info(task)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn.

        Returns:
            The new messages, the reward (the verdict's score at the end, else 0), terminated,
            truncated, and info with `status`, `reward_terms`, `turn`, `tool_errors`, `cut_chars`.

        Raises:
            ResetNeeded: If the episode has ended.
            EnvFault: If the infrastructure failed.
        """
        if not self._short_turns:
            return self.outcome(self.advance(action)[0])
        if (
            action.__class__ is str
            and action[:1] not in _CALLS_OR_BLANKS
            and action.isascii()
            and len(action) <= MAX_TEXT
            and self._status is _ONGOING
        ):  # prose; repeats `advance`, since method calls would cost as much as the turn
            self._turn = turn = self._turn + 1
            entries = self._transcript.entries
            entries.append(action)
            observation = self.on_text(action)
            if (
                observation.__class__ is not str
                or not observation.isascii()
                or len(observation) > self._most_chars
            ):
                observation = self._answered(observation, None)
            else:
                entries.append((observation,))
                if self._status is _ONGOING and turn < self._most_turns:
                    return observation, 0.0, False, False, {
                        "status": "ongoing",  # as `info_of` returns
                        "reward_terms": {},
                        "turn": turn,
                        "tool_errors": self._tool_errors,
                        "cut_chars": self._cut_chars,
                    }  # fmt: skip
                self._end_turn()
        else:
            observation = self._take_turn(action)
        if self._status is not _ONGOING:
            return self.outcome(observation)
        info = info_of(_ONGOING, self._turn, self._tool_errors, self._cut_chars, {})
        return observation, 0.0, False, False, info

    def advance(self, action: Any) -> Advance:
        """Take one assistant turn without assembling the return value of `step`.

        For callers that step many environments: `outcome` and `info_of` assemble the rest,
        immediately for an episode that has ended, and on demand for one that continues.
        """
        if (
            self._short_turns
            and action.__class__ is str
            and action[:1] not in _CALLS_OR_BLANKS
            and action.isascii()
            and len(action) <= MAX_TEXT
            and self._status is _ONGOING
        ):
            self._turn = turn = self._turn + 1
            entries = self._transcript.entries
            entries.append(action)
            observation = self.on_text(action)
            if (
                observation.__class__ is not str
                or not observation.isascii()
                or len(observation) > self._most_chars
            ):
                observation = self._answered(observation, None)
            else:
                entries.append((observation,))
                if self._status is not _ONGOING or turn >= self._most_turns:
                    self._end_turn()
        else:
            observation = self._take_turn(action)
        return observation, self._status, self._turn, self._tool_errors, self._cut_chars

    def outcome(self, observation: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the result of `step` for a turn that produced this observation."""
        status = self._status
        if status is _ONGOING:
            return observation, 0.0, False, False, self._step_info({})
        verdict = self._verdict or self.verdict()
        info = self._step_info(dict(verdict.terms))
        terminated = status.terminated
        return observation, float(verdict.score), terminated, not terminated, info

    def render(self) -> Any:
        """Return the transcript as text in `ansi` mode, the last image in `rgb_array` mode."""
        if self.render_mode == "ansi":
            return "\n\n".join(rendered(message) for message in self._transcript)
        return self._latest_image().array() if self.render_mode == "rgb_array" else None

    # Internals ---------------------------------------------------------------------------------

    def _take_turn(self, action: Any) -> Any:
        turn = self._open_turn(action)
        calls = turn.calls
        if self._short_turns and len(calls) == 1:
            return self._answered(self._run(calls[0]), calls[0])
        answers: list[tuple[ParsedCall | None, Content]]
        if calls:
            answers = [(calls[0], self._run(calls[0]))]
            for call in calls[1:]:
                self._spend()
                answers.append((call, self._run(call)))
        else:
            answers = [(None, self.on_text(turn.text))]
        return self._settle(answers, None if self.image_size is None else self.frame())

    def _answered(self, answer: Content, call: ParsedCall | None) -> str:
        """As `_settle`, for a single answer in an environment of texts."""
        message = self._answer(call, answer, 1)
        self._transcript.entries.append(message)
        self._end_turn()
        content = message["content"]
        return content if content.__class__ is str else text_observation((message,))

    def _spend(self) -> None:
        """Charge a further call of the same turn to the budget of turns, or end the episode."""
        if self._turn < self._most_turns:
            self._most_turns -= 1
        elif self._status is _ONGOING:
            self._status = Status.TRUNCATED_TURNS

    def _end_turn(self) -> None:
        """Truncate the episode after its last turn, and grade it if it has ended."""
        if self._status is _ONGOING:
            if self._turn < self._most_turns:
                return
            self._status = Status.TRUNCATED_TURNS
        if self.verdict().status == "unscored":
            self._status = Status.ERROR_JUDGE

    def _open_turn(self, action: Any) -> Action:
        if self._status is not Status.ONGOING:
            raise ResetNeeded(f"the episode is {self._status.value}; call reset() first")
        self._turn += 1
        turn = self._parse(action)
        self._transcript.entries.append(turn)
        return turn

    def _parse(self, action: Any) -> Action:
        if self.action_format == "message":
            return parse_message(action)
        if not isinstance(action, str):
            raise TypeError(f"the action must be a string, got {type(action).__name__}")
        if len(action) > MAX_TEXT:
            problem = f"the turn has {len(action):,} characters, at most {MAX_TEXT:,} are read"
            return Action("", (ParsedCall("", "", {}, problem),))
        return parse_text(scrub(action))

    def _run(self, call: ParsedCall) -> Content:
        if self._status is not Status.ONGOING:
            return "Error: the episode had already ended; this call was not run."
        problem = self._table.problem(call)
        if problem:
            self._tool_errors += 1
            return f"Error: {problem}"
        try:
            return self.call_tool(call.name, call.arguments)
        except ToolError as error:
            self._tool_errors += 1
            return f"Error: {error}"

    def _close_turn(
        self, answers: Sequence[tuple[ParsedCall | None, Content]], frame: Any
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.outcome(self._settle(answers, frame))

    def _settle(self, answers: Sequence[tuple[ParsedCall | None, Content]], frame: Any) -> Any:
        """Record the answers, grade the episode if it ends here, and return the observation.

        Args:
            answers: One per call, or one for the turn's prose.
            frame: The result of `frame`, or an `Image`; None for environments without images.
        """
        count = len(answers)
        new = [self._answer(call, content, count) for call, content in answers]
        if frame is not None:
            show_image(new, checked_image(frame, self.image_size))
        self._transcript.entries.extend(new)
        self._end_turn()
        return self._as_observation(new)

    def _answer(self, call: ParsedCall | None, content: Content, count: int) -> Message:
        limit = max(self._limits.observation_chars // count, 200)
        # Short ASCII text, the common case, needs no per-part processing.
        if content.__class__ is not str or len(content) > limit or not content.isascii():
            content, cut = cut_content(content, limit)
            self._cut_chars += cut
        return make_message("user" if call is None else "tool", content, call.id if call else "")

    def _as_observation(self, new: list[Message]) -> Any:
        if self.action_format == "message":
            return tuple(copy.copy(message) for message in new)
        text = text_observation(new)
        if self.image_size is None:
            return text
        image = last_image(new) or self._latest_image()
        return {"image": image.array(), "text": text}

    def _latest_image(self) -> Image:
        image = last_image(self.transcript)
        if image is None:
            raise ResetNeeded("there is no image yet; call reset() first")
        return image

    def aside(self, text: str) -> Any:
        """Return an observation with `text` outside a turn, together with the last image."""
        message = make_message("user", text)
        if self.image_size is not None:
            show_image([message], self._latest_image())
        return self._as_observation([message])

    def _reset_info(self, task: Task) -> dict[str, Any]:
        return reset_info_of(
            task, self._episode_seed, self.system_prompt, self._status, self.tool_format
        )

    def _step_info(self, terms: dict[str, float]) -> dict[str, Any]:
        return info_of(self._status, self._turn, self._tool_errors, self._cut_chars, terms)
