"""The policy of the rooms: a small network over the last tokens, trained to play like a novice."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from rooms import NOISES, OPEN, OUT, PAD, SHUT, Actor, Knobs, Moves, Walks, World
from torch import Tensor, nn

from hexathlon.tasks.seeding import generator_for

EMBEDDING, HIDDEN = 16, 64


class Policy(nn.Module):
    """A causal language model over the last tokens, with the interface that the learner calls."""

    def __init__(self, knobs: Knobs, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.decoder = Decoder(knobs)
            self.head = nn.Linear(HIDDEN, knobs.vocabulary)
        self.config = SimpleNamespace(model_type="rooms")

    def get_decoder(self) -> nn.Module:
        return self.decoder

    def get_input_embeddings(self) -> nn.Module:
        return self.head  # critics read the width of the states off it

    def get_output_embeddings(self) -> nn.Module:
        return self.head

    def forward(self, input_ids: Tensor, logits_to_keep: Tensor, use_cache: bool = False) -> Any:
        """Return the logits at some columns of `[rows, tokens]`."""
        return SimpleNamespace(logits=self.head(self.decoder.states(input_ids, logits_to_keep)))

    @torch.inference_mode()
    def next_token(self, windows: np.ndarray) -> np.ndarray:
        """Return log-probabilities of the token after each window, `[rows, vocabulary]`."""
        states = self.decoder.trunk(torch.from_numpy(windows))
        return self.head(states).log_softmax(-1).double().numpy()


class Decoder(nn.Module):
    """The trunk of a `Policy`: two layers over the embeddings of a window."""

    def __init__(self, knobs: Knobs) -> None:
        super().__init__()
        self.window = knobs.window
        self.embedding = nn.Embedding(knobs.vocabulary, EMBEDDING)
        self.gate = nn.Linear(self.window * EMBEDDING, HIDDEN)
        self.values = nn.Linear(self.window * EMBEDDING, HIDDEN)
        self.last = nn.Linear(HIDDEN, HIDDEN)

    def trunk(self, windows: Tensor) -> Tensor:
        """Return the states after windows of tokens, `[..., window]` to `[..., HIDDEN]`."""
        read = self.embedding(windows).flatten(-2)
        return nn.functional.silu(self.last(self.gate(read) * self.values(read)))

    def states(self, ids: Tensor, columns: Tensor) -> Tensor:
        padded = nn.functional.pad(ids, (self.window - 1, 0), value=PAD)
        windows = padded[:, columns[:, None] + torch.arange(self.window)]
        return self.trunk(windows)

    def forward(self, input_ids: Tensor, use_cache: bool = False) -> Any:
        columns = torch.arange(input_ids.shape[1])
        return SimpleNamespace(last_hidden_state=self.states(input_ids, columns))


def player(policy: Policy, draw: np.random.Generator) -> Actor:
    """Return an actor that samples from a policy at temperature 1."""

    def act(walks: Walks, rows: np.ndarray) -> Moves:
        doors = np.empty((len(rows), 2), dtype=int)
        values = np.empty((len(rows), 2))
        for place in range(2):
            log_probabilities = policy.next_token(walks.windows(rows))
            probabilities = np.exp(log_probabilities)
            sums = probabilities.cumsum(-1)
            chosen = (sums < draw.random((len(rows), 1)) * sums[:, -1:]).sum(-1)
            doors[:, place] = chosen
            values[:, place] = log_probabilities[np.arange(len(rows)), chosen]
            walks.write(rows, chosen)
        return Moves(doors, values)

    return act


def letter_distribution(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Return the novice's distribution of the first letter, and of the second given the first.

    It takes a door that it knows with probability `skill`, else any.

    Returns:
        `[colours, rooms, letters]` and `[colours, rooms, letters, letters]`.
    """
    knobs = world.knobs
    colours, rooms = np.indices(world.known.shape)
    pairs = np.full((*world.known.shape, knobs.letters, knobs.letters), 1.0 / knobs.letters**2)
    pairs[world.known] *= 1.0 - knobs.skill
    first, second = world.doors[..., 0], world.doors[..., 1]
    pairs[colours, rooms, first, second] += knobs.skill * world.known
    return pairs.sum(-1), pairs / pairs.sum(-1, keepdims=True)


