"""Evaluation on a cluster: the records equal those of a single process, whatever is killed."""

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.evaluation import LOG_FILE, ClusterPlayers, workers_for
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.errors import CommandError, UsageError
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.run import RunOutcome, evaluate, resume
from hexathlon.baselines.harness.tokens import TOKENS_FILE
from hexathlon.evaluators.records import check_chain
from hexathlon.evaluators.records.plan import read_plan
from support.chat_server import ChatServer
from support.disks import largest_file
from support.events import records
from support.policies import untrained_policy
from support.watching import wait_for_files

DEADLINE = 240.0


def played(run: Path, cluster: RayCluster | None = None, **flags: Any) -> RunOutcome:
    """Evaluate here, or with two workers of a cluster."""
    progress = flags.pop("progress", None)
    settings = {"model": "agent:oracle", "envs": ("SQL",), "level": "tiny", "fsync": "never"}
    if cluster is not None:
        settings["cluster"] = {"address": "auto", "workers": 2, **flags.pop("table", {})}
    open_players = None if cluster is None else partial(workers_for, cluster=cluster)
    plan, execution = load_config({**settings, **flags})
    return evaluate(plan, execution, run, open_players=open_players, progress=progress)


def without_timing(run: Path) -> list[dict[str, Any]]:
    """Return a run's records, after checking their hash chain."""
    assert check_chain(run, read_plan(run)["plan_hash"]) == []
    return [{**record, "timing": None} for record in records(run)]


def test_records_equal_those_of_one_process(cluster: RayCluster, tmp_path: Path) -> None:
    flags = {"model": "agent:random", "envs": ("SQL", "Shopping", "RolePlay"), "tasks": 6}
    played(tmp_path / "here", **flags)
    outcome = played(tmp_path / "there", cluster, **flags)
    assert (outcome.played, outcome.recorded) == (18, 18)
    # The records include their hashes, which cover everything but the timing.
    assert without_timing(tmp_path / "there") == without_timing(tmp_path / "here")
    assert read_plan(tmp_path / "there")["execution"]["cluster"]["workers"] == 2


def test_workers_of_a_built_in_agent_play_one_trial_at_a_time(
    cluster: RayCluster, tmp_path: Path
) -> None:
    """Trials in turn would evict each other's databases; other agents have `concurrency` trials."""
    capacities: list[int] = []

    @contextmanager
    def noted(setup: RemoteSetup) -> Iterator[ClusterPlayers]:
        with workers_for(setup, cluster) as players:
            capacities.append(players.fleet.capacity)
            yield players

    for name, table in (("default", {}), ("chosen", {"slots": 3})):
        plan, execution = load_config({
            "model": "agent:noop", "envs": ("SQL",), "level": "tiny", "tasks": 2,
            "concurrency": 8, "cluster": {"address": "auto", "workers": 2, **table},
        })  # fmt: skip
        evaluate(plan, execution, tmp_path / name, open_players=noted)
    assert capacities == [2, 6]


class Killing(Progress):
    """Kills a worker of the run after its first record."""

    def __init__(self, run: Path, total: int) -> None:
        super().__init__("killing", total)
        self._log = run / LOG_FILE
        self.killed = 0

    def advance(self, note: str = "") -> None:
        super().advance(note)
        if not self.killed:
            self.killed = int(re.findall(r"process (\d+)", self._log.read_text())[0])
            os.kill(self.killed, signal.SIGKILL)


def test_a_killed_worker_changes_no_record(cluster: RayCluster, tmp_path: Path) -> None:
    there = tmp_path / "there"
    with Killing(there, 200) as progress:
        played(there, cluster, tasks=100, trials=2, progress=progress)
    lines = (there / LOG_FILE).read_text().splitlines()
    assert [line for line in lines if f"process {progress.killed}, was lost" in line]
    played(tmp_path / "here", tasks=100, trials=2)
    assert without_timing(there) == without_timing(tmp_path / "here")


