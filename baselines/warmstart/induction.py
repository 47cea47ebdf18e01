"""Induction heads in an untrained model, so that copying is learned in minutes.

A policy that calls tools must copy: names from a schema, values from a question. A small model
trained from random weights finds the circuit for copying late, after most of a laptop's budget. The
circuit is known (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et
al.
2022, "In-context Learning and Induction Heads"): a head of one layer writes the previous token to
every position, and a head of the next layer attends to the position whose previous token is the
current one and copies the token there. Both are linear maps that can be written down, so a random
model is initialised with them, as others initialise attention near its trained form
(Trockman and Kolter 2023, "Mimetic Initialization of Self-Attention Layers"). Training changes them
like all other weights. Only one key-value head per layer plays each role: with all of them copying,
other uses of attention were learned late or not at all.

A single previous token identifies little if names share their beginnings, or all begin with the
mark of a capital. With a memory of two, a second head of the first layer writes the token two
positions back, and the copying head prefers positions where both match.
"""

import math
from typing import Any

__all__ = ["plant_induction"]

_GAIN = 1.5
"""Gain of normalised queries and keys, which sets how sharply the heads attend."""

_ROOM = 0.2
"""Share of the residual stream reserved for the previous token."""

_MARK = 0.06
"""Last entry of every embedding: the constant from which positional queries and keys are made."""

_FAST, _SLOW = 0.12, 0.004
"""Rotary frequencies in radians per token: above the first, neighbouring positions differ enough to
be distinguished; below the second, a prompt's length hardly changes the comparison of words."""

_SIZE = 0.3
"""Scale of the projections, as in a trained matrix."""

_COPY = 3.0
"""Gain of a copied word's output over its input."""


def plant_induction(model: Any, memory: int = 1) -> None:
    """Write induction heads into an untrained Qwen3's first two layers, in place.

    Draws from torch's global generator; seed it before.

    Args:
        model: At least two layers, with both fast and slow rotary frequencies.
        memory: Number of tokens that are compared, at least 1; each takes a key-value head of the
            first layer.

    Raises:
        ValueError: If the shape has no room for the heads.
    """
    import torch

    config, layers = model.config, model.model.layers
    width, size = config.hidden_size, config.head_dim
    theta = float(config.rope_parameters["rope_theta"])
    speeds = [theta ** (-place / (size // 2)) for place in range(size // 2)]
    fast = [place for place, speed in enumerate(speeds) if speed >= _FAST]
    slow = [place for place, speed in enumerate(speeds) if speed <= _SLOW]
    room = min(int(width * _ROOM), size, 2 * len(slow) // memory)
    words = width - memory * room - 1
    scarce = len(layers) < 2 or len(fast) < 2 or room < 8 or words < size
    if scarce or memory > config.num_key_value_heads:
        raise ValueError(
            f"induction heads that compare {memory} tokens need at least 2 layers, {memory} "
            "key-value heads, both fast and slow rotary frequencies, and heads no wider than the "
            f"width left for words; got {len(layers)} layers, {config.num_key_value_heads} "
            f"key-value heads, {len(fast)} fast and {len(slow)} slow frequencies, head_width "
            f"{size} and {words} left of width {width}: change the shape (rope_theta = 1e6 has "
            "both frequencies) or set induction = 0"
        )
    with torch.no_grad():
        embeddings = model.model.embed_tokens.weight
        embeddings[:, words:] = 0.0
        embeddings[:, -1] = _MARK
        model.lm_head.weight.copy_(embeddings)
        model.lm_head.weight[:, -1] = 0.0
        encoding = _orthogonal(room, words)
        norm = config.initializer_range * math.sqrt(words)
        for layer in layers[:2]:
            # Other heads of the same group share the values and would write them at random.
            layer.self_attn.o_proj.weight.zero_()
        for back in range(memory):
            _plant_previous(
                layers[0].self_attn, size, [(p, speeds[p]) for p in fast], encoding, norm, back
            )
        _plant_matching(layers[1].self_attn, size, slow, encoding, memory)


def _orthogonal(rows: int, columns: int) -> Any:
    """Return a random matrix with orthonormal rows, or columns where there are fewer of them."""
    import torch

    basis, _ = torch.linalg.qr(torch.randn(max(rows, columns), min(rows, columns)))
    return basis.T if rows < columns else basis


def _plant_previous(
    attention: Any, size: int, fast: list[tuple[int, float]], encoding: Any, norm: float, back: int
) -> None:
    """Make a head attend `back` + 1 tokens back and write what it reads to separate dimensions.

    A rotary pair turns by its frequency per token, so a query turned back by one token matches the
    key of the previous token best.
    """
    import torch

    room, words = encoding.shape
    query, key = torch.zeros(size), torch.zeros(size)
    for place, speed in fast:
        key[place] = 1.0
        turn = speed * (back + 1)
        query[place], query[place + size // 2] = math.cos(turn), -math.sin(turn)
    group = attention.q_proj.weight.shape[0] // attention.k_proj.weight.shape[0]
    query_row, key_row = back * group * size, back * size
    for projection, vector, row in (
        (attention.q_proj, query, query_row),
        (attention.k_proj, key, key_row),
    ):
        projection.weight[row : row + size] = 0.0
        projection.weight[row : row + size, -1] = vector
    attention.v_proj.weight[key_row : key_row + size] = 0.0
    attention.v_proj.weight[key_row : key_row + room, :words] = encoding * _SIZE
    input_norm = math.sqrt(words + room + 1) * norm / math.hypot(norm, _MARK)
    value_norm = input_norm * math.sqrt(room / words) * _SIZE
    place = words + back * room
    attention.o_proj.weight[place : place + room, query_row : query_row + room] = torch.eye(
        room
    ) * (norm / value_norm)
    _sharpen(attention, [place for place, _ in fast])


def _plant_matching(attention: Any, size: int, slow: list[int], encoding: Any, memory: int) -> None:
    """Make the first head attend to earlier occurrences of the current token and copy the next one.

    Queries and keys are compared in rotary pairs that hardly turn, so that distance has no effect.
    """
    room, words = encoding.shape
    kept = slow[-((memory * room + 1) // 2) :]
    places = ([*kept, *(place + size // 2 for place in kept)])[: memory * room]
    mixed, copied = _orthogonal(room, room), _orthogonal(size, words)
    attention.k_proj.weight[:size] = 0.0
    attention.q_proj.weight[:size] = 0.0
    for number, place in enumerate(places):
        back, row = divmod(number, room)
        key_column = words + back * room
        attention.k_proj.weight[place, key_column : key_column + room] = mixed[row] * _SIZE
        if back:
            column = key_column - room
            attention.q_proj.weight[place, column : column + room] = mixed[row] * _SIZE
        else:
            attention.q_proj.weight[place, :words] = (mixed[row] @ encoding) * _SIZE
    attention.v_proj.weight[:size] = 0.0
    attention.v_proj.weight[:size, :words] = copied * _SIZE
    attention.o_proj.weight[:words, :size] = copied.T * _COPY
    _sharpen(attention, kept)


def _sharpen(attention: Any, pairs: list[int]) -> None:
    """Raise the norms' gains in the rotary pairs that the head compares."""
    for norm in (attention.q_norm, attention.k_norm):
        half = len(norm.weight) // 2
        norm.weight[[*pairs, *(pair + half for pair in pairs)]] = _GAIN
