"""Rounds of episodes on request, for comparing environments of several libraries.

A benchmark writes lines of a game's name and a number of episodes to a child's standard input; the
child plays them and answers with one JSON line of steps and CPU seconds. Only the standard library
is imported, since every peer runs in its own environment.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping

LOWEST, HIGHEST, GUESSES = 1, 50, 7
"""Range of the number to be guessed, and the number of guesses."""

ANSWER = "ok"
"""Answer to every word but the last."""

LAST = "done"
"""The word that ends an episode with a reward of 1."""

MOST = 50
"""Turn limit of the game of words."""


def serve(games: Mapping[str, Callable[[int], int]]) -> None:
    """Play the requested rounds until standard input ends.

    Args:
        games: By name, a function that plays a number of episodes and returns the number of steps.
    """
    for line in sys.stdin:
        name, count = line.split()
        start = time.process_time()
        steps = games[name](int(count))
        spent = time.process_time() - start
        print(json.dumps({"steps": steps, "cpu_s": spent}), flush=True)
