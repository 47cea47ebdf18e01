"""Rollouts on a real local cluster: order, pools, and lost workers."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.agents.base import AgentMismatch
from hexathlon.baselines.agents.scripted import ScriptedAgent
from hexathlon.baselines.agents.trivial import RandomAgent
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.executor import RayExecutor
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.cluster.pools import reserve
from hexathlon.baselines.rollout.executor import LocalExecutor, Outcome, Request
from hexathlon.baselines.rollout.pools import WorkersTable
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.rollout.rollout import FatalError
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.tasks.taskset import TaskSet
from support.events import TOY
from support.gated_toys import Gate, GatedToys, Patient, oracle
from support.resuming import record_bytes

DEADLINE = 240.0
IDS = list(TaskSet("toy", "test", None).ids(40))


def request(index: int, **settings: Any) -> Request:
    return Request((TOY, IDS[index], 3, 0), **settings)


def here(requests: list[Request], tells: GatedToys | None = None) -> list[bytes]:
    """Play in this process."""
    executor = LocalExecutor(ScriptedAgent("oracle"), tells or GatedToys(), 1)
    return recorded(asyncio.run(executor.run(requests)))


def recorded(outcomes: list[Outcome]) -> list[bytes]:
    return [record_bytes(outcome) for outcome in outcomes if isinstance(outcome, Trajectory)]


async def until(met: Callable[[], bool], what: str) -> None:
    async with asyncio.timeout(DEADLINE):
        while not met():
            await asyncio.sleep(0.01)


def play(work: Awaitable[Any]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(work, DEADLINE)

    return asyncio.run(bounded())


def test_outcomes_and_their_order_are_those_of_one_process(cluster: RayCluster) -> None:
    requests = [request(n) for n in range(40)] + [request(n, agent="agent:random") for n in (1, 2)]
    with Fleet(cluster, WorkersTable(workers=2), GatedToys()) as fleet:
        executor = RayExecutor(fleet, oracle)

        async def both() -> tuple[list[Outcome], list[Outcome]]:
            streamed = [outcome async for outcome in executor.stream(iter(requests))]
            overlapping = await asyncio.gather(*(executor.run([one]) for one in requests[:9]))
            return streamed, [outcome for (outcome,) in overlapping]

        streamed, overlapping = play(both())
        # The first worker may have played everything before the second one was ready.
        assert fleet.processes and os.getpid() not in fleet.processes.values()
    expected = here(requests)
    assert recorded(streamed) == expected
    assert recorded(overlapping) == expected[:9]
    assert fleet.losses.workers == 0


def test_executors_with_different_agents_share_workers(cluster: RayCluster) -> None:
    with Fleet(cluster, WorkersTable(workers=1), GatedToys()) as fleet:
        executors = RayExecutor(fleet, oracle), RayExecutor(fleet, lambda number: RandomAgent())

        async def both() -> list[list[Outcome]]:
            return await asyncio.gather(*(one.run([request(5)]) for one in executors))

        (solved,), (guessed,) = play(both())
        assert len(fleet.processes) == 1
    assert isinstance(solved, Trajectory) and solved.record["reward"] == 1.0
    assert [record_bytes(guessed)] == here([request(5, agent="agent:random")])


@pytest.mark.parametrize("tells_process", [False, True])
def test_rollouts_of_a_killed_worker_continue_from_recorded_turns(
    cluster: RayCluster, tmp_path: Path, tells_process: bool
) -> None:
    gate, wanted = Gate(tmp_path), [request(0), request(1)]
    toys = GatedToys(str(tmp_path), tells_process)
    with Fleet(cluster, WorkersTable(workers=1, slots=1), toys) as fleet:

        async def killed() -> list[Outcome]:
            run = asyncio.create_task(RayExecutor(fleet, oracle).run(wanted))
            gate.open(1)
            # The second turn is recorded, since progress was requested after the first.
            await until(lambda: fleet.turns >= 1 and gate.reached(2), "a turn")
            gate.open(2)
            await until(lambda: max(fleet.recorded.values(), default=0) >= 2, "a recorded turn")
            (pid,) = fleet.processes.values()
            os.kill(pid, signal.SIGKILL)
            gate.open()
            return await run

        outcomes = play(killed())
    assert fleet.losses.workers == 1
    if tells_process:  # the replay in another process differs, so nothing recorded can be used
        assert [outcome.record["reward"] for outcome in outcomes] == [1.0, 1.0]
        assert fleet.losses.differed == 1
    else:
        assert recorded(outcomes) == here(wanted)
        assert (fleet.losses.resumed, fleet.losses.replayed, fleet.losses.differed) == (1, 0, 0)


def test_rollouts_without_recorded_turns_restart(cluster: RayCluster, tmp_path: Path) -> None:
    gate, wanted = Gate(tmp_path), [request(0), request(1), request(2)]
    with Fleet(cluster, WorkersTable(workers=2, slots=1), GatedToys(str(tmp_path))) as fleet:

        async def killed() -> list[Outcome]:
            run = asyncio.create_task(RayExecutor(fleet, oracle).run(wanted))
            await until(lambda: len(list(tmp_path.glob("reached-1-*"))) == 2, "two rollouts")
            os.kill(next(iter(fleet.processes.values())), signal.SIGKILL)
            await until(lambda: fleet.losses.workers == 1, "the loss")
            gate.open()
            return await run

        outcomes = play(killed())
        assert (fleet.losses.resumed, fleet.losses.replayed) == (0, 1)
    assert recorded(outcomes) == here(wanted)


def test_a_rollout_that_kills_its_workers_is_an_infrastructure_failure(cluster: RayCluster) -> None:
    wanted = [request(n) for n in range(8)]
    with Fleet(
        cluster,
        WorkersTable(workers=2, lives=3),
        GatedToys(deadly=IDS[4]),
        versions={TOY: "1"},
    ) as fleet:
        outcomes = play(RayExecutor(fleet, oracle).run(wanted))
        assert fleet.losses.given_up == 1
    expected = here(wanted)
    assert [record_bytes(one) for n, one in enumerate(outcomes) if n != 4] == [
        one for n, one in enumerate(expected) if n != 4
    ]
    record = outcomes[4].record
    assert (record["status"], record["cause"], record["reward"]) == ("infra", "env", None)
    assert "worker_lost: 3 workers in a row were lost" in record["error"]
    assert record["env_version"] == "1"


def test_a_silent_worker_is_replaced_by_name(cluster: RayCluster, tmp_path: Path) -> None:
    reports: list[str] = []
    table = WorkersTable(workers=1, slots=1, lives=1, silent_within=0.5)
    with Fleet(cluster, table, GatedToys(str(tmp_path)), report=reports.append) as fleet:
        (outcome,) = play(RayExecutor(fleet, oracle).run([request(0)]))
    assert "it finished no turn within 0 s" in outcome.record["error"]
    assert any("was lost: it finished no turn within" in line for line in reports)


def test_abort_returns_prefixes_from_which_others_continue(
    cluster: RayCluster, tmp_path: Path
) -> None:
    gate, wanted = Gate(tmp_path), [request(0), request(1), request(2)]
    with Fleet(cluster, WorkersTable(workers=2, slots=1), GatedToys()) as fleet:
        executor = RayExecutor(fleet, Patient(str(tmp_path)))

        async def aborted() -> tuple[list[Outcome], list[Outcome]]:
            run = asyncio.create_task(executor.run(wanted))
            gate.open(1)
            await until(lambda: len(list(tmp_path.glob("reached-2-*"))) == 2, "two rollouts")
            await executor.abort()
            gate.open()
            prefixes = await run
            rest = [
                one._replace(start=start)
                for one, start in zip(wanted, prefixes, strict=True)
                if isinstance(start, Prefix)
            ]
            return prefixes, await executor.run(rest)

        prefixes, outcomes = play(aborted())
    assert [prefix.turns for prefix in prefixes] == [2, 2, 0]
    assert recorded(outcomes) == here(wanted)


def test_a_cancelled_run_frees_its_slots(cluster: RayCluster, tmp_path: Path) -> None:
    shut, open_ = tmp_path / "shut", tmp_path / "open"
    for folder in (shut, open_):
        folder.mkdir()
    Gate(open_).open()
    with Fleet(cluster, WorkersTable(workers=1, slots=1), GatedToys()) as fleet:
        waiting = RayExecutor(fleet, Patient(str(shut)))

        async def cancelled() -> list[Outcome]:
            run = asyncio.create_task(waiting.run([request(0), request(1)]))
            await until(lambda: Gate(shut).reached(1), "a rollout")
            run.cancel()
            return await RayExecutor(fleet, Patient(str(open_))).run([request(2)])

        outcomes = play(cancelled())
        assert fleet.losses.workers == 0
    assert recorded(outcomes) == here([request(2)])


def test_an_error_common_to_all_rollouts_stops_the_run(cluster: RayCluster) -> None:
    with Fleet(cluster, WorkersTable(workers=1), GatedToys()) as fleet:
        executor = RayExecutor(fleet, lambda number: ScriptedAgent("nobody"))
        with pytest.raises(FatalError, match="no policy 'nobody'") as caught:
            play(executor.run([request(n) for n in range(4)]))
    assert isinstance(caught.value.__cause__, AgentMismatch)


def test_an_unplanned_version_stops_the_run(cluster: RayCluster) -> None:
    with Fleet(cluster, WorkersTable(workers=1), GatedToys(), versions={TOY: "2"}) as fleet:
        with pytest.raises(FatalError, match="has version 1 on .* planned with 2"):
            play(RayExecutor(fleet, oracle).run([request(0)]))


def test_families_play_in_their_pool(cluster: RayCluster) -> None:
    reports: list[str] = []
    pools = {"toys": {"families": ["toy"], "workers": 1, "resources": {"toys": 5}}}
    table = WorkersTable.model_validate({"pools": pools})
    with Fleet(cluster, table, GatedToys(), report=reports.append) as fleet:
        play(RayExecutor(fleet, oracle).run([request(0)]))
        # Its resource is reserved while the pool exists and released afterwards.
        with pytest.raises(ClusterError, match=r"pool 'more'.*needs toys 5 of 8"):
            reserve(cluster, [{"toys": 5}], name="more", within=0.5)
    assert len(reports) == 1 and reports[0].startswith("toys: worker 0")
    reserve(cluster, [{"toys": 5}], name="after", within=DEADLINE).release()


def test_a_pool_that_does_not_fit_names_the_missing_resources(cluster: RayCluster) -> None:
    pools = {"robots": {"families": ["toy"], "workers": 2, "resources": {"robot": 1}}}
    table = WorkersTable.model_validate({"pools": pools, "start_within": 0.5})
    with Fleet(cluster, table, GatedToys()) as fleet:
        with pytest.raises(ClusterError, match=r"'robots'.*CPU 2 of \d+, robot 2 of 0"):
            play(RayExecutor(fleet, oracle).run([request(0)]))
