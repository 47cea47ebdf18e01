"""One recipe file in a single process, and on two nodes in network namespaces of their own."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("ray", reason="pip install 'hexathlon[cluster]'")

from safetensors.torch import load_file

from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.baselines.training.run import train
from support import network_nodes
from support.network_nodes import NetworkNodes
from support.served import sharp_policy
from support.six_events import placed_recipe, six_events
from support.watching import wait_for_files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TASKS = """
[tasks]
env = "hexathlon/SQL-v1"
source = "sql"
level = "tiny"
templates = ["filter_rows", "count_rows"]
turns = 2
"""
APART = """
rank = { resources = { learners = 1 } }
engine = { resources = { engines = 1 } }
pools.players = { families = ["sql"], workers = 2, resources = { environments = 1 } }
"""
APART_ALL = """
rank = { resources = { learners = 1 } }
engine = { resources = { engines = 1 } }
pools.workers = { workers = 2, resources = { environments = 1 } }
"""
MIXED = "rank = { resources = { mixed = 1 } }"
FIRST = '{"learners": 2, "mixed": 1}'
SECOND = '{"engines": 2, "environments": 4, "mixed": 1}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network")
    sharp_policy(path / "policy")
    return path


@pytest.fixture(scope="module")
def nodes(folder: Path) -> Iterator[NetworkNodes]:
    if why := network_nodes.missing():
        pytest.skip(why)
    with network_nodes.network_nodes(folder, FIRST, SECOND) as started:
        yield started


def written(folder: Path, name: str, **values: Any) -> Path:
    return placed_recipe(
        folder / f"{name}.toml", folder / "policy", TASKS, **{"steps": 2, **values}
    )


def command(nodes: NetworkNodes, recipe: Path, out: Path) -> list[str | Path]:
    main = "from hexathlon_cli import main; main()"
    words = ["train", recipe, "--cluster", nodes.address, "--out", out]
    return [sys.executable, "-c", main, *words]


def trained_on(nodes: NetworkNodes, recipe: Path, out: Path, unseen: int = 1) -> None:
    done = nodes.run(*command(nodes, recipe, out), timeout=800)
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"mean reward on {unseen} unseen tasks" in done.stdout


def trained_here(recipe: Path, out: Path) -> None:
    train(load_recipe(str(recipe)), out, lambda *report: None)


def weights(run: Path) -> dict[str, Any]:
    return load_file(run / "policy" / "model.safetensors")


def rows(run: Path) -> list[dict[str, float]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds/")}
        for row in read_metrics(run / "metrics.jsonl")
    ]


def test_a_recipe_gives_the_bits_of_one_process_on_two_nodes(
    nodes: NetworkNodes, folder: Path
) -> None:
    """The learner is on the first node, engine and environments on the second."""
    recipe = written(folder, "apart", ranks=1, engines=1, workers=1, places=APART)
    trained_on(nodes, recipe, folder / "apart-nodes")
    trained_here(recipe, folder / "apart-here")
    there, here = weights(folder / "apart-nodes"), weights(folder / "apart-here")
    assert all(torch.equal(there[name], weight) for name, weight in here.items())
    assert rows(folder / "apart-nodes") == rows(folder / "apart-here")
    start = load_file(folder / "policy" / "model.safetensors")
    assert not all(torch.equal(start[name], weight) for name, weight in here.items())


def test_all_six_events_give_the_bits_of_one_process_on_two_nodes(
    nodes: NetworkNodes, folder: Path
) -> None:
    layout = {"members": 1, "engines": 1, "workers": 1, "places": APART_ALL}
    recipe = six_events(folder / "events.toml", folder / "policy", **layout)
    trained_on(nodes, recipe, folder / "events-nodes", unseen=6)
    trained_here(recipe, folder / "events-here")
    there, here = weights(folder / "events-nodes"), weights(folder / "events-here")
    assert all(torch.equal(there[name], weight) for name, weight in here.items())
    assert rows(folder / "events-nodes") == rows(folder / "events-here")
    assert sum(name.startswith("reward/") for name in rows(folder / "events-here")[1]) == 6


def test_ranks_and_engines_on_both_nodes_train_the_policy_of_one_machine(
    nodes: NetworkNodes, folder: Path
) -> None:
    """Each node has a learner rank, an engine and two workers; gradients cross the network."""
    recipe = written(folder, "mixed", ranks=2, engines=2, workers=4, places=MIXED)
    trained_on(nodes, recipe, folder / "mixed-nodes")
    trained_here(recipe, folder / "mixed-here")
    there, here = weights(folder / "mixed-nodes"), weights(folder / "mixed-here")
    assert max(float((there[name] - here[name]).abs().max()) for name in here) <= 1e-5


def test_a_lost_node_is_replaced_and_nothing_else_changes(
    nodes: NetworkNodes, folder: Path
) -> None:
    """The engine and all environments are on the node that is killed after the first step."""
    recipe = written(folder, "lost", ranks=1, engines=1, workers=1, places=APART, steps=3)
    out = folder / "lost-nodes"
    with ThreadPoolExecutor(1) as thread:
        training = thread.submit(trained_on, nodes, recipe, out)
        training.add_done_callback(lambda _: (folder / "trained").touch())
        wait_for_files(folder, lambda: training.done() or list(out.glob("states/0*1")), None, 800)
        assert not training.done(), training.result()
        nodes.kill(1)
        nodes.start(1)
        training.result()
    assert "was lost" in (out / "cluster.log").read_text()
    trained_here(recipe, folder / "lost-here")
    there, here = weights(out), weights(folder / "lost-here")
    assert all(torch.equal(there[name], weight) for name, weight in here.items())
    assert rows(out) == rows(folder / "lost-here")
