"""Rollouts on two Ray nodes, each a set of processes with resources of its own.

Run as a script, it starts the nodes, plays, kills one node and continues to play; it prints the
events as JSON. It runs in a process of its own, since a process can connect to only one cluster at
a time.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"] = ".*"
# A lost node is detected after a few of these; the default takes half a minute.
os.environ["RAY_health_check_period_ms"] = "500"
os.environ["RAY_health_check_failure_threshold"] = "3"

from ray.cluster_utils import Cluster as Nodes

from hexathlon.baselines.cluster.connect import connect
from hexathlon.baselines.cluster.executor import RayExecutor
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.rollout.executor import Outcome, Request
from hexathlon.baselines.rollout.pools import WorkersTable
from hexathlon.tasks.taskset import TaskSet
from support.events import TOY, register_toy
from support.gated_toys import Gate, GatedToys, oracle
from support.resuming import record_bytes
from support.watching import files_written

DEADLINE = 240.0
MEMORY = 80 * 2**20


async def played(
    fleet: Fleet, nodes: Nodes, second: Any, gate: Gate, lost: asyncio.Event
) -> list[Outcome]:
    ids = list(TaskSet("toy", "test", None).ids(6))
    run = asyncio.create_task(
        RayExecutor(fleet, oracle).run([Request((TOY, i, 3, 0)) for i in ids])
    )
    async with asyncio.timeout(DEADLINE):
        await files_written(gate.folder, lambda: len(list(gate.folder.glob("reached-1-*"))) == 2)
        for raylet in second.all_processes["raylet"]:
            raylet.process.kill()
        nodes.add_node(num_cpus=2, resources={"toy_place": 2}, object_store_memory=MEMORY)
        while fleet.losses.workers < 2:
            await lost.wait()
            lost.clear()
        gate.open()
        return await run


def main(folder: str) -> None:
    register_toy()
    gate, reports, lost = Gate(Path(folder)), list[str](), asyncio.Event()

    def report(line: str) -> None:
        reports.append(line)
        lost.set()

    nodes = Nodes()
    try:
        nodes.add_node(
            num_cpus=1, object_store_memory=MEMORY, include_dashboard=False, dashboard_port=None
        )
        second = nodes.add_node(num_cpus=2, resources={"toy_place": 2}, object_store_memory=MEMORY)
        with connect(nodes.address, within=DEADLINE) as cluster:
            names = {
                node.name: "toy_place" in node.resources for node in cluster.nodes() if node.alive
            }
            pool = {"families": ["toy"], "workers": 2, "slots": 1, "resources": {"toy_place": 1}}
            table = WorkersTable.model_validate({"pools": {"toys": pool}})
            with Fleet(cluster, table, GatedToys(folder), report=report) as fleet:
                outcomes = asyncio.run(played(fleet, nodes, second, gate, lost))
                places = [line.rpartition(" ")[2] for line in reports if "is ready" in line]
            told = {
                "nodes": sorted(names.values()),
                "first_workers_in_place": [names.get(place) for place in places[:2]],
                "later_workers_elsewhere": [place not in names for place in places[2:]],
                "lost": fleet.losses.workers,
                "replayed": fleet.losses.replayed,
                "records": [record_bytes(outcome).decode() for outcome in outcomes],
            }
    finally:
        nodes.shutdown()
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
