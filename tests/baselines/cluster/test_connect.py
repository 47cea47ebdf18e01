"""Addresses, versions and deadlines of a connection."""

import socket
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster import connect as connecting
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster, connect
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.errors import ExitCode, UsageError
from hexathlon.baselines.rollout.pools import WorkersTable
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.baselines.training.recipe_files import RecipeError


@pytest.mark.parametrize(
    "address", ["", "here", "127.0.0.1", "http://127.0.0.1:80", "ray://", "127.0.0.1:port"]
)
def test_a_malformed_address_gives_the_expected_forms(address: str) -> None:
    with pytest.raises(ClusterError, match="must be auto, HOST:PORT or ray://HOST:PORT"):
        connect(address)


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_unreachable_address_is_reported(scheme: str) -> None:
    with socket.socket() as taken:  # bound, so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{taken.getsockname()[1]}"
        expected = f"no cluster answers at {address}.*refused"
        with pytest.raises(ClusterError, match=expected) as caught:
            connect(address)
    assert caught.value.code is ExitCode.UNAVAILABLE


def test_a_server_that_is_not_a_cluster_is_abandoned_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match="did not answer as a Ray cluster within 1 s"):
            connect(address, within=1.0)


@pytest.mark.parametrize("demands", [True, False])
def test_a_token_is_sent_to_clusters_that_demand_it(
    demands: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def complaint(address: str, within: float, settings: dict[str, str]) -> str:
        sent = settings.get("RAY_AUTH_MODE") == "token"
        return "Unauthenticated" if demands and not sent else ""

    monkeypatch.setattr(connecting, "_unhealthy", complaint)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert connecting._require_answer(address, 10.0) is demands
        if demands:
            monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # the user's choice
            with pytest.raises(ClusterError, match="not a healthy Ray cluster: Unauthenticated"):
                connecting._require_answer(address, 10.0)


def test_a_missing_ray_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"pip install 'hexathlon\[cluster\]'"):
        connect("auto")


def test_mismatched_versions_are_named() -> None:
    error = RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.1\n")
    text = connecting._explained("host:6379", error)
    assert "the cluster at host:6379 does not run the versions" in text and "Ray: 2.1" in text


def test_a_start_that_times_out_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    said = ["The current node timed out during startup.", "There is no memory left."]

    def fail(**_: object) -> None:
        raise RuntimeError(said[len(list(tmp_path.iterdir())) - 1])

    monkeypatch.setattr(connecting, "_PLACE", tmp_path)
    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(ClusterError, match="could not start on this machine: There is no memory"):
        connecting._started(2, {})
    assert len(list(tmp_path.iterdir())) == 2


def test_a_second_connection_is_refused(cluster: RayCluster) -> None:
    with pytest.raises(ClusterError, match="already connected to a cluster"):
        connect("auto")


def test_nodes_and_resources(cluster: RayCluster) -> None:
    (node,) = cluster.nodes()
    assert node.alive and node.resources["toys"] == 8.0
    assert cluster.resources()["CPU"] >= 16.0 and cluster.local


def test_leftovers_of_killed_processes_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "_PLACE", tmp_path)
    dead, living = tmp_path / "hexathlon-ray-999999999-a", tmp_path / "hexathlon-ray-1-b"
    for folder in (dead, living):
        folder.mkdir()
    connecting._remove_leftovers()
    assert not dead.exists() and living.exists()


FLAGS = {"model": "agent:oracle", "envs": ("SQL",)}


def test_flags_come_before_the_table_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'model = "agent:oracle"\nenvs = ["SQL"]\n[cluster]\naddress = "host:6379"\nworkers = 3\n'
        '[cluster.pools.browsers]\nfamilies = ["web"]\nresources = { browser = 1 }\n'
    )
    table = load_config({}, file)[1].cluster
    assert table is not None and (table.address, table.workers) == ("host:6379", 3)
    assert table.pool_of("web") == "browsers" and table.pool_of("sql") == "workers"
    more = {"cluster": "auto", "workers": 4, "pool": ['shop={families=["shopping"], workers=2}']}
    table = load_config(more, file)[1].cluster
    assert table is not None and (table.address, table.workers) == ("auto", 4)
    assert set(table.all_pools()) == {"browsers", "shop", "workers"}
    assert load_config({"cluster": "none"}, file)[1].cluster is None


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"slots": 2}, "need --cluster ADDRESS"),
        ({"cluster": "auto", "workers": -1}, "cluster.workers must be at least 1"),
        ({"cluster": "auto", "pool": ["browsers"]}, "--pool must be NAME={SETTINGS} in TOML"),
        ({"cluster": "auto", "pool": ["a={workers=2}"]}, "pools.a.families is empty"),
        (
            {"cluster": "auto", "pool": ['a={families=["web"]}', 'b={families=["web"]}']},
            "family 'web' is in two pools, a and b",
        ),
        ({"cluster": "auto", "pool": ['a={families=["web"], cores=2}']}, "cores"),
    ],
)
def test_wrong_settings_are_named(flags: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_config({**FLAGS, **flags})


def test_engine_pools_reserve_their_resources_and_are_checked() -> None:
    place = {"cpus": 2, "resources": {"prefill": 1}}
    pages = {"families": ["web"], "engines": 3, "place": place, "more": ["--max-num-seqs=8"]}
    changes = {"cluster.engine_pools": {"pages": pages}}
    recipe = load_recipe("sql-tiny", {**changes, "engine.kind": "vllm"})
    plain = load_recipe("sql-tiny")
    assert recipe.cluster.resources_in_all(1) == {"prefill": 3}
    assert recipe.cluster.cpus_in_all(1) == plain.cluster.cpus_in_all(1) + 6
    with pytest.raises(RecipeError, match=r"engine_pools.pages.more has arguments for servers"):
        load_recipe("sql-tiny", changes)
    both = {"pages": pages, "others": {"families": ["gui", "web"]}}
    with pytest.raises(RecipeError, match="the family 'web' is in two engine pools"):
        load_recipe("sql-tiny", {"cluster.engine_pools": both})


def test_a_bundle_names_its_resources() -> None:
    pool = {"families": ["web"], "cpus": 2, "gpus": 1, "memory_gib": 1, "resources": {"browser": 1}}
    table = WorkersTable.model_validate({"pools": {"web": pool}})
    assert table.pools["web"].bundle() == {"CPU": 2, "GPU": 1, "memory": 2**30, "browser": 1}
    assert table.all_pools()["workers"].bundle() == {"CPU": 1}
