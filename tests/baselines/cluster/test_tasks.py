"""Stateless work on a cluster."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.tasks import distributed_on, mapped
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.harness.selftest import run_selftest
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.evaluators.records import read_records
from support.forger import Forger


def squared(number: int) -> int:
    if number == 7:
        raise ValueError("seven is not squared")
    return number * number


def dying(folder: Path, number: int) -> int:
    """End the process of the first two calls of an item."""
    for name in ("first", "second"):
        place = folder / f"{name}-{number}"
        if number == 3 and not place.exists():
            place.touch()
            os._exit(1)
    return number


def test_results_follow_the_order_of_the_items(cluster: RayCluster) -> None:
    assert list(mapped(cluster, squared, range(7))) == [n * n for n in range(7)]
    with pytest.raises(ValueError, match="seven is not squared"):
        list(mapped(cluster, squared, range(5, 9)))


def test_work_of_a_lost_process_is_redone(cluster: RayCluster, tmp_path: Path) -> None:
    assert list(mapped(cluster, partial(dying, tmp_path), range(5))) == list(range(5))
    (tmp_path / "always").mkdir()
    with pytest.raises(ClusterError, match="3 processes in a row were lost"):
        list(mapped(cluster, lambda _: os._exit(1), [0]))  # type: ignore[arg-type]


def test_work_without_resources_ends_at_the_deadline(cluster: RayCluster) -> None:
    with pytest.raises(ClusterError, match="no result within 1 s"):
        list(mapped(cluster, squared, [2], resources={"robot": 1}, within=1.0))


def test_selftest_on_a_cluster_gives_the_counts_of_one_process(cluster: RayCluster) -> None:
    settings = {"env": "RolePlay", "tasks": 10, "kinds": ("oracle", "noop", "mutants")}
    here = run_selftest(**settings)  # type: ignore[arg-type]
    there = run_selftest(**settings, mapped=partial(mapped, cluster))  # type: ignore[arg-type]
    assert there == here and there.holds and there.tallies["mutants"].episodes > 10


def test_the_command_uses_the_cluster_that_it_is_given() -> None:
    command = [sys.executable, "-m", "hexathlon", "selftest", "--env", "SQL", "--tasks", "1"]
    # In a process of its own: this one may be connected to a cluster already.
    done = subprocess.run(
        [*command, "--cluster", "nope:x"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 4
    assert "--cluster must be auto, HOST:PORT or ray://HOST:PORT, got 'nope:x'" in done.stderr
    assert done.stdout == ""


def test_verification_and_rescoring_on_a_cluster_give_the_results_of_one_process(
    cluster: RayCluster, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    flags = {"model": "agent:random", "envs": ("SQL", "RolePlay"), "tasks": 10}
    evaluate(*load_config(flags), run)
    distribute = partial(distributed_on, cluster)
    verified = verify_run(run, distribute=distribute)
    assert verified == verify_run(run)
    assert (verified.sound, verified.replayed) == (True, 20)
    here, there = tmp_path / "here", tmp_path / "there"
    assert rescore_run(run, there, distribute=distribute)._replace(run=here) == rescore_run(
        run, here
    )
    assert list(read_records(there)) == list(read_records(here))

    forger = Forger(run)
    forger.records[7]["steps"][0]["observation"] += " and more"
    (finding,) = verify_run(forger.save(), distribute=distribute).findings
    assert finding.field == "steps[0].observation"
