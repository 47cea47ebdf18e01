"""Training on a cluster gives the policy of a single process, also after processes were killed.

A short form of the comparison, with all six events, is in `test_events.py`.
"""

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
ray = pytest.importorskip("ray", reason="pip install 'hexathlon[cluster]'")

from safetensors.torch import load_file

from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.learners import launch_on
from hexathlon.baselines.cluster.log import LOG_FILE
from hexathlon.baselines.distributed.launch import RankFailed
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import Recipe, load_recipe
from hexathlon.baselines.training.run import train
from hexathlon.baselines.training.saving import CorruptState, StateNotSaved
from support.served import sharp_policy
from support.six_events import EVENTS, six_events
from support.watching import wait_for_files

DEADLINE = 600.0
LITTLE, HARD = 50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]
"""Bytes to which files of a process can grow, fewer than those of a state; and the hard limit."""

CHANGES: dict[str, Any] = {
    "steps": 2,
    "save_every": 1,
    "ranks": 1,
    "tasks.templates": ["filter_rows", "count_rows"],
    "tasks.turns": 2,
    "rollout.groups": 2,
    "rollout.members": 2,
    "rollout.max_tokens": 8,
    "credit.filters": [],
    "credit.estimator": {"name": "reinforce", "parameters": {"baseline": 0.5}},
    "learn.optimiser": {"learning_rate": 1e-3, "eps": 1e-4},
    "evaluation.tasks": 1,
    "evaluation.every": 0,
    "engine.invariant": True,
    "cluster.workers": 1,
}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("policy") / "policy")


