"""CPU time of starting the command line, and of `hexathlon list`.

    python benchmarks/start_speed.py [--lm-eval COMMAND] [--rounds 10] [--json]

`--help` alternates with that of lm-evaluation-harness, whose `lm_eval` command is given by
`--lm-eval`. Each is run once before, which warms the disk cache.
"""

import argparse
import sys
from pathlib import Path

from comparing import Row, add_options, compare, print_rows, single
from measuring import Figure, print_findings, run_child

OWN = Path(sys.executable).with_name("hexathlon")


def cpu_seconds(*command: str | Path) -> float:
    """Return the CPU seconds of a command."""
    return run_child(command).cpu_s


def measure(lm_eval: str | None, rounds: int) -> list[Row]:
    """Return CPU seconds of `--help` and `list`."""
    helped, listed, theirs = [], [], []
    for _ in range(rounds + 1):
        helped.append(cpu_seconds(OWN, "--help"))
        if lm_eval:
            theirs.append(cpu_seconds(lm_eval, "--help"))
        listed.append(cpu_seconds(OWN, "list"))
    name = "start: --help"
    if lm_eval:
        start = compare(name, "s CPU", helped[1:], theirs[1:], beside="lm_eval", least=2)
    else:
        start = single(name, "s CPU", helped[1:])
    return [start, single("hexathlon list", "s CPU", listed[1:], most=0.3)]


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lm-eval", help="the lm_eval command")
    add_options(parser, rounds=10)
    options = parser.parse_args()
    rows = measure(options.lm_eval, options.rounds)
    for row in rows:
        figures = [Figure(row.name, row.ours, row.unit, most=row.most)]
        if row.ratio is not None:
            name = f"{row.name}, times less than {row.beside}"
            figures.append(Figure(name, row.ratio, "x", row.least))
        print_findings(figures)
    if not options.lm_eval:
        print("lm_eval: not run; give --lm-eval")
    if options.json:
        print_rows(rows)


if __name__ == "__main__":
    main()
