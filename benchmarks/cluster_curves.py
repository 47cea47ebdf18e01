"""Learning curves of one recipe file in process, on a local cluster, on two nodes, and with vLLM.

    python benchmarks/cluster_curves.py FOLDER [--seeds 3] [--only process,local,nodes,vllm]

The recipe is `cluster_curves.toml`, with 2 learner ranks, 2 engines and 4 environment workers. All
runs begin with the policy of FOLDER/start, which the first one clones. The band is that of the runs
in process: from the lowest to the highest seed, and two standard errors beyond. Two nodes need
root; vLLM needs the environment of `scripts/vllm`. Runs that FOLDER has are not repeated.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hexathlon.baselines.training.metrics import read_metrics

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RECIPE = HERE / "cluster_curves.toml"
MAIN = [sys.executable, "-c", "from hexathlon_cli import main; main()"]
WINDOW = 8
"""Steps of which a mean is reported."""

PLACES = '{"learner": 1, "engine": 1}'
VLLM = [
    part
    for setting in ("engine.kind=vllm", "engine.ready_within=900", "cluster.start_within=900")
    for part in ("--set", setting)
]


def environment() -> dict[str, str]:
    """Return variables with which every process finds the event, whose environment is not slow."""
    return {
        **os.environ,
        "PYTHONPATH": str(HERE),
        "SIGNALS_SCALE": "0",
        "OMP_NUM_THREADS": "1",
        "HEXATHLON_VLLM_PYTHON": str(ROOT / ".venv-vllm" / "bin" / "python"),
    }


def trained(out: Path, start: Path, *words: str, prefix: Sequence[str] = ()) -> None:
    """Train with the recipe unless the folder has the run."""
    if (out / "policy").exists():
        return
    if start.exists() and not out.exists():
        shutil.copytree(start, out / "start")
    command = [*prefix, *MAIN, "train", str(RECIPE), "--out", str(out), *words]
    with out.with_suffix(".log").open("w") as log:
        subprocess.run(command, env=environment(), stdout=log, stderr=log, check=True)
    if not start.exists():
        shutil.copytree(out / "start", start)


def curve(out: Path) -> tuple[list[float], list[float]]:
    """Return the mean reward of each window of steps, and its standard error."""
    rewards = [row["reward"] for row in read_metrics(out / "metrics.jsonl") if row["step"]]
    windows = [rewards[first : first + WINDOW] for first in range(0, len(rewards), WINDOW)]
    errors = [statistics.stdev(window) / len(window) ** 0.5 for window in windows]
    return [statistics.mean(window) for window in windows], errors


def played(folder: Path, kinds: Sequence[str], seeds: int) -> None:
    """Make the runs."""
    start = folder / "start"
    if "process" in kinds:
        for seed in range(seeds):
            trained(folder / f"process-{seed}", start, "--set", f"seed={seed}")
    if "local" in kinds:
        trained(folder / "local", start, "--cluster", "auto")
    if "nodes" in kinds and not (folder / "nodes" / "policy").exists():
        os.environ["PYTHONPATH"], os.environ["SIGNALS_SCALE"] = str(HERE), "0"
        sys.path.insert(0, str(ROOT / "tests"))
        from support.network_nodes import network_nodes

        with network_nodes(folder, PLACES, PLACES) as nodes:
            words = ["--cluster", nodes.address]
            prefix = [*nodes.command(), "env", *(f"{k}={v}" for k, v in nodes.client.items())]
            trained(folder / "nodes", start, *words, prefix=prefix)
    if "vllm" in kinds:
        trained(folder / "vllm", start, "--cluster", "auto", *VLLM)


def report(folder: Path) -> None:
    """Print the curves, and whether those of the clusters are in the band."""
    inside = [
        curve(out) for out in sorted(folder.glob("process-[0-9]")) if (out / "policy").exists()
    ]
    lows = [min(m[w] - 2 * e[w] for m, e in inside) for w in range(len(inside[0][0]))]
    highs = [max(m[w] + 2 * e[w] for m, e in inside) for w in range(len(inside[0][0]))]
    for out in sorted(folder.iterdir()):
        if not (out / "policy").exists():
            continue
        means, _ = curve(out)
        fits = all(low <= mean <= high for low, mean, high in zip(lows, means, highs, strict=True))
        print(out.name.ljust(12), " ".join(f"{mean:.3f}" for mean in means), fits)
    print("band".ljust(12), " ".join(f"{a:.3f}-{b:.3f}" for a, b in zip(lows, highs, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="process,local,nodes,vllm")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    kinds = options.only.split(",")
    played(options.folder.resolve(), kinds, options.seeds)
    report(options.folder.resolve())


if __name__ == "__main__":
    main()