@pytest.fixture(scope="module")
def alone(policy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    out = tmp_path_factory.mktemp("alone") / "run"
    train(recipe(policy), out, quiet)
    return out


def recipe(policy: Path, **changes: Any) -> Recipe:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return load_recipe("sql-tiny", {**CHANGES, "policy.checkpoint": str(policy), **named})


def quiet(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
    """Report nothing."""


def weights(run: Path) -> dict[str, Any]:
    return load_file(run / "policy" / "model.safetensors")


def assert_same_policy(one: Path, other: Path) -> None:
    first, second = weights(one), weights(other)
    assert all(torch.equal(first[name], second[name]) for name in first)


def rows(run: Path) -> list[dict[str, float]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds/")}
        for row in read_metrics(run / "metrics.jsonl")
    ]


def notes(run: Path) -> str:
    return (run / LOG_FILE).read_text()


@pytest.mark.slow
def test_a_cluster_trains_the_policy_of_one_process(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:
    seen: list[tuple[str, int]] = []

    def report(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        seen.append((phase, step))

    result = train(recipe(policy), tmp_path, report, launch=launch_on(cluster))
    assert result["after"].tasks == 1
    assert_same_policy(tmp_path, alone)
    assert rows(tmp_path) == rows(alone)
    assert [step for phase, step in seen if phase == "train"] == [0, 1, 2]
    first = (tmp_path / "rollouts").iterdir()
    assert sorted(path.name for path in first) == [f"step-{step:06}-0.jsonl.gz" for step in (1, 2)]


@pytest.mark.slow
def test_sharded_ranks_train_the_policy_of_replicated_ones(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    for kind in ("sharded", "replicated"):
        made = recipe(policy, ranks=2, learner__kind=kind)
        train(made, tmp_path / kind, quiet, launch=launch_on(cluster))
    sharded, replicated = weights(tmp_path / "sharded"), weights(tmp_path / "replicated")
    start = load_file(policy / "model.safetensors")
    for name, weight in replicated.items():
        torch.testing.assert_close(sharded[name], weight, rtol=0, atol=1e-5)
    assert not all(torch.equal(start[name], replicated[name]) for name in start)


@pytest.mark.slow
def test_a_killed_rank_is_restarted_and_trains_the_policy_of_one_process(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 1 and not killed:
            killed.extend(pids(tmp_path))
            os.kill(killed[0], signal.SIGKILL)

    train(recipe(policy), tmp_path, kill, launch=launch_on(cluster))
    assert killed
    assert "rank 0 was lost" in notes(tmp_path)
    assert notes(tmp_path).count("1 ranks started") == 2
    assert_same_policy(tmp_path, alone)
    assert rows(tmp_path) == rows(alone)


def pids(run: Path, kind: str = "ranks") -> list[int]:
    """Return the ids of the most recently started processes of a kind."""
    lines = re.findall(kind + r" started: processes ([\d, ]+)", notes(run))
    return [int(number) for number in lines[-1].split(", ")]


@pytest.mark.slow
def test_ranks_that_are_lost_too_often_are_named(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "before":
            os.kill(pids(tmp_path)[0], signal.SIGKILL)

    with pytest.raises(RankFailed, match="rank 0 was lost: .*; no restarts are left"):
        changed = recipe(policy, cluster__restarts=0, cluster__workers=0)
        train(changed, tmp_path, kill, launch=launch_on(cluster))


@pytest.mark.slow
def test_an_error_of_rank_0_is_raised_unchanged(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(alone, tmp_path / "run")
    newest = max((tmp_path / "run" / "states").iterdir())
    (newest / "optimiser.pt").write_bytes(b"torn")
    with pytest.raises(CorruptState, match="delete it to resume from the previous state"):
        changed = recipe(policy, cluster__workers=0)
        (tmp_path / "run" / "recipe.json").unlink()
        train(changed, tmp_path / "run", quiet, launch=launch_on(cluster))


@pytest.mark.slow
def test_two_ranks_with_two_engines_train_the_policy_of_one(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:
    changed = recipe(policy, ranks=2, cluster__engines=2, cluster__workers=4)
    train(changed, tmp_path / "whole", quiet, launch=launch_on(cluster))
    one, two = weights(alone), weights(tmp_path / "whole")
    assert max(float((one[name] - two[name]).abs().max()) for name in one) <= 1e-5
    killed: list[int] = []

    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 1 and not killed:
            killed.extend(pids(tmp_path / "broken"))
            os.kill(killed[1], signal.SIGKILL)

    train(changed, tmp_path / "broken", kill, launch=launch_on(cluster))
    assert "rank 1 was lost" in notes(tmp_path / "broken")
    assert_same_policy(tmp_path / "whole", tmp_path / "broken")


@pytest.mark.slow
def test_a_killed_engine_changes_nothing(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 1 and not killed:
            killed.extend(pids(tmp_path, "engine replicas"))
            os.kill(killed[0], signal.SIGKILL)

    changed = recipe(policy, cluster__engines=2)
    train(changed, tmp_path, kill, launch=launch_on(cluster))
    assert len(killed) == 2
    assert notes(tmp_path).count("ranks started") == 1
    assert_same_policy(tmp_path, alone)
    assert rows(tmp_path) == rows(alone)


@pytest.mark.slow
def test_a_killed_environment_worker_changes_nothing(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:
    """One of two workers is killed before the second step, whose rollouts it would play."""
    killed: list[int] = []

    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 1 and not killed:
            ready = re.findall(r"worker \d+, process (\d+), is ready", notes(tmp_path))
            killed.append(int(ready[0]))
            os.kill(killed[0], signal.SIGKILL)

    train(recipe(policy, cluster__workers=2), tmp_path, kill, launch=launch_on(cluster))
    assert f"process {killed[0]}, was lost" in notes(tmp_path)
    assert notes(tmp_path).count("ranks started") == 1
    assert_same_policy(tmp_path, alone)
    assert rows(tmp_path) == rows(alone)


@pytest.mark.slow
@pytest.mark.parametrize("update", ["keep", "abort"])
def test_an_asynchronous_run_bounds_staleness_and_loses_no_rollout(
    cluster: RayCluster, policy: Path, tmp_path: Path, update: str
) -> None:
    """Over-provisioned groups continue across updates, also when an engine is killed."""
    killed: list[int] = []

    def kill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 2 and not killed:
            killed.extend(pids(tmp_path, "engine replicas"))
            os.kill(killed[0], signal.SIGKILL)

    changed = recipe(
        policy,
        steps=5,
        cluster__engines=2,
        cluster__workers=2,
        rollout__max_tokens=24,
        asynchrony__staleness=1,
        asynchrony__over_provision=1.5,
        asynchrony__late="token_mask",
        asynchrony__update=update,
    )
    train(changed, tmp_path, kill, launch=launch_on(cluster))
    made = [row for row in rows(tmp_path) if row["step"]]
    assert killed
    assert [row["step"] for row in made] == [1, 2, 3, 4, 5]
    for row in made:
        assert row["trials/faults"] == row["rollouts/cut"] == row["staleness/later"] == 0
        assert row["engine/difference"] < 1e-3
        assert row["groups/kept"] == 2
    assert sum(row["staleness/1"] for row in made) > 0
    assert notes(tmp_path).count("ranks started") == 1


@pytest.mark.slow
def test_engine_pools_serve_their_families(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    """Which replica samples changes nothing, with an invariant engine."""
    file = six_events(tmp_path / "recipe.toml", policy, members=1, workers=2)
    train(load_recipe(str(file)), tmp_path / "here", quiet)
    pages = {"families": ["web", "gui"], "engines": 2, "place": {"resources": {"toys": 1}}}
    changed = load_recipe(str(file), {"cluster.engine_pools": {"pages": pages}})
    train(changed, tmp_path / "there", quiet, launch=launch_on(cluster))
    assert "3 engine replicas started" in notes(tmp_path / "there")
    assert_same_policy(tmp_path / "there", tmp_path / "here")


@pytest.mark.slow
def test_a_full_disk_stops_by_name_and_loses_nothing(
    cluster: RayCluster, policy: Path, alone: Path, tmp_path: Path
) -> None:

    def fill(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        if phase == "train" and step == 0:
            resource.prlimit(pids(tmp_path)[0], resource.RLIMIT_FSIZE, (LITTLE, HARD))

    with pytest.raises(StateNotSaved, match="free disk space, then run the recipe"):
        train(recipe(policy), tmp_path, fill, launch=launch_on(cluster))
    assert not list((tmp_path / "states").glob("*.part"))
    assert notes(tmp_path).count("ranks started") == 1
    train(recipe(policy), tmp_path, quiet, launch=launch_on(cluster))
    assert_same_policy(tmp_path, alone)
    assert rows(tmp_path) == rows(alone)


@pytest.mark.slow
def test_a_killed_driver_is_resumed_by_the_same_command(
    policy: Path, alone: Path, tmp_path: Path
) -> None:
    changes = {**CHANGES, "policy.checkpoint": str(policy), "cluster.workers": 0}
    settings = [
        part for name, value in changes.items() for part in ("--set", f"{name}={toml(value)}")
    ]
    main = "from hexathlon_cli import main; main()"
    command = [sys.executable, "-c", main, "train", "sql-tiny", *settings]
    command += ["--cluster", "auto", "--out", str(tmp_path / "run")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    run = tmp_path / "run"
    try:
        wait_for_files(tmp_path, lambda: list(run.glob("states/0*1")), process, DEADLINE)
    finally:
        process.kill()
        process.wait()
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    assert "mean reward on 1 unseen tasks" in done.stdout
    assert_same_policy(tmp_path / "run", alone)
    assert rows(tmp_path / "run") == rows(alone)


def toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(inner)}" for name, inner in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)


@pytest.mark.slow
@pytest.mark.parametrize("event", EVENTS)
def test_the_recipe_of_every_event_makes_a_step(
    cluster: RayCluster, policy: Path, tmp_path: Path, event: str
) -> None:
    changes = {
        **{name: value for name, value in CHANGES.items() if not name.startswith("tasks.")},
        "policy.checkpoint": str(policy),
        "steps": 1,
        "ranks": 2,
        "clone.demonstrations": 0,
        "credit.shapings": [],
        "cluster.engines": 2,
        "cluster.workers": 4,
    }
    changed = load_recipe(f"{event}-tiny", changes)
    train(changed, tmp_path, quiet, launch=launch_on(cluster))
    row = read_metrics(tmp_path / "metrics.jsonl")[-1]
    assert row["step"] == 1
    assert row["tokens/drawn"] > 0
    assert row["trials/faults"] == 0
    assert 0 < row["engine/difference"] < 1e-4


def test_a_folder_that_ranks_do_not_see_is_named(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    from hexathlon.baselines.cluster.connect import ClusterError

    tmp_path.joinpath("run").mkdir()
    with pytest.raises(ClusterError, match="file system that all learner ranks share"):
        launch_on(cluster)(recipe(policy), tmp_path / "run", quiet, ())


def test_urls_and_workers_are_refused_together(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    from hexathlon.baselines.cluster.backend import ClusterBackend

    changed = recipe(policy, engine__kind="vllm", engine__urls=["http://localhost:1"])
    backend = ClusterBackend(cluster, changed.cluster)
    with pytest.raises(EngineError, match="cluster.workers = 0"):
        asyncio.run(backend.open_engine(changed, None, policy, tmp_path))
