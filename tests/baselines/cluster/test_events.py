"""One recipe file with all six events trains the same policy wherever it runs.

Two Ray nodes are in `test_network.py`.
"""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("ray", reason="pip install 'hexathlon[cluster]'")

from safetensors.torch import load_file

from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.learners import launch_on
from hexathlon.baselines.cluster.log import LOG_FILE
from hexathlon.baselines.engines.served.server import INTERPRETER
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.baselines.training.run import train
from support.served import interpreter, sharp_policy
from support.six_events import EVENTS, six_events

TOLERANCE = 1e-4
"""Of a server's log-probabilities in single precision; a training step changes more."""


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("policy") / "policy")


def trained(recipe: Path, out: Path, cluster: RayCluster | None = None, **changes: Any) -> Path:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    launch = {} if cluster is None else {"launch": launch_on(cluster)}
    train(load_recipe(str(recipe), named), out, lambda *report: None, **launch)
    return out


def weights(folder: Path) -> dict[str, Any]:
    return load_file(folder / "model.safetensors")


def rows(run: Path) -> list[dict[str, float]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds/")}
        for row in read_metrics(run / "metrics.jsonl")
    ]


def assert_complete(run: Path, steps: int) -> None:
    """Every step has rollouts of every event, none of which failed."""
    made = [row for row in rows(run) if row["step"]]
    assert [row["step"] for row in made] == list(range(1, steps + 1))
    for row in made:
        assert row["trials/faults"] == 0
        assert {name for name in row if name.startswith("reward/")} == {
            f"reward/{event}-tiny" for event in EVENTS
        }
        assert row["tokens/drawn"] > 0


def test_a_cluster_trains_the_bits_of_one_process(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    recipe = six_events(tmp_path / "recipe.toml", policy, members=1, engines=2, workers=2)
    here = trained(recipe, tmp_path / "here")
    there = trained(recipe, tmp_path / "there", cluster)
    assert_complete(there, 1)
    assert rows(there) == rows(here)
    start, one, other = weights(policy), weights(here / "policy"), weights(there / "policy")
    assert one.keys() == other.keys() == start.keys()
    assert all(torch.equal(other[name], weight) for name, weight in one.items())
    assert not all(torch.equal(start[name], weight) for name, weight in one.items())
    notes = (there / LOG_FILE).read_text()
    assert "1 ranks started" in notes and "2 engine replicas started" in notes


@pytest.mark.slow
def test_two_ranks_two_engines_and_four_workers_train_the_policy_of_one_process(
    cluster: RayCluster, policy: Path, tmp_path: Path
) -> None:
    """Two ranks sum gradients in another order than one, so bits differ between them."""
    layout = {"steps": 2, "engines": 2, "workers": 4}
    single = six_events(tmp_path / "single.toml", policy, **layout)
    double = six_events(tmp_path / "double.toml", policy, **layout, ranks=2)
    here = trained(single, tmp_path / "here")
    there = trained(double, tmp_path / "there", cluster)
    assert_complete(there, 2)
    one, other = weights(here / "policy"), weights(there / "policy")
    assert max(float((one[name] - other[name]).abs().max()) for name in one) <= 2e-5


@pytest.mark.slow
@pytest.mark.vllm
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("place", "transfer"), [("process", "folder"), ("cluster", "folder"), ("cluster", "gloo")]
)
def test_vllm_servers_sample_every_event(
    place: str,
    transfer: str,
    policy: Path,
    tmp_path: Path,
    request: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same file with `engine.kind` as the only change; every update is verified."""
    monkeypatch.setenv(INTERPRETER, str(interpreter()))
    cluster = request.getfixturevalue("cluster") if place == "cluster" else None
    recipe = six_events(tmp_path / "recipe.toml", policy, steps=2, members=1, workers=2)
    changes = {"engine__kind": "vllm", "engine__invariant": False, "engine__ready_within": 900}
    changes |= {"engine__tolerance": TOLERANCE, "cluster__start_within": 900}
    changes |= {"engine__transfer": transfer}
    run = trained(recipe, tmp_path / "run", cluster, **changes)
    assert_complete(run, 2)
    for row in read_metrics(run / "metrics.jsonl")[1:3]:
        assert 0 < row["engine/difference"] <= TOLERANCE
        assert row["sampler_gap"] <= TOLERANCE