def test_a_full_disk_stops_by_name_and_loses_nothing(cluster: RayCluster, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    played(here, tasks=40)
    with largest_file(here.joinpath("records.jsonl").stat().st_size // 2):
        with pytest.raises(CommandError, match=r"the run stopped: .*; fix this, then resume it"):
            played(there, cluster, tasks=40)
    before = len(without_timing(there))
    assert 0 < before < 40
    _, execution = load_config({**read_plan(there)["execution"], "model": "", "envs": ("",)})
    outcome = resume(there, execution, partial(workers_for, cluster=cluster))
    assert (outcome.recorded, outcome.played, outcome.torn) == (40, 40 - before, 0)
    assert without_timing(there) == without_timing(here)


def processes_of(owner: int) -> Iterator[int]:
    """Yield the processes whose command line names Ray's folder of a process."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes()
        except OSError:
            continue
        if f"/hexathlon-ray-{owner}-".encode() in command:
            yield int(entry.parent.name)


def wait_for_ends(processes: list[int]) -> None:
    """Wait until processes that this one did not start have ended."""
    for pid in processes:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([descriptor], [], [], DEADLINE)
        os.close(descriptor)
        assert ended, f"process {pid} outlives the command"


def test_a_killed_command_is_resumed_and_leaves_no_process(
    cluster: RayCluster, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    flags = ("--envs", "SQL", "--level", "tiny", "--tasks", "100", "--trials", "4")
    command = subprocess.Popen(
        [
            sys.executable, "-c", "from hexathlon_cli import main; main()", "eval",
            "agent:oracle", *flags,
            "--cluster", "auto", "--fsync", "never", "--out", str(there),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    file = there / "records.jsonl"
    try:
        wait_for_files(
            tmp_path, lambda: file.exists() and file.read_bytes().count(b"\n") >= 3, command
        )
        started = list(processes_of(command.pid))
        assert started
    finally:
        command.kill()
        command.communicate()
    wait_for_ends(started)
    assert not list(processes_of(command.pid))
    before = len(without_timing(there))
    assert 3 <= before < 400
    plan = read_plan(there)
    _, execution = load_config({**plan["execution"], "model": "", "envs": ("",)})
    outcome = resume(there, execution, partial(workers_for, cluster=cluster))
    assert (outcome.recorded, outcome.played) == (400, 400 - before)
    written = without_timing(there)
    keys = [tuple(record["key"].values()) for record in written]
    assert len(set(keys)) == 400
    ordered = [
        (key["env"], key["task"], key["seed"], key["trial"])
        for key in (record["key"] for record in written)
    ]
    assert ordered == [tuple(key) for key in plan["keys"]]


def test_a_budget_stops_the_run(
    cluster: RayCluster, chat_server: ChatServer, tmp_path: Path
) -> None:
    flags = {
        "model": f"endpoint:{chat_server.url}#solver", "dialect": "json", "tasks": 60,
        "limit_turns": 1, "max_tokens": 1, "table": {"slots": 1},
    }  # fmt: skip
    outcome = played(tmp_path / "run", cluster, **flags)
    assert outcome.stopped is not None and outcome.stopped.startswith("--max-tokens")
    # Trials under way when the first record arrived are recorded, too.
    assert 1 <= outcome.recorded <= 6


def test_a_checkpoint_plays_with_its_tokens(cluster: RayCluster, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")
    policy = str(untrained_policy(tmp_path / "policy", context=2048))
    flags = {
        "model": policy, "tasks": 4, "max_reply_tokens": 8, "limit_turns": 2, "concurrency": 1,
        "keep_tokens": True,
    }  # fmt: skip
    played(tmp_path / "here", **flags)
    played(tmp_path / "there", cluster, **flags)
    assert without_timing(tmp_path / "there") == without_timing(tmp_path / "here")
    here, there = ((tmp_path / name / TOKENS_FILE).read_bytes() for name in ("here", "there"))
    assert there == here


def test_an_endpoint_is_asked_by_the_workers(
    cluster: RayCluster,
    chat_server: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags = {
        "model": f"endpoint:{chat_server.url}#solver", "dialect": "json", "tasks": 3,
        "limit_turns": 2,
    }  # fmt: skip
    outcome = played(tmp_path / "run", cluster, **flags)
    assert outcome.recorded == 3
    assert {record["status"] for record in records(tmp_path / "run")} == {"scored"}
    monkeypatch.setenv("MY_KEY", "secret")
    with pytest.raises(UsageError, match="MY_KEY is set in this process but not in the workers"):
        played(tmp_path / "keyed", cluster, **flags, api_key_env="MY_KEY")
    for file in tmp_path.glob("keyed/*"):
        assert b"secret" not in file.read_bytes()
