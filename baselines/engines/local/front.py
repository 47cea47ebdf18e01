"""A convolutional encoder of patches, in place of a model's token embedding."""

from pathlib import Path
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hexathlon.baselines.tokens.patches import (
    CELLS,
    FIRST_PATCH,
    LEVELS,
    MOST_SQUARES,
    cells_of,
    places_of,
)

__all__ = ["SETTING", "PatchEmbedding", "add_front", "load_front"]

SETTING: Final = "hexathlon_patches"
"""Setting of a model's configuration: the number of channels of its encoder."""

_PREFIX = "model.embed_tokens."
_BLOCK = 64
"""Patches that are encoded together when sampling."""


class PatchEmbedding(nn.Embedding):
    """Embeds tokens, and patches by two convolutions over their cells and their place.

    The convolutions read darkness and have no biases, so a blank patch is its place alone. What all
    patches had in common would otherwise outweigh their contents in the model's norms.

    Args:
        words: The embedding of tokens.
        channels: Channels of the convolutions.
    """

    def __init__(self, words: nn.Embedding, channels: int) -> None:
        super().__init__(words.num_embeddings, words.embedding_dim, _weight=words.weight.detach())
        width = words.embedding_dim
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1, bias=False), nn.GELU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.GELU(),
        )  # fmt: skip
        self.project = nn.Linear(channels * CELLS * CELLS, width, bias=False)
        self.row = nn.Embedding(MOST_SQUARES, width)
        self.column = nn.Embedding(MOST_SQUARES, width)
        with torch.no_grad():
            for each in (self.row, self.column):
                each.weight.normal_(0.0, 0.06)
            self.project.weight.normal_(0.0, 0.2)  # contents about as large as places

    def forward(self, input: Tensor) -> Tensor:
        """Return the embeddings of ids, `[..., width]`."""
        patches = input >= FIRST_PATCH
        hidden = F.embedding(input.masked_fill(patches, 0), self.weight)
        if not bool(patches.any()):
            return hidden
        seen = input[patches]
        if torch.is_grad_enabled():
            return hidden.masked_scatter(patches[..., None], self.encode(seen))
        # Blocks of one size: a patch's result then does not depend on the rest of the pass.
        whole = F.pad(seen, (0, -len(seen) % _BLOCK), value=FIRST_PATCH)
        encoded = torch.cat([self.encode(block) for block in torch.split(whole, _BLOCK)])[
            : len(seen)
        ]
        return hidden.masked_scatter(patches[..., None], encoded)

    def encode(self, ids: Tensor) -> Tensor:
        """Return the embeddings of patches, `[patches, width]`."""
        darkness = 1 - torch.stack(cells_of(ids), -1).to(self.weight.dtype) / (LEVELS - 1)
        seen = self.convolutions(darkness.view(-1, 1, CELLS, CELLS)).flatten(1)
        rows, columns = places_of(ids)
        encoded: Tensor = self.project(seen) + self.row(rows) + self.column(columns)
        return encoded


def add_front(model: Any, channels: int) -> PatchEmbedding:
    """Give a model an untrained encoder of patches, and note it in its configuration."""
    words = model.get_input_embeddings()
    front = PatchEmbedding(words, channels).to(words.weight)
    model.set_input_embeddings(front)
    setattr(model.config, SETTING, channels)
    return front


def load_front(model: Any, path: Path) -> None:
    """Give a model the encoder of its checkpoint; does nothing for a model without one."""
    channels = int(getattr(model.config, SETTING, 0) or 0)
    if not channels:
        return
    from safetensors.torch import load_file

    stored = {name: value for file in sorted(path.glob("*.safetensors"))
              for name, value in load_file(file).items()}  # fmt: skip
    front = add_front(model, channels)
    own = {name: stored[_PREFIX + name] for name in front.state_dict()}
    front.load_state_dict(own)
