"""A checkpoint directory as judge, through the chat interface of the torch engine."""

import asyncio

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.checkpoint import open_chat, revision_of
from hexathlon.baselines.engines.base import ChatRequest, Sampling
from hexathlon.baselines.engines.errors import BadRequest, ContextOverflow
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.audit.labelled import generate_labels
from support.policies import untrained_policy

QUESTION = [{"role": "user", "content": "Count to 7."}]


@pytest.fixture(scope="session")
def untrained(tmp_path_factory):
    return untrained_policy(tmp_path_factory.mktemp("judges") / "untrained", context=16_384)


def ask(path, request):
    async def asked():
        engine = open_chat(path, 4)
        try:
            return await engine.chat(request)
        finally:
            await engine.close()

    return asyncio.run(asked())


def test_replies_repeat_and_are_counted(untrained):
    request = ChatRequest(QUESTION, sampling=Sampling(max_tokens=9, seed=5))
    first, second = ask(untrained, request), ask(untrained, request)
    assert first.message == second.message
    assert first.message["role"] == "assistant"
    assert first.usage.input > 0
    assert first.usage.output == (9 if first.finish == "length" else first.usage.output) > 0
    other = ask(untrained, ChatRequest(QUESTION, sampling=Sampling(max_tokens=9, seed=6)))
    assert other.message != first.message


def test_an_untrained_judge_decides_nothing(untrained):
    settings = JudgeSettings(str(untrained), max_tokens=8, retries=1, concurrency=4)
    identity = identify_judge(settings)
    assert (identity.kind, identity.revision) == ("checkpoint", revision_of(untrained))
    rubric, replies = generate_labels(0, 2)
    asked = [
        (criterion, reply.transcript) for reply in replies[:2] for criterion in rubric.judged[:2]
    ]

    async def judged():
        client = open_client(settings, identity)
        judge = PointwiseJudge(client)
        try:
            return await asyncio.gather(*(judge.decide(*each) for each in asked))
        finally:
            await client.close()

    result = asyncio.run(judged())
    assert len(result) == 4
    assert {one.label for one in result} == {None}
    assert all(one.value is None and one.why for one in result)
    assert {one.retries for one in result} == {1}


def test_unsupported_requests_are_rejected(untrained, tmp_path):
    with pytest.raises(BadRequest, match="neither tools nor stop strings"):
        ask(untrained, ChatRequest(QUESTION, sampling=Sampling(stop=("x",))))
    with pytest.raises(ContextOverflow):
        ask(untrained, ChatRequest([{"role": "user", "content": "7 " * 20_000}]))
    with pytest.raises(UsageError, match=r"no config.json"):
        identify_judge(JudgeSettings(str(tmp_path)))
