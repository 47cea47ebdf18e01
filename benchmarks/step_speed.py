"""Speed of trivial environments compared with skyrl-gym's and GEM's on the same games.

    python benchmarks/step_speed.py [--skyrl PYTHON] [--gem PYTHON] [--rounds 40]

PYTHON is the interpreter of an environment with the peer. `words-N` are episodes of N turns in
which the environment answers every word with another one and scores the last; in `guess`, a number
is found by bisection. Everything that an episode needs is counted: reset (skyrl-gym: make, init),
steps, verdict. Our episodes can be repeated from their seed and keep their conversation; the bare
ones of the peers do neither, those with `-recorded` and `-seeded` do it with the peers' own means.

The sides alternate in short rounds, each in its own process, and ratios are those of CPU time per
step in neighbouring rounds. An interval covers the median with at least 95 %.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from measuring import Figure, interval, print_findings

HERE = Path(__file__).resolve().parent
GAMES = ("words-1", "words-5", "words-20", "guess")
SKYRL_GAMES = (*GAMES, *(f"{game}-recorded" for game in GAMES))
GEM_GAMES = (*GAMES, *(f"{game}-recorded-seeded" for game in GAMES))
ROUND_S = 0.05
"""Approximate CPU seconds of a round."""


class Side:
    """One library's games, played in a child process.

    Args:
        command: Of the child, which prints its name and then serves `rounds.serve`.
    """

    def __init__(self, *command: str | Path) -> None:
        self._process = subprocess.Popen(
            list(map(str, command)),
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.name = self._line().strip()
        self._counts: dict[str, int] = {}

    def seconds(self, game: str) -> float:
        """Play a round; return CPU seconds per step."""
        if game not in self._counts:
            self._play(game, 200)
            steps, spent = self._play(game, 200)
            self._counts[game] = max(int(200 * ROUND_S / spent), 1)
        steps, spent = self._play(game, self._counts[game])
        return spent / steps

    def _play(self, game: str, count: int) -> tuple[int, float]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{game} {count}\n")
        self._process.stdin.flush()
        answer = json.loads(self._line())
        return answer["steps"], answer["cpu_s"]

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait()}")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def compare(ours: Side, peer: Side, games: Sequence[str], rounds: int) -> None:
    """Print steps per second of both sides, and the ratio, by game."""
    for game in games:
        mine, theirs = [], []
        for number in range(rounds):
            sides = [(ours, mine, game.partition("-recorded")[0]), (peer, theirs, game)]
            for side, values, name in sides if number % 2 else reversed(sides):
                values.append(side.seconds(name))
        ratios = [other / own for own, other in zip(mine, theirs, strict=True)]
        low, high = interval(ratios)
        name = f"{game}, {peer.name}"
        print_findings(
            [
                Figure(f"{name}: ours", 1 / statistics.median(mine), "steps/s"),
                Figure(f"{name}: peer", 1 / statistics.median(theirs), "steps/s"),
                Figure(f"{name}: ours / peer", statistics.median(ratios), "x", least=1.1),
            ]
        )
        print(f"  interval {low:.2f} to {high:.2f}, load {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skyrl", help="an interpreter that has skyrl-gym")
    parser.add_argument("--gem", help="an interpreter that has gem-llm")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    today = datetime.datetime.now(datetime.UTC).date()
    print(f"{today}, {os.cpu_count()} cores, CPython {platform.python_version()}")
    with Side(sys.executable, "step_games.py") as ours:
        if arguments.skyrl:
            with Side(arguments.skyrl, "peers/skyrl_steps.py") as peer:
                compare(ours, peer, SKYRL_GAMES, arguments.rounds)
        if arguments.gem:
            with Side(arguments.gem, "peers/gem_steps.py") as peer:
                compare(ours, peer, GEM_GAMES, arguments.rounds)
    for name in ("skyrl", "gem"):
        if not getattr(arguments, name):
            print(f"{name}: not run; pass --{name}")


if __name__ == "__main__":
    main()
