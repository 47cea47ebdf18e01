"""Judges on a cluster decide as in one process, also after their process was killed."""

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.judges import TaskEngine, judging_on
from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Usage
from hexathlon.baselines.engines.errors import AuthRejected, ConnectionFailed, ReplyTimeout
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.audit.labelled import generate_labels
from hexathlon.evaluators.judges.labels import Decision
from support.judge_server import JudgeServer
from support.policies import untrained_policy

REQUEST = ChatRequest([{"role": "user", "content": "Count to 7."}])


class Mortal:
    """An engine whose process dies at its first questions.

    Args:
        folder: Counts the deaths.
        deaths: Number of deaths.
    """

    def __init__(self, folder: Path, deaths: int) -> None:
        self.folder, self.deaths = folder, deaths

    async def chat(self, request: ChatRequest) -> ChatReply:
        died = len(list(self.folder.iterdir()))
        if died < self.deaths:
            (self.folder / str(died)).touch()
            os._exit(1)
        if request.deadline:
            await asyncio.sleep(request.deadline)
        if request.tools:
            raise AuthRejected("the key is wrong")
        return ChatReply({"role": "assistant", "content": "7"}, Usage(), "stop", 0.0, 0.0)

    async def close(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def judges() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


def decided(settings: JudgeSettings, place: Any = None) -> tuple[list[Decision], Usage]:
    """Return the decisions of a judge on some replies, and what it used."""
    rubric, replies = generate_labels(0, 4)
    identity = identify_judge(settings)

    async def work() -> tuple[list[Decision], Usage]:
        client = open_client(settings, identity, place)
        judge = PointwiseJudge(client)
        each = [(c, reply.transcript) for reply in replies[:3] for c in rubric.judged[:2]]
        try:
            return list(await asyncio.gather(*(judge.decide(*one) for one in each))), client.usage
        finally:
            await client.close()

    return asyncio.run(work())


def without_times(decisions: list[Decision]) -> list[dict[str, Any]]:
    return [{**one.as_json(), "latency": 0.0} for one in decisions]


def test_an_endpoint_decides_as_in_one_process(cluster: RayCluster, judges: JudgeServer) -> None:
    settings = JudgeSettings(judges.model("noisy-0.3"), structured=True)
    here, spent = decided(settings)
    there, spent_there = decided(settings, judging_on(cluster, 0.25))
    assert without_times(there) == without_times(here)
    assert {one.label for one in here} > {None} or len({one.label for one in here}) > 1
    assert spent_there == spent and spent.calls >= 6


def test_a_checkpoint_decides_as_in_one_process(cluster: RayCluster, tmp_path: Path) -> None:
    policy = untrained_policy(tmp_path / "judge", context=16_384)
    # One question at a time, so that one process opens the checkpoint.
    settings = JudgeSettings(str(policy), max_tokens=8, retries=1, concurrency=1)
    here, spent = decided(settings)
    there, spent_there = decided(settings, judging_on(cluster))
    assert without_times(there) == without_times(here)
    assert spent_there == spent and spent.output > 0


def test_questions_of_a_lost_process_are_asked_again(cluster: RayCluster, tmp_path: Path) -> None:
    for deaths, folder in ((2, tmp_path / "two"), (9, tmp_path / "many")):
        folder.mkdir()
        engine = TaskEngine(partial(Mortal, folder, deaths))
        if deaths == 2:
            assert asyncio.run(engine.chat(REQUEST)).message["content"] == "7"
        else:
            with pytest.raises(ConnectionFailed, match="3 processes in a row were lost"):
                asyncio.run(engine.chat(REQUEST))


def test_errors_keep_their_class_and_waits_have_a_deadline(
    cluster: RayCluster, tmp_path: Path
) -> None:
    engine = TaskEngine(partial(Mortal, tmp_path, 0))
    with pytest.raises(AuthRejected, match="the key is wrong"):
        asyncio.run(engine.chat(ChatRequest(REQUEST.messages, tools=({"name": "x"},))))
    crowded = TaskEngine(partial(Mortal, tmp_path, 0), resources={"robot": 1}, within=1.0)
    with pytest.raises(ReplyTimeout, match="no reply within 1 s: the cluster has no free cores"):
        asyncio.run(crowded.chat(REQUEST))
