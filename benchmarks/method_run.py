"""One run of the comparison of methods: a recipe on some rooms, for a number of tokens."""

import copy
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import rooms
import rooms_policy
import torch

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.pipeline.catalogue import (
    ALLOCATORS,
    FILTERS,
    HINTS,
    HORIZONS,
    SAMPLERS,
)
from hexathlon.baselines.pipeline.replay import Memory, ReplayStage
from hexathlon.baselines.pipeline.shaping import shape
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.tasks.seeding import generator_for

MARKS, MARK_EPISODES, FINAL_EPISODES = 10, 256, 1024
HINTED = 1 << 40
"""Added to the number of a group that starts behind a hint."""

TRIES = 4
"""Batches that a step plays at most to fill itself after a filter."""

UNPLAYED_REPLAYS = frozenset({"corrections", "external"})
"""Replays that mark samples or tokens for the trainer, marks which the bench does not read."""


class Method(NamedTuple):
    """A method of the comparison."""

    name: str
    recipe: Recipe
    extra_members: int
    """Rollouts per task beyond the setting's."""


def check_playable(name: str, recipe: Recipe) -> None:
    """Check that the bench plays every part of a method's recipe.

    Raises:
        ValueError: If it would ignore a part.
    """
    generate, credit = recipe.generate, recipe.credit
    ignored = {
        f"generate.structure {generate.structure.name!r}": generate.growth() is not None,
        f"generate.context {generate.context.name!r}": generate.context.name != "none",
        f"generate.hinted = {generate.hinted}": generate.hinted < 1,
        "generate.pruning": generate.pruning is not None,
        "credit.tokens": bool(credit.tokens),
        "credit.per_event": credit.per_event,
        f"replay {recipe.replay.name!r}": recipe.replay.name in UNPLAYED_REPLAYS,
        "asynchrony.redundant": recipe.asynchrony.redundant > 0,
    }
    if parts := [part for part, used in ignored.items() if used]:
        raise ValueError(
            f"the method {name!r} has parts that the bench cannot play, {', '.join(parts)}: "
            "remove them, or compare the method with the trainer itself"
        )


class Setting(NamedTuple):
    """A variant of the event with its budget."""

    name: str
    knobs: rooms.Knobs
    budget: int
    """Tokens, sampled and trained."""

    tuned: str
    """Setting whose learning rates are used; its own by default."""


Weights = dict[str, torch.Tensor]


class Start(NamedTuple):
    """World and initial weights, which the runs of a seed share."""

    world: rooms.World
    weights: Weights


def start(knobs: rooms.Knobs, seed: int, trained: dict[tuple[rooms.Knobs, int], Weights]) -> Start:
    """Return the world and the initial weights of a seed; `trained` caches the weights."""
    world, key = rooms.World(knobs, seed), (knobs.start, seed)
    if key not in trained:
        policy = rooms_policy.Policy(knobs, seed)
        rooms_policy.fit_novice(world, policy, seed)
        trained[key] = policy.state_dict()
    return Start(world, trained[key])


