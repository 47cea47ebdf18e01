"""Rooms with knobs: a token-level event on which training methods differ.

A task is a colour and a row of rooms. In every turn the policy writes the two letters of a door;
the right pair depends on colour and room and opens it, any other leaves it shut. An episode
succeeds by leaving the last room within the horizon. The initial policy plays like a novice that
knows some doors and guesses the others, so that tasks range from easy to hopeless.

All episodes of a batch take a turn together, in arrays; they may start at different rooms (hints),
fork, stop and continue later under another policy. The policy reads the last tokens only, which
name colour and room, so that it needs no cache.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.tasks.seeding import generator_for

PAD, OPEN, SHUT, OUT = range(4)
NOISES = 8
"""Distinct distractor tokens."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """A variant of the event; `Knobs()` is the plain one."""

    colours: int = 16
    rooms: int = 5
    """Rooms of the longest task."""

    shortest: int = 0
    """Rooms of the shortest task, others in between; 0 gives all tasks the same number."""

    horizon: int = 8
    """Turns of an episode, 4 to 24."""

    letters: int = 4
    """Letters on a door: `letters` ** 2 actions in every turn."""

    members: int = 8
    """Rollouts of a task in a step, 2 to 16."""

    episodes: int = 128
    """Rollouts of a step."""

    lag: int = 0
    """Updates by which the sampler is behind the learner."""

    dense: bool = False
    """Whether each opened door is rewarded, instead of only the last one."""

    noise: float = 0.0
    """Probability that the verdict on an episode is inverted."""

    unsolvable: float = 0.0
    """Share of tasks whose last door never opens."""

    fatal: float = 0.0
    """Probability that a wrong door ends the episode."""

    distractors: int = 0
    """Random tokens in every observation."""

    unknown: float = 0.25
    """Share of doors at which the novice guesses."""

    skill: float = 0.55
    """Probability that the novice takes a door that it knows."""

    foresight: bool = False
    """Whether the initial policy has also learned to predict observations."""

    @property
    def vocabulary(self) -> int:
        return self.letter + self.letters

    @property
    def colour(self) -> int:
        return 4 + NOISES

    @property
    def room(self) -> int:
        return self.colour + self.colours

    @property
    def letter(self) -> int:
        return self.room + self.rooms

    @property
    def prompt(self) -> int:
        """Tokens of a prompt: colour, distractors, room."""
        return 2 + self.distractors

    @property
    def window(self) -> int:
        """Tokens that the policy reads: as many as a prompt and a door have."""
        return self.prompt + 2

    @property
    def turn_tokens(self) -> int:
        """Tokens of a turn: two letters, the verdict, and the next prompt."""
        return 3 + self.prompt

    @property
    def start(self) -> "Knobs":
        """The knobs that tasks and initial policy depend on; the others at their defaults."""
        return Knobs(
            colours=self.colours,
            rooms=self.rooms,
            shortest=self.shortest,
            letters=self.letters,
            unsolvable=self.unsolvable,
            distractors=self.distractors,
            unknown=self.unknown,
            skill=self.skill,
            foresight=self.foresight,
        )


class World:
    """The tasks of one seed: doors, lengths, and what the novice knows."""

    def __init__(self, knobs: Knobs, seed: int) -> None:
        draw = generator_for("rooms world", seed)
        shape = (knobs.colours, knobs.rooms)
        self.knobs = knobs
        self.doors = draw.integers(knobs.letters, size=(*shape, 2))
        self.known = draw.random(shape) >= knobs.unknown
        shortest = knobs.shortest or knobs.rooms
        self.lengths = np.linspace(shortest, knobs.rooms, knobs.colours).round().astype(int)
        locked = draw.permutation(knobs.colours)[: round(knobs.unsolvable * knobs.colours)]
        self.solvable = np.ones(knobs.colours, dtype=bool)
        self.solvable[locked] = False
        self.names = [f"colour {colour}" for colour in range(knobs.colours)]


class Moves(NamedTuple):
    """The doors that an actor takes in one turn, a row per episode."""

    doors: np.ndarray
    """`[rows, 2]`, tokens."""

    log_probabilities: np.ndarray
    """`[rows, 2]`."""


Actor = Callable[["Walks", np.ndarray], Moves]
"""Maps episodes and the rows that act to their moves."""


class Walks:
    """Episodes in progress, as arrays with a row each.

    Args:
        world: The tasks.
        tasks: Colour of each episode.
        horizon: Turns of an episode.
    """

    def __init__(self, world: World, tasks: np.ndarray, horizon: int) -> None:
        knobs = self.knobs = world.knobs
        self.world, self.horizon = world, horizon
        count = len(tasks)
        width = knobs.window + knobs.prompt + horizon * knobs.turn_tokens
        self.task = np.asarray(tasks)
        self.group = np.arange(count)
        self.ids = np.full((count, width), PAD)
        """The tokens, after `window` tokens of padding."""

        self.sampled = np.zeros((count, width), dtype=bool)
        self.behaviour = np.zeros((count, width))
        self.turn_of = np.full((count, width), -1)
        self.version = np.full((count, width), -1)
        self.room_at = np.zeros((count, horizon), dtype=int)
        self.opened = np.zeros((count, horizon), dtype=bool)
        self.node = np.zeros((count, horizon), dtype=int)
        """Number of each turn's node in the tree of forked episodes."""

        self.room = np.zeros(count, dtype=int)
        self.turns = np.zeros(count, dtype=int)
        self.hinted = np.zeros(count, dtype=int)
        """Turns of the hint at the start."""

        self.done = np.zeros(count, dtype=bool)
        self.length = np.full(count, knobs.window)
        self.nodes = 0
        self._write_prompts(np.arange(count), np.zeros((count, knobs.distractors), dtype=int))

    def _write_prompts(self, rows: np.ndarray, noise: np.ndarray) -> None:
        knobs = self.knobs
        places = self.length[rows, None] + np.arange(knobs.prompt)
        tokens = np.empty(places.shape, dtype=int)
        tokens[:, 0] = knobs.colour + self.task[rows]
        tokens[:, 1:-1] = 4 + noise
        tokens[:, -1] = knobs.room + np.minimum(self.room[rows], knobs.rooms - 1)
        self.ids[rows[:, None], places] = tokens
        self.length[rows] += knobs.prompt

    @property
    def active(self) -> np.ndarray:
        """Rows whose episodes are in progress."""
        return np.flatnonzero(~self.done)

    @property
    def solved(self) -> np.ndarray:
        return self.room >= self.world.lengths[self.task]

    def windows(self, rows: np.ndarray) -> np.ndarray:
        places = self.length[rows, None] + np.arange(-self.knobs.window, 0)
        return self.ids[rows[:, None], places]

    def write(self, rows: np.ndarray, tokens: np.ndarray) -> None:
        self.ids[rows, self.length[rows]] = tokens
        self.length[rows] += 1

    def step(self, act: Actor, draw: np.random.Generator, version: int = 0) -> None:
        """Take a turn of every episode in progress."""
        self.take(self.active, act, draw, version, False)

    def take(
        self, rows: np.ndarray, act: Actor, draw: np.random.Generator, version: int, hint: bool
    ) -> None:
        """Take a turn of some episodes; the tokens of a hint's turn are not marked as sampled."""
        knobs, world = self.knobs, self.world
        first = self.length[rows]
        moves = act(self, rows)
        if not hint:
            places = first[:, None] + np.arange(2)
            self.sampled[rows[:, None], places] = True
            self.behaviour[rows[:, None], places] = moves.log_probabilities
            self.turn_of[rows[:, None], places] = self.turns[rows, None]
            self.version[rows[:, None], places] = version
        self.length[rows] = first
        for letter in moves.doors.T:
            self.write(rows, letter)
        task, room = self.task[rows], self.room[rows]
        last = room == world.lengths[task] - 1
        right = (moves.doors - knobs.letter == world.doors[task, room]).all(-1)
        right &= ~last | world.solvable[task]
        turn = self.turns[rows]
        self.room_at[rows, turn] = room
        self.opened[rows, turn] = right
        self.node[rows, turn] = self.nodes + np.arange(len(rows))
        self.nodes += len(rows)
        self.room[rows] += right
        self.turns[rows] += 1
        self.hinted[rows] += hint
        out = right & last
        self.write(rows, np.where(out, OUT, np.where(right, OPEN, SHUT)))
        self.done[rows] = out | (self.turns[rows] >= self.horizon)
        if knobs.fatal:
            self.done[rows] |= ~right & (draw.random(len(rows)) < knobs.fatal)
        going = rows[~out]
        self._write_prompts(going, draw.integers(NOISES, size=(len(going), knobs.distractors)))

    def fork(self, rows: np.ndarray, copies: int) -> "Walks":
        """Return the episodes with `copies` more of some of them."""
        return self.chosen(np.concatenate([np.arange(len(self.task)), np.repeat(rows, copies)]))

    def chosen(self, rows: np.ndarray) -> "Walks":
        """Return some of the episodes."""
        result = object.__new__(Walks)
        for name, value in vars(self).items():
            result.__dict__[name] = value[rows] if isinstance(value, np.ndarray) else value
        return result

    def joined(self, other: "Walks") -> "Walks":
        """Return these episodes and others, whose groups have other numbers."""
        result = object.__new__(Walks)
        for name, value in vars(self).items():
            both = isinstance(value, np.ndarray)
            more = getattr(other, name)
            result.__dict__[name] = np.concatenate([value, more]) if both else value
        result.nodes = max(self.nodes, other.nodes)
        return result

    def samples(self, draw: np.random.Generator, forked: bool = False) -> list[Sample]:
        """Return the episodes as the algorithms see them; `draw` inverts verdicts."""
        knobs = self.knobs
        lengths = self.world.lengths[self.task]
        verdicts = self.solved ^ (draw.random(len(self.task)) < knobs.noise)
        result = []
        for row in range(len(self.task)):
            hint, stop = int(self.hinted[row]), int(self.turns[row])
            tokens = slice(knobs.window, int(self.length[row]))
            rewards = np.zeros(stop - hint)
            if knobs.dense:
                rewards += self.opened[row, hint:stop] / lengths[row]
            elif stop > hint:
                rewards[-1] = float(verdicts[row])
            turn = self.turn_of[row, tokens]
            sampled = self.sampled[row, tokens]
            observed = ~sampled
            observed[: knobs.prompt + hint * knobs.turn_tokens] = False
            task = int(self.task[row])
            right = int(self.opened[row, hint:stop].sum())
            result.append(
                Sample(
                    ids=self.ids[row, tokens],
                    sampled=sampled,
                    observed=observed,
                    behaviour=self.behaviour[row, tokens],
                    turn=np.where(turn >= 0, turn - hint, -1),
                    rewards=tuple(rewards.tolist()),
                    states=tuple(f"{task}/{room}" for room in self.room_at[row, hint:stop]),
                    branches=tuple(map(str, self.node[row, hint:stop])) if forked else (),
                    version=self.version[row, tokens],
                    finished=True,
                    objectives=(
                        float(verdicts[row]),
                        float(self.room[row] / lengths[row]),
                        right / max(stop - hint, 1),
                    ),
                    flawed=bool(verdicts[row]) and right < stop - hint,
                )
            )
        return result

    def groups(self, draw: np.random.Generator, forked: bool = False) -> list[Group]:
        """Return the groups of the episodes, in the order of their numbers."""
        samples = self.samples(draw, forked)
        result = []
        for number in np.unique(self.group):
            rows = np.flatnonzero(self.group == number)
            name = self.world.names[int(self.task[rows[0]])]
            result.append(Group(name, tuple(samples[row] for row in rows)))
        return result


def oracle(walks: Walks, rows: np.ndarray) -> Moves:
    """Take the right door."""
    doors = walks.knobs.letter + walks.world.doors[walks.task[rows], walks.room[rows]]
    return Moves(doors, np.zeros(doors.shape))
