"""A digest of the draws of numpy's random generators.

Streams of `numpy.random.Generator` may change between numpy releases, but rarely do. A digest of
fixed draws is equal for all releases that draw alike, so tasks can be verified with a different
numpy release from the one that generated them.
"""

import hashlib
from functools import cache

import numpy as np

__all__ = ["METHODS", "draws_digest"]

METHODS = ("choice", "integers", "permutation", "random", "shuffle", "uniform")
"""The methods covered, `shuffle` as part of `permutation`; tasks use no others."""


@cache
def draws_digest() -> str:
    """Return a SHA-256 (hex) of fixed draws that exercise the algorithms behind `METHODS`."""
    rng = np.random.Generator(np.random.PCG64(0x4845584154484C4F4E))
    letters = ["a", "b", "c", "d", "e"]
    draws = [
        *(rng.integers(bound) for bound in (2, 7, 100, 1 << 32, 1 << 40, (1 << 63) - 1)),
        *(rng.integers(-5, 60, size=9), rng.integers([1, 2], [9, 1 << 50])),
        *(rng.random(), rng.random(9), rng.uniform(2.5, 90.0)),
        *(
            rng.permutation(11),
            rng.permutation(np.array([3.5, 1.0, 2.0])),
            rng.permutation(letters),
        ),
        *(rng.permutation(range(11, 99)), rng.choice([14, 21, 30]), rng.choice(range(5, 70))),
        # For draws without replacement, numpy picks one of three algorithms by pool and sample
        # size.
        *(rng.choice(pool, size=take, replace=False) for pool, take in _SAMPLES),
    ]
    text = repr([np.asarray(drawn).tolist() for drawn in draws])
    return hashlib.sha256(text.encode()).hexdigest()


_SAMPLES = ((40, 30), (9_000, 8), (20_000, 300), (20_000, 900))
