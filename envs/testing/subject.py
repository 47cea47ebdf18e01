"""The environment under test: its construction, its tasks, and episodes played on it."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from hexathlon.envs.forking import AnyEnv
from hexathlon.envs.messages import assistant_message, parse_text
from hexathlon.envs.spaces import Unicode
from hexathlon.envs.testing.lessons import Lessons
from hexathlon.envs.testing.report import CheckSkipped
from hexathlon.envs.testing.settings import process_settings
from hexathlon.envs.testing.solving import Solved
from hexathlon.evaluators.content import joined
from hexathlon.evaluators.content import text_of as content_text
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script, TaskSource, parse_address
from hexathlon.tasks.task import Split, Task

__all__ = ["RecordedEpisode", "Subject", "Target", "fixed", "noted"]

Target = str | Callable[..., AnyEnv]
MAX_STEPS = 500


@dataclass(slots=True)
class RecordedEpisode:
    """The recorded result of one episode."""

    opening: Any
    reset_info: dict[str, Any]
    steps: list[tuple[Any, float, bool, bool, dict[str, Any]]] = field(default_factory=list)

    @property
    def reward(self) -> float:
        """The sum of the rewards."""
        return float(sum(step[1] for step in self.steps))

    @property
    def ended(self) -> bool:
        """Whether the last step ended the episode."""
        return bool(self.steps) and bool(self.steps[-1][2] or self.steps[-1][3])

    @property
    def status(self) -> str:
        """The status at the end."""
        return str((self.steps[-1][4] if self.steps else self.reset_info).get("status"))

    def shown(self) -> Iterator[Any]:
        """Yield everything visible to the agent."""
        yield self.opening
        yield self.reset_info
        for observation, _, _, _, info in self.steps:
            yield observation
            yield info


class Subject:
    """One environment under test.

    Args:
        target: A registered id, or a constructor.
        kwargs: For every instance.
        floor: Highest mean score that a trivial policy may reach.
        fuzz: Number of fuzzed actions.
        tasks: Number of tasks that the oracle solves, from all public splits.
        sample: Number of tasks of one split for the other score checks.
        seed: Base seed of the kit's own choices.
    """

    def __init__(
        self,
        target: Target,
        *,
        kwargs: dict[str, Any] | None = None,
        floor: float = 0.02,
        fuzz: int = 10_000,
        tasks: int = 1_000,
        sample: int = 50,
        seed: int = 0,
    ) -> None:
        self.target = target
        self.kwargs = kwargs or {}
        self.floor = floor
        self.fuzz = fuzz
        self.task_count = tasks
        self.sample_count = min(sample, tasks)
        self.seed = seed
        self.settings = process_settings()
        self._oracle_actions: dict[str, tuple[str, ...]] = {}

    @property
    def name(self) -> str:
        """The id, or the constructor's name."""
        if isinstance(self.target, str):
            return self.target
        return str(getattr(self.target, "__name__", self.target))

    def make(self, **kwargs: Any) -> Any:
        """Make a fresh instance, without wrappers that Gymnasium may have added."""
        own = {**self.kwargs, **kwargs}
        if isinstance(self.target, str):
            return gymnasium.make(self.target, **own).unwrapped
        return self.target(**own)

    @cached_property
    def spec(self) -> EnvSpec | None:
        """The registered spec, if the target is an id."""
        return gymnasium.spec(self.target) if isinstance(self.target, str) else None

    @cached_property
    def entry_point(self) -> str:
        """Import path by which another process can find the constructor.

        Raises:
            CheckSkipped: If it cannot be imported by name.
        """
        if self.spec is not None and isinstance(self.spec.entry_point, str):
            return self.spec.entry_point
        maker: Any = self.target if self.spec is None else self.spec.entry_point
        module, name = getattr(maker, "__module__", ""), getattr(maker, "__qualname__", "")
        if not name.isidentifier() or module == "__main__":
            raise CheckSkipped("the constructor cannot be imported by name")
        if getattr(importlib.import_module(module), name, None) is not maker:
            raise CheckSkipped(f"{module}:{name} is not the constructor")
        return f"{module}:{name}"

    @cached_property
    def source(self) -> TaskSource:
        """The environment's own task source."""
        env = self.make()
        try:
            return get_source(env.get_wrapper_attr("taskset"))
        finally:
            env.close()

    @cached_property
    def tasks(self) -> list[Task]:
        """The first tasks of the first non-empty public split."""
        return self.tasks_of(self.splits[0], self.sample_count)

    @cached_property
    def others(self) -> list[Task]:
        """As many tasks of the other public splits, spread over those that the oracle solves."""
        ids = [task_id for task_id in self.ids() if parse_address(task_id).split != self.splits[0]]
        step = max(1, len(ids) // self.sample_count)
        return [self.source.build(task_id) for task_id in ids[step - 1 :: step]]

    @cached_property
    def splits(self) -> list[Split]:
        """The public splits that have tasks, `dev` first."""
        public: tuple[Split, ...] = ("dev", "test", "train")
        splits = [split for split in public if self.source.size(split) != 0]
        if not splits:
            raise CheckSkipped(f"the source {self.source.name} has no task in any of {public}")
        return splits

    def tasks_of(self, split: Split, count: int) -> list[Task]:
        """Return the first tasks of a split, at most `count`."""
        return [self.source.build(task_id) for task_id in self._ids(split, count)]

    def _ids(self, split: Split, count: int) -> list[str]:
        size = self.source.size(split)
        return [
            self.source.address(split, index)
            for index in range(count if size is None else min(count, size))
        ]

    @cached_property
    def solved(self) -> list[Solved]:
        """The oracle's episodes on tasks taken evenly from all public splits."""
        return self.solve(self.ids())

    def ids(self) -> list[str]:
        """Return the ids of the tasks that the oracle solves, evenly from all public splits."""
        ids: list[str] = []
        for place, split in enumerate(self.splits):
            left = self.task_count - len(ids)
            ids += self._ids(split, -(-left // (len(self.splits) - place)))
        return ids

    def solve(self, ids: Iterable[str], *, grading: bool = True) -> list[Solved]:
        """Return the oracle's episodes on these tasks; without grading, all rewards are 0."""
        env = self.make()
        env.grading = grading
        try:
            return [self._solve(env, self.source.build(task_id)) for task_id in ids]
        finally:
            env.close()

    @cached_property
    def lessons(self) -> Lessons | None:
        """Lessons for the imitating policies: solved tasks of splits other than the first."""
        others = [each for each in self.solved if each.task.split != self.splits[0]]
        return Lessons(others) if others else None

    def _solve(self, env: Any, task: Task) -> Solved:
        actions: list[str] = []
        episode = self.play(env, task, noted(self.source.oracle(task), actions))
        opening = text_of(episode.opening)
        return Solved(task, opening, tuple(actions), episode.reward, episode.status)

    def act(self, env: Any, text: str) -> Any:
        """Convert a text action to the environment's action format."""
        if isinstance(env.action_space, Unicode):
            return text
        return assistant_message(parse_text(text))

    def play(self, env: Any, task: Task, script: Script, seed: int = 0) -> RecordedEpisode:
        """Play one episode with a script, which receives the text of each observation."""
        return self.play_shown(env, task, lambda opening: script, seed)

    def play_shown(
        self, env: Any, task: Task, maker: Callable[[str], Script], seed: int = 0
    ) -> RecordedEpisode:
        """Play one episode with a script that is made from the text of the opening."""
        opening, info = env.reset(seed=seed, options={"task": task.id})
        episode = RecordedEpisode(opening, info)
        script = maker(text_of(opening))
        try:
            action = next(script)
            while len(episode.steps) < MAX_STEPS:
                episode.steps.append(env.step(self.act(env, action)))
                observation, _, terminated, truncated, _ = episode.steps[-1]
                if terminated or truncated:
                    break
                action = script.send(text_of(observation))
        except StopIteration:
            pass
        script.close()
        return episode

    def play_actions(
        self, env: Any, task: Task, actions: Iterable[str], seed: int = 0
    ) -> RecordedEpisode:
        """Play one episode with a list of actions."""
        return self.play(env, task, fixed(actions), seed)

    def resume(self, env: Any, episode: RecordedEpisode, actions: Iterable[str]) -> None:
        """Go on with an episode, and add the steps to its record."""
        for action in actions:
            if episode.ended or len(episode.steps) >= MAX_STEPS:
                break
            episode.steps.append(env.step(self.act(env, action)))

    def oracle_actions(self, task: Task) -> list[str]:
        """Return the oracle's actions on a task; played once per task."""
        if task.id not in self._oracle_actions:
            actions: list[str] = []
            env = self.make()
            try:
                self.play(env, task, noted(self.source.oracle(task), actions))
            finally:
                env.close()
            self._oracle_actions[task.id] = tuple(actions)
        return list(self._oracle_actions[task.id])


def text_of(observation: Any) -> str:
    """Return the text of an observation in any of our formats."""
    if isinstance(observation, dict):
        return text_of(observation["text"])
    if isinstance(observation, str):
        return observation
    return content_text(joined(message["content"] for message in observation))


def fixed(actions: Iterable[str]) -> Script:
    """Play a list of actions, whatever is observed."""
    for action in actions:  # noqa: UP028 - a list cannot be sent observations
        yield action


def noted(script: Script, actions: list[str]) -> Script:
    """Play a script and add its actions to a list."""
    try:
        action = next(script)
        while True:
            actions.append(action)
            action = script.send((yield action))
    except StopIteration:
        return
