"""A small token-level event for comparing algorithms: find the way through four rooms.

The prompt names a colour and the first room. In every turn the policy writes a door's two letters;
the right pair depends on colour and room and opens the door, any other leaves it shut. There are
six turns for four rooms, and the reward is 1 for leaving the last. Credit must therefore be
assigned to turns: most rollouts get some of them right. All rows of a batch are at the same turn,
which lets one batched pass of the model serve a turn of all episodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.warmstart.initial import ModelShape, make_model
from hexathlon.tasks.seeding import derive_seed, generator_for

COLOURS, ROOMS, LETTERS, TURNS = 6, 4, 5, 6
BEGIN, OPEN, SHUT, OUT = range(4)
COLOUR, ROOM = 4, 4 + COLOURS
LETTER = ROOM + ROOMS
VOCABULARY = LETTER + LETTERS
SHAPE = ModelShape(
    vocabulary=VOCABULARY, width=48, layers=2, heads=2, kv_heads=1, feed_forward=128, context=64
)


def door(colour: int, room: int) -> tuple[int, int]:
    """The right pair of letters."""
    return (2 * colour + room) % LETTERS, (colour + 3 * room + colour * room) % LETTERS


def fresh_model(seed: int) -> Any:
    return make_model(SHAPE, VOCABULARY, seed)


@dataclass
class Walk:
    """One episode in progress."""

    colour: int
    ids: list[int] = field(default_factory=list)
    behaviour: list[float] = field(default_factory=list)
    sampled: list[bool] = field(default_factory=list)
    observed: list[bool] = field(default_factory=list)
    turn: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    room: int = 0
    shut: int = 0

    def __post_init__(self) -> None:
        for token in (BEGIN, COLOUR + self.colour, ROOM):
            self.write(token)

    @property
    def out(self) -> bool:
        return self.room == ROOMS

    def write(self, token: int, log_probability: float | None = None, turn: int = -1) -> None:
        drawn = log_probability is not None
        self.ids.append(token)
        self.sampled.append(drawn)
        self.observed.append(not drawn and len(self.ids) > 3)
        self.behaviour.append(log_probability if drawn else 0.0)
        self.turn.append(turn)

    def step(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Try a door; return the two tokens that answer."""
        if pair == door(self.colour, self.room):
            self.room += 1
            answer = (OPEN, OUT if self.out else ROOM + self.room)
        else:
            self.shut += 1
            answer = (SHUT, ROOM + self.room)
        self.rewards.append(float(self.out))
        for token in answer:
            self.write(token)
        return answer

    def sample(self, version: int) -> Sample:
        turns = max(len(self.rewards), 1)
        dimensions = (float(self.out), self.room / ROOMS, 1.0 - self.shut / TURNS)
        return Sample(
            ids=np.array(self.ids),
            sampled=np.array(self.sampled),
            observed=np.array(self.observed),
            behaviour=np.array(self.behaviour),
            turn=np.array(self.turn),
            rewards=tuple(self.rewards),
            states=tuple(self.states),
            version=np.where(self.sampled, version, -1),
            finished=self.out or turns < TURNS,
            objectives=dimensions,
            flawed=self.out and self.shut > 0,
        )


class Batch(NamedTuple):
    """A batch of groups of episodes."""

    groups: list[Group]

    @property
    def success(self) -> float:
        return float(np.mean([s.reward for group in self.groups for s in group.samples]))


@torch.inference_mode()
def collect(model: Any, groups: int, members: int, seed: int, version: int = 0) -> Batch:
    """Play groups of episodes; each group has one colour."""
    from transformers import DynamicCache

    colours = generator_for("rooms", seed).integers(COLOURS, size=groups)
    walks = [Walk(int(colour)) for colour in colours for _ in range(members)]
    noise = torch.Generator().manual_seed(derive_seed("rooms draws", seed) % 2**63)
    cache = DynamicCache(config=model.config)
    fed = torch.tensor([walk.ids for walk in walks])
    for turn in range(TURNS):
        for walk in walks:
            if not walk.out:
                walk.states.append(f"{walk.colour}/{walk.room}")
        pair = []
        for _ in range(2):
            logits = model(fed, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
            log_probabilities = logits[:, -1].log_softmax(-1)
            drawn = torch.multinomial(log_probabilities.exp(), 1, generator=noise)
            pair.append((drawn[:, 0].tolist(), log_probabilities.gather(1, drawn)[:, 0].tolist()))
            fed = drawn
        answers = []
        for row, walk in enumerate(walks):
            if walk.out:
                answers.append((pair[1][0][row], SHUT, ROOM))
                continue
            for tokens, values in pair:
                walk.write(tokens[row], values[row], turn)
            first, second = (tokens[row] - LETTER for tokens, _ in pair)
            answers.append((pair[1][0][row], *walk.step((first, second))))
        if all(walk.out for walk in walks):
            break
        fed = torch.tensor(answers)
    samples = [walk.sample(version) for walk in walks]
    return Batch(
        [
            Group(f"colour {colours[n]}", tuple(samples[n * members : (n + 1) * members]))
            for n in range(groups)
        ]
    )


def demonstrations(count: int, seed: int, skill: float) -> Sequence[Sample]:
    """Return episodes of a player that knows the door with a probability and guesses otherwise."""
    draw = generator_for("rooms demonstrations", seed)
    made = []
    for _ in range(count):
        walk = Walk(int(draw.integers(COLOURS)))
        for turn in range(TURNS):
            if walk.out:
                break
            walk.states.append(f"{walk.colour}/{walk.room}")
            guess = tuple(int(letter) for letter in draw.integers(LETTERS, size=2))
            pair = door(walk.colour, walk.room) if draw.random() < skill else guess
            for letter in pair:
                walk.write(LETTER + letter, 0.0, turn)
            walk.step((pair[0], pair[1]))
        made.append(walk.sample(0))
    return made
