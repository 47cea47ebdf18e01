"""A start from which copying is learned in minutes: a model that has induction heads from step 0.

A policy for tools lives by copying: names out of a schema, values out of a question. A small
model trained from random numbers finds the circuit for that late, after most of a laptop's
budget. It is known, though (Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits"; Olsson et al. 2022, "In-context Learning and Induction Heads"): one head writes to
every place what the token before it was, and a head of the next layer looks for the place whose
forerunner is the current token and copies what stands there. Both are linear maps that can be
written down, so a random model is begun with them, as others begin attention near what training
makes of it (Trockman and Kolter 2023, "Mimetic Initialization of Self-Attention Layers"). They
are a beginning: training moves them as it moves all else. Only one key-value head of a layer does
each part: where all of them copied, what else attention is for was learned late or not at all.

A single token before is a weak hint where names share their beginnings, or all begin with the
mark of a capital. With a memory of two, a second head of the first layer writes what stood two
tokens back, and the copying head goes rather to where both were the same.
"""

import math
from typing import Any

__all__ = ["plant_induction"]

_GAIN = 1.5
"""Of queries and keys after their normalisation: how sharply the heads look."""

_ROOM = 0.2
"""Share of the residual stream that is kept for what the token before was."""

_MARK = 0.06
"""What every embedding holds in its last entry: the constant that positions are told by."""

_FAST, _SLOW = 0.12, 0.004
"""Rotary frequencies, in radians a token: those above turn enough between neighbours to tell them
apart, those below turn too little over a prompt to spoil a comparison of words."""

_SIZE = 0.3
"""Of the planted projections, like that of a trained matrix."""

_COPY = 3.0
"""How much stronger a copied word is written than it was read."""


def plant_induction(model: Any, memory: int = 1) -> None:
    """Write induction heads into an untrained Qwen3's first two layers, in place.

    Draws from torch's global generator; seed it before.

    Args:
        model: Two layers or more, with rotary frequencies both fast and slow.
        memory: Tokens that are compared, 1 or more; each takes a key-value head of the first
            layer.

    Raises:
        ValueError: The shape has no room for them.
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
            f"induction heads that compare {memory} tokens need 2 layers or more, as many "
            "key-value heads, rotary frequencies both fast and slow, and heads no wider than what "
            f"is left of the width for words; here are {len(layers)} layers, "
            f"{config.num_key_value_heads} key-value heads, {len(fast)} fast and {len(slow)} slow "
            f"frequencies, head_width {size} and {words} left of width {width}: change the shape "
            "(rope_theta = 1e6 has both) or set induction = 0"
        )
    with torch.no_grad():
        embeddings = model.model.embed_tokens.weight
        embeddings[:, words:] = 0.0
        embeddings[:, -1] = _MARK
        model.lm_head.weight.copy_(embeddings)
        model.lm_head.weight[:, -1] = 0.0
        heard = _orthogonal(room, words)
        norm = config.initializer_range * math.sqrt(words)
        for layer in layers[:2]:
            # Heads that share planted values would write them too, and at random.
            layer.self_attn.o_proj.weight.zero_()
        for back in range(memory):
            _plant_previous(
                layers[0].self_attn, size, [(p, speeds[p]) for p in fast], heard, norm, back
            )
        _plant_matching(layers[1].self_attn, size, slow, heard, memory)


def _orthogonal(rows: int, columns: int) -> Any:
    """Return a random matrix with orthonormal rows, or columns where there are fewer of them."""
    import torch

    basis, _ = torch.linalg.qr(torch.randn(max(rows, columns), min(rows, columns)))
    return basis.T if rows < columns else basis


def _plant_previous(
    attention: Any, size: int, fast: list[tuple[int, float]], heard: Any, norm: float, back: int
) -> None:
    """Make a head look `back` + 1 tokens back and write what it saw into a room of its own.

    A rotary pair turns by its frequency a token, so a query that is turned back by one token fits
    best the key of the token before.
    """
    import torch

    room, words = heard.shape
    query, key = torch.zeros(size), torch.zeros(size)
    for place, speed in fast:
        key[place] = 1.0
        turn = speed * (back + 1)
        query[place], query[place + size // 2] = math.cos(turn), -math.sin(turn)
    group = attention.q_proj.weight.shape[0] // attention.k_proj.weight.shape[0]
    asks, shows = back * group * size, back * size
    for projection, vector, row in (
        (attention.q_proj, query, asks),
        (attention.k_proj, key, shows),
    ):
        projection.weight[row : row + size] = 0.0
        projection.weight[row : row + size, -1] = vector
    attention.v_proj.weight[shows : shows + size] = 0.0
    attention.v_proj.weight[shows : shows + room, :words] = heard * _SIZE
    seen = math.sqrt(words + room + 1) * norm / math.hypot(norm, _MARK)
    written = seen * math.sqrt(room / words) * _SIZE
    place = words + back * room
    attention.o_proj.weight[place : place + room, asks : asks + room] = torch.eye(room) * (
        norm / written
    )
    _sharpen(attention, [place for place, _ in fast])


def _plant_matching(attention: Any, size: int, slow: list[int], heard: Any, memory: int) -> None:
    """Make the first head find where the current token came before and copy on.

    Queries and keys are compared in the pairs that hardly turn, so that distance does not matter.
    """
    room, words = heard.shape
    kept = slow[-((memory * room + 1) // 2) :]
    places = ([*kept, *(place + size // 2 for place in kept)])[: memory * room]
    mixed, spoken = _orthogonal(room, room), _orthogonal(size, words)
    attention.k_proj.weight[:size] = 0.0
    attention.q_proj.weight[:size] = 0.0
    for number, place in enumerate(places):
        back, row = divmod(number, room)
        there = words + back * room
        attention.k_proj.weight[place, there : there + room] = mixed[row] * _SIZE
        if back:
            here = there - room
            attention.q_proj.weight[place, here : here + room] = mixed[row] * _SIZE
        else:
            attention.q_proj.weight[place, :words] = (mixed[row] @ heard) * _SIZE
    attention.v_proj.weight[:size] = 0.0
    attention.v_proj.weight[:size, :words] = spoken * _SIZE
    attention.o_proj.weight[:words, :size] = spoken.T * _COPY
    _sharpen(attention, kept)


def _sharpen(attention: Any, pairs: list[int]) -> None:
    """Raise queries and keys in the rotary pairs that the planted head compares."""
    for norm in (attention.q_norm, attention.k_norm):
        half = len(norm.weight) // 2
        norm.weight[[*pairs, *(pair + half for pair in pairs)]] = _GAIN
