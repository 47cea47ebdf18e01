"""The files of the guide on clusters: recipes load, the script parses, the manifest is a RayJob."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
yaml = pytest.importorskip("yaml")

from hexathlon.baselines.training.recipe import load_recipe

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides"
FILES = GUIDE / "cluster"


@pytest.mark.parametrize(
    ("name", "gpus"), [("one-gpu", 1), ("eight-gpus", 8), ("several-nodes", 16)]
)
def test_recipes_load_and_reserve_their_gpus(name: str, gpus: int) -> None:
    recipe = load_recipe(str(FILES / f"{name}.toml"))
    table = recipe.cluster
    assert recipe.name == name
    assert recipe.ranks * table.rank.gpus + table.engines * table.engine.gpus == gpus
    slots = sum(pool.workers * pool.slots for pool in table.all_pools().values())
    assert slots >= recipe.rollout.concurrency


def test_requested_resources_are_declared() -> None:
    recipe = load_recipe(str(FILES / "several-nodes.toml"))
    wanted = recipe.cluster.resources_in_all(recipe.ranks)
    offers = (FILES / "several-nodes.toml").read_text().split("[[tasks]]")[0]
    declared = [json.loads(offer) for offer in re.findall(r"--resources '(\{.*?\})'", offers)]
    assert wanted == {"learner": 8, "engine": 8, "environments": 32, "browsers": 8}
    for name, amount in wanted.items():
        assert sum(offer.get(name, 0) for offer in declared) >= amount


def test_the_shell_parses_the_slurm_script() -> None:
    script = FILES / "slurm.sh"
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=60)
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "usage: sbatch slurm.sh RECIPE.toml SHARED_RUN_FOLDER" in done.stderr


def test_the_manifest_is_a_ray_job() -> None:
    job = yaml.safe_load((FILES / "kuberay.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    command, cluster = shlex.split(job["spec"]["entrypoint"]), job["spec"]["rayClusterSpec"]
    assert command[:2] == ["hexathlon", "train"]
    assert "--cluster" in command
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    declared: dict[str, int] = {}
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        volumes = {volume["name"] for volume in group["template"]["spec"]["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert container["resources"]["limits"] == container["resources"]["requests"]
        # Ray's flag is JSON inside quotes for the shell of the container.
        for name, amount in json.loads(json.loads(group["rayStartParams"]["resources"])).items():
            declared[name] = declared.get(name, 0) + amount * group.get("replicas", 1)
    recipe = load_recipe(str(FILES / "several-nodes.toml"))
    for name, amount in recipe.cluster.resources_in_all(recipe.ranks).items():
        assert declared[name] >= amount


def test_the_guide_links_every_file() -> None:
    linked = set(re.findall(r"\(cluster/([\w.-]+)\)", (GUIDE / "clusters.md").read_text()))
    assert linked == {path.name for path in FILES.iterdir()}
