"""Seeds derived from names, so that every random draw is addressable.

`derive_seed("sql", "test", 42)` returns the same number on every machine, in every process and
under every version of Python. This module does not touch global random state.
"""

import hashlib

import numpy as np

__all__ = ["derive_seed", "generator_for"]


def derive_seed(*parts: str | int) -> int:
    """Return a 63-bit seed that depends on every part and on their order.

    Parts are encoded with type and length, so `("a", "bc")` and `("ab", "c")` give different seeds,
    and so do `1` and `"1"`.
    """
    text = "".join(f"{type(part).__name__}{len(str(part))}:{part};" for part in parts)
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator_for(*parts: str | int) -> np.random.Generator:
    """Return a new numpy generator seeded with `derive_seed(*parts)`."""
    return np.random.Generator(np.random.PCG64(derive_seed(*parts)))
