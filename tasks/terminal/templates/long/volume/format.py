"""The on-disk format of one task: what is drawn, and which features it has."""

from dataclasses import dataclass
from typing import Literal

from hexathlon.tasks.task import Split
from hexathlon.tasks.terminal.dice import Dice

__all__ = ["HELD_OUT_FEATURES", "OPTIONAL_FEATURES", "VolumeFormat", "drawn_format"]

OPTIONAL_FEATURES = (
    "zero", "packed", "extents", "stale", "duplicate", "orphan", "lost", "inode_sum", "unwritten",
    "super", "masked", "clone", "patch",
)  # fmt: skip
HELD_OUT_FEATURES = ("cancel", "tail", "checkpoint")
"""Features that tasks of train and dev never have."""

_ORDERS = (("logical", "length", "start"), ("start", "length", "logical"),
           ("start", "logical", "length"), ("length", "logical", "start"))  # fmt: skip


@dataclass(frozen=True)
class VolumeFormat:
    """An on-disk format; where a document misstates it, the samples show what is right."""

    endian: Literal["<", ">"]
    magic: str
    journal_magic: int
    features: frozenset[str]
    head_absolute: bool
    """Whether the superblock's journal head counts blocks of the volume, not of the journal."""

    sum_of_plain: bool
    """Whether checksums cover an escaped block as it is in its place, not as in the journal."""

    first_sequence: int
    """The number that follows 2**32 - 1."""

    revokes_own: bool
    """Whether a revoke record also holds back a block of its own transaction."""

    inode_base: int
    extent_order: tuple[str, str, str]
    tail_unit: int
    run_escape: int
    run_bias: int
    epoch: int
    first_wins: bool
    lost_name: str
    wrong: tuple[str, ...]
    """What the header states wrongly: `head`, `inode_base`, `tail_unit`, `run`, `extent`."""


def drawn_format(dice: Dice, split: Split) -> VolumeFormat:
    """Draw a format; the features of `HELD_OUT_FEATURES` only outside of train and dev."""
    held = split not in ("train", "dev")
    features = set(dice.some(OPTIONAL_FEATURES, 9 if held else 10))
    if held:
        features |= set(dice.some(HELD_OUT_FEATURES, dice.pick((1, 2, 3))))
    if not features & {"tail", "extents", "packed"}:
        features.add("packed")
    wrong = ["head", "inode_base"]
    wrong += ["tail_unit"] if "tail" in features else []
    wrong += ["run"] if "packed" in features else []
    wrong += ["extent"] if "extents" in features else []
    return VolumeFormat(
        endian=dice.pick(("<", ">")),
        magic=dice.word(4, "ABCDEFGHKLMNPRSTVWXZ"),
        journal_magic=dice.whole(0x10203040, 0xF0F1F2F3) | 0x01010101,
        features=frozenset(features),
        head_absolute=dice.chance(0.5),
        sum_of_plain=dice.chance(0.5),
        first_sequence=dice.pick((0, 1)),
        revokes_own=dice.chance(0.5),
        inode_base=dice.pick((0, 1)),
        extent_order=dice.pick(_ORDERS),
        tail_unit=dice.pick((1, 4, 8)),
        run_escape=dice.pick((0x1B, 0x7E, 0x90, 0xA5)),
        run_bias=dice.pick((0, 1)),
        epoch=dice.pick((1980, 1990, 2000)),
        first_wins=dice.chance(0.5),
        lost_name=dice.pick(("#%d", "inode-%d", "lost.%04d")),
        wrong=tuple(sorted(dice.some(wrong, min(3, len(wrong))))),
    )