class MethodRun:
    """One method in one setting, with a learning rate and a seed."""

    def __init__(
        self, method: Method, setting: Setting, rate: float, seed: int, begin: Start
    ) -> None:
        recipe, knobs = method.recipe, setting.knobs
        optimiser = replace(recipe.learn.optimiser, learning_rate=rate)
        learn = recipe.learn.model_copy(update={"optimiser": optimiser})
        self.recipe = recipe = recipe.model_copy(update={"learn": learn})
        self.setting, self.seed, self.world = setting, seed, begin.world
        self.members = knobs.members + method.extra_members
        self.tasks = knobs.episodes // knobs.members
        self.model = rooms_policy.Policy(knobs, seed)
        self.model.load_state_dict(begin.weights)
        reference = copy.deepcopy(self.model) if recipe.learn.objective.beta > 0 else None
        critic = Critic(self.model, recipe.critic, 1000) if recipe.critic else None
        self.learner = Learner(self.model, recipe.learner_config(), 1000, reference, critic)
        self.sampler = copy.deepcopy(self.model)
        self.past = deque([copy.deepcopy(self.model.state_dict())], maxlen=knobs.lag + 1)
        self.known = TaskStatistics()
        memory = Memory(recipe.replay.groups, recipe.replay.tasks)
        self.replay = ReplayStage(recipe.replay.name, recipe.replay.parameters, memory, seed)
        self.pending: rooms.Walks | None = None
        self.draw = generator_for("methods", seed)
        self.step = self.drawn = self.trained = self.turns = self.submitted = 0
        self.rooms_submitted: list[int] = []
        self.rooms_trained: list[int] = []

    @property
    def tokens(self) -> int:
        """Tokens used so far, sampled and trained."""
        return self.drawn + self.trained

    def play(self) -> dict[str, Any]:
        """Train until the budget is used up; return success by tenths of the budget."""
        budget, curve = self.setting.budget, [self._success(MARK_EPISODES)]
        while self.advance():
            while self.tokens >= len(curve) * budget / MARKS:
                curve.append(self._success(MARK_EPISODES))
        final = self._success(FINAL_EPISODES)
        curve += [final] * (MARKS + 1 - len(curve))
        bias = 0.0
        if self.rooms_trained:
            bias = float(np.mean(self.rooms_trained) / np.mean(self.rooms_submitted) - 1.0)
        return {
            "final": round(final, 4),
            "curve": [round(value, 4) for value in curve],
            "updates": self.step,
            "drawn": self.drawn,
            "trained": self.trained,
            "turns": self.turns,
            "length_bias": round(bias, 4),
        }

    def advance(self) -> bool:
        """Play a step and update the policy, unless that would exceed the budget."""
        groups: list[Group] = []
        filtered = any(part.name == "varied" for part in self.recipe.credit.filters)
        for attempt in range(TRIES):
            fresh = self._rollouts()
            groups += self._kept(fresh, attempt)
            if not filtered or len(groups) >= self.tasks or self.tokens >= self.setting.budget:
                break
        if filtered:
            groups = groups[: self.tasks]
        groups = self.replay.joined(groups, self.step)
        examples, cost = self._examples(groups)
        if self.tokens + cost > self.setting.budget:
            return False
        if examples:
            self.learner.update(examples)
            self.learner.version += 1
        self.trained += cost
        self.step += 1
        if self.setting.knobs.lag:
            self.past.append(copy.deepcopy(self.model.state_dict()))
        return True

    def _success(self, episodes: int) -> float:
        return rooms_policy.success(self.world, self.model, episodes, self.seed)

    def _plan(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the tasks of the step, and the rollouts of each before any fork."""
        generate, names = self.recipe.generate, self.world.names
        count = self.tasks * generate.candidates
        order = [self.draw.permutation(len(names)) for _ in range(1 + count // len(names))]
        candidates = np.concatenate(order)[:count]
        if generate.sampler.name != "first":
            candidates = np.array(list(dict.fromkeys(candidates.tolist())))
        chosen = SAMPLERS[generate.sampler.name](
            [names[task] for task in candidates],
            self.known,
            min(self.tasks, len(candidates)),
            self.draw,
            **generate.sampler.parameters,
        )
        tasks = candidates[chosen]
        roots = ALLOCATORS[generate.allocator.name](
            self.known.success([names[task] for task in tasks]),
            self.tasks * self.members // leaves(generate.splits()),
            **generate.allocator.parameters,
        )
        return tasks, np.array(roots)

    def _begun(self) -> rooms.Walks:
        """Return the episodes of the step at their starts, behind their hints."""
        generate, knobs = self.recipe.generate, self.setting.knobs
        tasks, roots = self._plan()
        if (over := self.recipe.asynchrony.over_provision) > 1.0:
            have = 0 if self.pending is None else len(np.unique(self.pending.group))
            more = max(0, round(self.tasks * over) - have)
            tasks, roots = np.resize(tasks, more), np.full(more, self.members)
        horizon = HORIZONS[generate.horizon.name](
            self.step, knobs.horizon, **generate.horizon.parameters
        )
        walks = rooms.Walks(self.world, np.repeat(tasks, roots), knobs.horizon)
        walks.group = np.repeat(np.arange(len(tasks)), roots) + self.submitted
        walks.horizon = horizon
        self.submitted += len(tasks)
        self.rooms_submitted += self.world.lengths[tasks].tolist()
        self._give_hints(walks)
        if self.pending is not None:
            walks, self.pending = self.pending.joined(walks), None
        return walks

    def _give_hints(self, walks: rooms.Walks) -> None:
        """Play the hints of every second rollout, which makes these a group of their own.

        The others keep the estimates of success without a hint up to date.
        """
        part = self.recipe.generate.hint
        rates = self.known.success([self.world.names[task] for task in walks.task])
        lengths = self.world.lengths[walks.task]
        hints = np.zeros(len(lengths), dtype=int)
        for row in range(1, len(lengths), 2):
            given = HINTS[part.name](float(rates[row]), int(lengths[row]), **part.parameters)
            hints[row] = min(given, lengths[row] - 1)
        walks.group[hints > 0] += HINTED
        for turn in range(int(hints.max(initial=0))):
            walks.take(np.flatnonzero(hints > turn), rooms.oracle, self.draw, 0, True)

    def _rollouts(self) -> list[Group]:
        knobs, over = self.setting.knobs, self.recipe.asynchrony.over_provision > 1.0
        policy, version = self.model, self.learner.version
        if knobs.lag:
            self.sampler.load_state_dict(self.past[0])
            policy, version = self.sampler, max(0, version - knobs.lag)
        act, walks = rooms_policy.player(policy, self.draw), self._begun()
        splits = {split.after: split.width for split in self.recipe.generate.splits()}
        while len(walks.active):
            self.drawn += 2 * len(walks.active)
            self.turns += 1
            walks.step(act, self.draw, version)
            for after, width in splits.items():
                rows = np.flatnonzero(~walks.done & (walks.turns - walks.hinted == after))
                walks = walks.fork(rows, width - 1) if len(rows) else walks
            if over and len(self._finished(walks)) >= self.tasks:
                break
        if over:
            taken = np.isin(walks.group, self._finished(walks)[: self.tasks])
            if self.recipe.asynchrony.late != "drop" and not taken.all():
                self.pending = walks.chosen(np.flatnonzero(~taken))
            walks = walks.chosen(np.flatnonzero(taken))
        groups = walks.groups(self.draw, bool(splits))
        firsts = np.unique(walks.group, return_index=True)[1]
        self.rooms_trained += self.world.lengths[walks.task[firsts]].tolist()
        unhinted = walks.hinted[firsts] == 0
        self.known.observe([g for g, own in zip(groups, unhinted, strict=True) if own])
        return groups

    @staticmethod
    def _finished(walks: rooms.Walks) -> np.ndarray:
        """Return the groups all of whose episodes have ended, the oldest first."""
        return np.setdiff1d(walks.group, walks.group[~walks.done])

    def _kept(self, groups: list[Group], attempt: int) -> list[Group]:
        credit = self.recipe.credit
        for part in credit.shapings:
            groups = shape(part.name, groups, self.known, **part.parameters)
        if self.recipe.control == "shuffled_rewards":
            groups = self._shuffled(groups)
        groups = self.replay.repaired(groups, self.step, attempt)
        for part in credit.filters:
            groups = FILTERS[part.name](groups, **part.parameters)
        return groups

    def _shuffled(self, groups: list[Group]) -> list[Group]:
        rewards = np.concatenate([group.rewards for group in groups])
        dealt = iter(self.draw.permutation(rewards))
        return [
            replace(
                group,
                samples=tuple(
                    replace(s, rewards=(*(0.0,) * (len(s.rewards) - 1), float(next(dealt))))
                    for s in group.samples
                ),
            )
            for group in groups
        ]

    def _examples(self, groups: Sequence[Group]) -> tuple[list[Example], int]:
        """Return the update's examples in a random order, and their tokens."""
        if not groups:
            return [], 0
        samples = [sample for group in groups for sample in group.samples]
        part = self.recipe.credit.estimator
        credit = ESTIMATORS[part.name](groups, self.learner.values(samples), **part.parameters)
        if credit.streams:
            raise ValueError(
                f"the estimator {part.name!r} gives streams, which the bench does not pass to the "
                f"learner: expected none, got {', '.join(credit.streams)}"
            )
        targets = credit.returns or [None] * len(samples)
        streams = list(zip(samples, credit.advantages, credit.weights, targets, strict=True))
        order = self.draw.permutation(len(streams))
        examples = [Example(*streams[number]) for number in order if streams[number][2].any()]
        passes = self.recipe.learn.epochs
        passes += self.recipe.critic.epochs if self.recipe.critic else 0
        return examples, passes * round(sum(float(each.weight.sum()) for each in examples))
