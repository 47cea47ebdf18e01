"""Speed of trivial environments compared with skyrl-gym's and GEM's on the same games.

    python benchmarks/step_speed.py [--skyrl PYTHON] [--gem PYTHON] [--rounds 40]
        [--json]

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
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from comparing import Row, add_options, compare, print_rows
from measuring import Figure, print_findings

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
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.name = self._line().strip()
        self._counts: dict[str, int] = {}

    def rate(self, game: str) -> float:
        """Play a round; return steps per second of CPU time."""
        if game not in self._counts:
            self._play(game, 200)
            _, spent = self._play(game, 200)
            self._counts[game] = max(int(200 * ROUND_S / spent), 1)
        steps, spent = self._play(game, self._counts[game])
        return steps / spent

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
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait(60)}")
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)  # ends its input


def measure(ours: Side, peer: Side, games: Sequence[str], rounds: int) -> Iterator[Row]:
    """Yield steps per second of CPU time on both sides, by game."""
    for game in games:
        mine, theirs = [], []
        for number in range(rounds):
            sides = [(ours, mine, game.partition("-recorded")[0]), (peer, theirs, game)]
            for side, rates, name in sides if number % 2 else reversed(sides):
                rates.append(side.rate(name))
        yield compare(
            f"a step: {game}",
            "steps/s of CPU",
            mine,
            theirs,
            beside=peer.name,
            least=1.1,
            rate=True,
        )


def print_row(row: Row) -> None:
    """Print the figures of a game."""
    name = f"{row.name}, {row.beside}"
    print_findings(
        [
            Figure(f"{name}: ours", row.ours, row.unit),
            Figure(f"{name}: peer", row.peer or 0, row.unit),
            Figure(f"{name}: ours / peer", row.ratio or 0, "x", row.least),
        ]
    )
    print(f"  interval {row.low:.2f} to {row.high:.2f}, load {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skyrl", help="an interpreter that has skyrl-gym")
    parser.add_argument("--gem", help="an interpreter that has gem-llm")
    add_options(parser, rounds=40)
    arguments = parser.parse_args()
    today = datetime.datetime.now(datetime.UTC).date()
    print(f"{today}, {os.cpu_count()} cores, CPython {platform.python_version()}")
    peers = (
        ("skyrl", arguments.skyrl, "skyrl_steps.py", SKYRL_GAMES),
        ("gem", arguments.gem, "gem_steps.py", GEM_GAMES),
    )
    rows = []
    with Side(sys.executable, HERE / "step_games.py") as ours:
        for name, python, script, games in peers:
            if not python:
                print(f"{name}: not run; pass --{name}")
                continue
            with Side(python, HERE / "peers" / script) as peer:
                for row in measure(ours, peer, games, arguments.rounds):
                    print_row(row)
                    rows.append(row)
    if arguments.json:
        print_rows(rows)


if __name__ == "__main__":
    main()