def observation_loss(
    world: World, policy: Policy, windows: np.ndarray, second: np.ndarray, draw: np.random.Generator
) -> Tensor:
    """Return the cross-entropy on the observation after a door.

    Args:
        world: The tasks.
        policy: The policy.
        windows: `[rows, window + 1]`, an observation, and a door's first letter.
        second: `[rows]`, the second letter.
        draw: For the distractors.
    """
    knobs, count = world.knobs, len(windows)
    colour, room = windows[:, 2] - knobs.colour, windows[:, -2] - knobs.room
    letters = np.stack([windows[:, -1] - knobs.letter, second], 1)
    right = (letters == world.doors[colour, room]).all(1)
    out = right & (room >= world.lengths[colour] - 1)
    seen = np.empty((count, 1 + knobs.prompt), dtype=int)
    seen[:, 0] = np.where(out, OUT, np.where(right, OPEN, SHUT))
    seen[:, 1] = windows[:, 2]
    seen[:, 2:-1] = 4 + draw.integers(NOISES, size=(count, knobs.distractors))
    seen[:, -1] = knobs.room + np.minimum(room + right, knobs.rooms - 1)
    rows = np.concatenate([windows, knobs.letter + second[:, None], seen], 1)
    columns = torch.arange(knobs.window + 1, rows.shape[1] - 1)
    logits = policy(torch.from_numpy(rows), columns).logits
    aims = torch.from_numpy(seen)
    values = logits.log_softmax(-1).gather(-1, aims[..., None])[..., 0]
    wanted = torch.ones_like(values)
    wanted[torch.from_numpy(out), 1:] = 0.0
    return -(values * wanted).sum() / wanted.sum()


def fit_novice(world: World, policy: Policy, seed: int, steps: int = 400, batch: int = 512) -> None:
    """Train a policy to play like the novice, by the cross-entropy with its distributions."""
    knobs, draw = world.knobs, generator_for("rooms start", seed)
    one, two = letter_distribution(world)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-2, weight_decay=0.0)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 1e-2 * (1.0 - step / steps)
        colour = draw.integers(knobs.colours, size=batch)
        room = draw.integers(knobs.rooms, size=batch)
        letter = draw.integers(knobs.letters, size=(batch, 2))
        windows = np.empty((batch, knobs.window + 1), dtype=int)
        windows[:, 0] = knobs.letter + letter[:, 0]
        windows[:, 1] = draw.integers(OPEN, OUT, size=batch)
        windows[:, 2] = knobs.colour + colour
        windows[:, 3:-2] = 4 + draw.integers(NOISES, size=(batch, knobs.distractors))
        windows[:, -2] = knobs.room + room
        windows[:, -1] = knobs.letter + letter[:, 1]
        windows[draw.random(batch) < 1.0 / knobs.rooms, :2] = PAD
        after = torch.from_numpy(np.concatenate([windows[:, :-1], windows[:, 1:]]))
        target = np.concatenate([one[colour, room], two[colour, room, letter[:, 1]]])
        logits = policy.head(policy.decoder.trunk(after))
        values = logits.log_softmax(-1)[:, knobs.letter :]
        loss = -(torch.from_numpy(target).float() * values).sum(-1).mean()
        if knobs.foresight:
            second = draw.integers(knobs.letters, size=batch)
            loss = loss + observation_loss(world, policy, windows, second, draw)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def success(world: World, policy: Policy, episodes: int, seed: int) -> float:
    """Return the success rate on solvable tasks, each played equally often."""
    tasks = np.resize(np.flatnonzero(world.solvable), episodes)
    draw = generator_for("rooms evaluation", seed)
    walks = Walks(world, tasks, world.knobs.horizon)
    act = player(policy, draw)
    while len(walks.active):
        walks.step(act, draw)
    return float(walks.solved.mean())
