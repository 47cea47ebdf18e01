"""The served engine against a real vLLM server on the CPU: `make test-vllm`."""

import ast
import asyncio
import os
import signal
import time

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.distributed.transports import (
    AdapterTransport,
    BroadcastTransport,
    FolderTransport,
    probe_of,
)
from hexathlon.baselines.engines.errors import ConnectionFailed, ContextOverflow, WeightsDiffer
from hexathlon.baselines.engines.interruption import InterruptedRequests
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_tokenizer
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.engines.served.launched import LaunchedEngine
from hexathlon.baselines.engines.served.routes import CompletionRoute, TokenRoute
from hexathlon.baselines.engines.served.server import INTERPRETER, VllmServer
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.engines.served.transfer import TransferClient, loading_adapter
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.learner.adapters import AdapterConfig, add_adapters, merged
from hexathlon.baselines.rollout.drivers import play_async
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from hexathlon.evaluators.records import read_records
from hexathlon.tasks.seeding import generator_for
from support.events import TOY
from support.served import (
    CONTEXT,
    drawn,
    group_members,
    guards_of,
    interpreter,
    learner,
    moved,
    running,
    sharp_policy,
    vllm_server,
)
from support.toy import ToyEnv

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(900),
]  # a server starts slowly on a busy machine

VOCABULARY = 280


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    return sharp_policy(tmp_path_factory.mktemp("policies") / "policy")


@pytest.fixture(scope="module")
def server(policy, tmp_path_factory):
    with vllm_server(policy, tmp_path_factory.mktemp("server") / "log.txt") as started:
        yield started


@pytest.fixture(scope="module")
def tied(tmp_path_factory):
    return sharp_policy(tmp_path_factory.mktemp("policies") / "tied", tied=True)


@pytest.fixture(scope="module")
def tied_server(tied, tmp_path_factory):
    with vllm_server(tied, tmp_path_factory.mktemp("server") / "log.txt") as started:
        yield started


def prompts(count, longest=60):
    draw = generator_for("served prompts", count)
    lengths = draw.integers(1, longest, size=count)
    return [draw.integers(0, VOCABULARY, size=int(length)).tolist() for length in lengths]


def request(ids, number=0, session="", **sampling):
    settings = {"temperature": 0.8, "max_tokens": 24, "seed": number, **sampling}
    return TokenRequest(list(ids), TokenSampling(**settings), session)


def endless(number=0, session=""):
    """A request that the test aborts: its reply would take many times the test's timeout.

    A server that runs it has begun to sample: a prompt's last step is the reply's first.
    """
    return request([5, 6, 7], number, session, max_tokens=CONTEXT - 3)


def settings(server, **more):
    return HttpSettings(server.url, **more)


def with_engine(server, scenario, **more):
    """Run a scenario on a separate engine."""

    async def run():
        engine = await ServedEngine.open(settings(server, **more))
        try:
            return await scenario(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


async def publish(model, engine, version, folder):
    return await FolderTransport(engine, folder).publish(model, version)


async def gathered(engine, asked):
    return await asyncio.gather(*(engine.generate(one) for one in asked))


def generate(server, asked):
    return with_engine(server, lambda engine: gathered(engine, asked))


def locally(path, asked):
    return asyncio.run(gathered(LocalEngine(learner(path), batch=8), asked))


def scored(model, ids, reply, temperature):
    """Log-probabilities of a reply by the Hugging Face model, over the whole sequence at once."""
    with torch.no_grad():
        logits = model(torch.tensor([[*ids, *reply.ids]])).logits[0]
    scores = (logits[len(ids) - 1 : -1] / temperature).log_softmax(-1)
    return scores[range(len(reply.ids)), reply.ids].tolist()


async def working(server, condition, seconds=60.0):
    """Wait until the number of the server's running requests fulfils a condition."""
    deadline = time.monotonic() + seconds
    while not condition(result := await asyncio.to_thread(running, server.url)):
        assert time.monotonic() < deadline, f"the server works on {result:.0f} requests"


def some(count):
    return count > 0


def none(count):
    return count == 0


@pytest.fixture
def fresh(server, policy):
    """Reset the server to the checkpoint's own weights."""
    model = learner(policy)

    async def scenario(engine):
        await publish(model, engine, 0, policy.parent)

    with_engine(server, scenario)
    return server


def test_greedy_tokens_equal_the_torch_engine(fresh, policy):
    asked = [request(ids, n, temperature=0.0) for n, ids in enumerate(prompts(12))]
    for served, local in zip(generate(fresh, asked), locally(policy, asked), strict=True):
        assert served.ids == local.ids
        assert served.finish == local.finish == "length"
        assert served.log_probabilities == pytest.approx(local.log_probabilities, abs=1e-4)


@pytest.mark.parametrize("temperature", [0.7, 1.3])
def test_log_probabilities_belong_to_the_sampling_distribution(fresh, policy, temperature):
    model = learner(policy)
    asked = [request(ids, n, temperature=temperature) for n, ids in enumerate(prompts(16))]
    for one, reply in zip(asked, generate(fresh, asked), strict=True):
        expected = scored(model, one.ids, reply, temperature)
        assert reply.log_probabilities == pytest.approx(expected, abs=1e-4)
        assert reply.spans == [(0, 0, 24)]


def test_truncation_is_part_of_the_sampling_distribution(fresh, policy):
    model = learner(policy)
    asked = [request(ids, n, top_k=3, temperature=1.0) for n, ids in enumerate(prompts(8))]
    for one, reply in zip(asked, generate(fresh, asked), strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([[*one.ids, *reply.ids]])).logits[0, len(one.ids) - 1 : -1]
        best = logits.topk(3)
        for token, result, row in zip(reply.ids, reply.log_probabilities, range(24), strict=True):
            place = best.indices[row].tolist().index(token)
            assert result == pytest.approx(float(best.values[row].log_softmax(-1)[place]), abs=1e-4)


def test_seeds_determine_the_draws_under_concurrency(fresh):
    asked = [request(ids, n) for n, ids in enumerate(prompts(10))]
    together = generate(fresh, asked)
    assert [generate(fresh, [one])[0].ids for one in asked[:3]] == [r.ids for r in together[:3]]
    other = generate(fresh, [request(asked[0].ids, 99)])
    assert other[0].ids != together[0].ids


def test_many_long_seeded_prompts(fresh, policy):
    """With chunked prefill, the CPU server crashes on such prompts."""
    model = learner(policy)
    long = [(ids * 1000)[:1200] for ids in prompts(12)]
    asked = [request(ids, n, max_tokens=4) for n, ids in enumerate(long)]
    for one, reply in zip(asked, generate(fresh, asked), strict=True):
        assert reply.log_probabilities == pytest.approx(
            scored(model, one.ids, reply, 0.8), abs=1e-4
        )


def test_stop_token_ends_the_reply_and_is_included(fresh):
    (whole,) = generate(fresh, [request([5, 6, 7], 3, max_tokens=60)])
    stop = whole.ids[20]
    (cut,) = generate(fresh, [request([5, 6, 7], 3, max_tokens=60, stop_ids=(stop,))])
    assert cut.finish == "stop"
    assert cut.ids == whole.ids[: whole.ids.index(stop) + 1]
    assert len(cut.log_probabilities) == len(cut.ids)


def test_both_routes_sample_the_same_tokens(fresh):
    asked = [request(ids, n) for n, ids in enumerate(prompts(4))]

    async def scenario(engine):
        assert isinstance(engine.route, TokenRoute)
        by_tokens = await gathered(engine, asked)
        engine.route = CompletionRoute()
        return by_tokens, await gathered(engine, asked)

    by_tokens, by_completions = with_engine(fresh, scenario)
    for one, other in zip(by_tokens, by_completions, strict=True):
        assert (one.ids, one.finish, one.spans) == (other.ids, other.finish, other.spans)
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-6)


def test_aborted_request_returns_its_tokens(fresh):
    async def scenario(engine):
        waiting = [asyncio.ensure_future(engine.generate(endless(n, f"s{n}"))) for n in range(2)]
        await working(fresh, lambda count: count == 2)
        await engine.abort("s1")
        aborted = await waiting[1]
        await engine.abort()
        return aborted, await waiting[0]

    aborted, other = with_engine(fresh, scenario)
    assert aborted.finish == other.finish == "abort"
    assert 0 < len(aborted.ids) == len(aborted.log_probabilities) < CONTEXT - 3
    (again,) = generate(fresh, [request([5, 6, 7], 1, max_tokens=len(aborted.ids))])
    assert aborted.ids == again.ids


def test_cancellation_aborts_the_request_on_the_server(fresh):
    async def scenario(engine):
        asked = [asyncio.ensure_future(engine.generate(endless(n))) for n in range(4)]
        await working(fresh, lambda count: count == 4)
        for one in asked:
            one.cancel()
        await working(fresh, none)

    before = drawn(fresh.url)
    with_engine(fresh, scenario)
    assert drawn(fresh.url) - before < 0.5 * 4 * (CONTEXT - 3)


def test_prompt_beyond_context_is_rejected(fresh):
    length = CONTEXT + 1
    with pytest.raises(ContextOverflow, match=f"prompt of {length} tokens .* context of {CONTEXT}"):
        generate(fresh, [request([1] * length)])


def test_rejection_by_the_server_has_the_same_class(fresh):
    async def scenario(engine):
        engine.context = 2 * CONTEXT
        for route in (TokenRoute(), CompletionRoute()):
            engine.route = route
            with pytest.raises(ContextOverflow, match="HTTP 400"):
                await engine.generate(request([1] * (CONTEXT + 1)))

    with_engine(fresh, scenario)


def test_reply_ends_at_the_context_limit(fresh):
    (reply,) = generate(fresh, [request([1] * (CONTEXT - 12), max_tokens=99)])
    assert (len(reply.ids), reply.finish) == (12, "length")


def test_tokens_carry_the_version_of_new_weights(fresh, policy):
    old, new = learner(policy), moved(learner(policy))

    async def scenario(engine):
        waiting = asyncio.ensure_future(engine.generate(endless()))
        await working(fresh, some)
        difference = await publish(new, engine, 7, policy.parent)
        # The reference of the update was sampled concurrently with the reply aborted here.
        await engine.abort()
        after = await engine.generate(request([5, 6, 7], max_tokens=200))
        return difference, engine.version, await waiting, after

    difference, version, across, after = with_engine(fresh, scenario)
    assert difference < 1e-4
    assert version == 7
    assert with_engine(fresh, lambda engine: asyncio.sleep(0, engine.version)) == 7
    assert after.spans == [(7, 0, 200)]
    assert after.log_probabilities == pytest.approx(scored(new, [5, 6, 7], after, 0.8), abs=1e-4)
    first, second = across.spans
    assert (first.version, first.start, second.version) == (0, 0, 7)
    assert first.end == second.start < second.end == len(across.ids)
    # The cache of the old weights is recomputed, so no token depends on both versions.
    border = first.end
    by_old, by_new = (scored(model, [5, 6, 7], across, 0.8) for model in (old, new))
    assert across.log_probabilities[:border] == pytest.approx(by_old[:border], abs=1e-4)
    assert across.log_probabilities[border:] == pytest.approx(by_new[border:], abs=1e-4)


def test_an_update_interrupts_requests_that_then_continue(fresh, policy):
    old, new = learner(policy), moved(learner(policy), 2)

    async def scenario(engine):
        requests = InterruptedRequests(engine)
        waiting = asyncio.ensure_future(requests.generate(endless()))
        await working(fresh, some)
        async with requests.held():
            await publish(new, engine, 8, policy.parent)
        await working(fresh, some)
        await requests.abort()
        return requests.interrupted, await waiting

    interrupted, across = with_engine(fresh, scenario)
    assert interrupted == 1
    first, second = across.spans
    assert (first.version, first.start) == (0, 0)
    assert (second.version, second.end) == (8, len(across.ids))
    border = first.end
    assert 0 < border == second.start < second.end
    by_old, by_new = (scored(model, [5, 6, 7], across, 0.8) for model in (old, new))
    assert across.log_probabilities[:border] == pytest.approx(by_old[:border], abs=1e-4)
    assert across.log_probabilities[border:] == pytest.approx(by_new[border:], abs=1e-4)


def test_prefix_cache_is_not_reused_after_an_update(fresh, policy):
    new = moved(learner(policy))
    ids = prompts(1, 60)[0] * 8
    ids = (ids * 8)[:300]  # several blocks of the server's cache

    async def scenario(engine):
        before = await engine.generate(request(ids, temperature=0.0))
        await publish(new, engine, 1, policy.parent)
        return before, await engine.generate(request(ids, temperature=0.0))

    before, after = with_engine(fresh, scenario)
    expected = scored(new, ids, after, 1.0)
    assert after.log_probabilities == pytest.approx(expected, abs=1e-4)
    assert scored(new, ids, before, 1.0) != pytest.approx(before.log_probabilities, abs=1e-2)


def test_stale_weights_are_detected_and_never_sampled_from(fresh, policy):
    """The learner continues after its weights were written, and the server gets the old ones."""
    model = moved(learner(policy))

    async def scenario(engine):
        waiting = asyncio.ensure_future(engine.generate(endless()))
        await working(fresh, some)
        with pytest.raises(WeightsDiffer, match="does not sample from the weights it was sent"):
            await engine.update(Weights(probe_of(model), folder=policy), 3)
        await engine.abort()
        with pytest.raises(WeightsDiffer):
            await waiting
        with pytest.raises(WeightsDiffer):
            await engine.generate(request([5]))
        assert await publish(model, engine, 4, policy.parent) < 1e-4
        return await engine.generate(request([5]))

    assert with_engine(fresh, scenario).spans == [(4, 0, 24)]


def test_unreplaced_tied_embeddings_are_detected(tied_server, tied):
    """vLLM packs the head once on a CPU and silently keeps it through every reload."""
    model = learner(tied)

    async def scenario(engine):
        assert await engine.compare(probe_of(model)) < 1e-4
        with pytest.raises(WeightsDiffer, match="untie them"):
            await publish(moved(model), engine, 1, tied.parent)
        with pytest.raises(WeightsDiffer):
            await engine.generate(request([5]))

    with_engine(tied_server, scenario)


def test_directory_without_weights_does_not_reach_the_server(fresh, policy, tmp_path):
    async def scenario(engine):
        with pytest.raises(Exception, match="no safetensors"):
            await engine.update(Weights(probe_of(learner(policy)), folder=tmp_path), 9)
        return await engine.generate(request([5]))

    assert with_engine(fresh, scenario).spans == [(0, 0, 24)]


async def play(engine, tokenizer, numbers):
    """Play the toy event; return trajectories and, by session, requests and samples."""
    asked = {}

    class Recording:
        version, context = engine.version, engine.context
        forget, close = engine.forget, engine.close

        async def generate(self, one):
            reply = await engine.generate(one)
            asked.setdefault(one.session, []).append((one, reply))
            return reply

    renderer = ChatRenderer(tokenizer)
    sampling = TokenSampling(max_tokens=12, seed=5)
    agent = PolicyAgent(Recording(), renderer, get_codec("compact"), sampling)
    rollout = Rollout(agent)

    async def trial(number):
        slot = EnvironmentSlot(ToyEnv)
        try:
            key = (TOY, f"toy/count/tiny/train/{number:05}", number, 0)
            return await play_async(rollout.trial(slot, key))
        finally:
            slot.close()

    return await asyncio.gather(*(trial(number) for number in range(numbers))), asked


def test_an_episode_is_played_token_by_token(fresh, policy):
    tokenizer, model = load_tokenizer(policy), learner(policy)
    played, asked = with_engine(fresh, lambda engine: play(engine, tokenizer, 4))
    assert [trajectory.scored for trajectory in played] == [True] * 4
    assert len(asked) == 4
    for trajectory, turns in zip(played, asked.values(), strict=True):
        tree = trajectory.tokens
        sampled = [node for node in tree.nodes if node.kind == "sampled"]
        assert len(sampled) == len(turns) > 1
        for node, (one, reply) in zip(sampled, turns, strict=True):
            # The request is the path before the turn; the sampled tokens are kept unchanged.
            assert tree.ids(node.parent) == one.ids
            assert list(node.ids) == reply.ids
            expected = scored(model, one.ids, reply, 1.0)
            assert list(node.log_probabilities) == pytest.approx(expected, abs=1e-4)
            assert set(node.versions) == {0}


def test_dead_server_is_an_infrastructure_failure(tied_server):
    """Runs last among the tests that use this server."""

    async def scenario(engine):
        waiting = asyncio.ensure_future(engine.generate(endless()))
        await working(tied_server, some)
        os.killpg(tied_server.pid, signal.SIGKILL)
        with pytest.raises(ConnectionFailed) as raised:
            await waiting
        assert raised.value.retryable

    with_engine(tied_server, scenario, retries=1, backoff=0.01)


def test_stopped_server_leaves_no_processes(tied_server):
    tied_server.stop()
    deadline = time.monotonic() + 20
    while left := group_members(tied_server.pid):
        assert time.monotonic() < deadline, f"processes {left} still run"


def test_weights_by_transfer_and_adapters_by_hot_load(policy, tmp_path, monkeypatch):
    """One server for both: the transfer API over gloo, then adapters beside these weights."""
    monkeypatch.setenv(INTERPRETER, str(interpreter()))
    model = moved(learner(policy))
    receiving = VllmSettings(CONTEXT, 16, receives="gloo", lora_rank=4, ready_within=600.0)

    def adapted(amount):
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if "lora_" in name:
                    weight.add_(amount * torch.randn_like(weight))
        return model

    async def scenario():
        engine = LaunchedEngine(policy, tmp_path / "log.txt", receiving)
        broadcast = BroadcastTransport(engine, "gloo", 1)
        try:
            differences = [await broadcast.publish(moved(model, n), n) for n in (1, 2)]
            sent = await engine.generate(request([5, 6, 7]))
            by_transfer = scored(model, [5, 6, 7], sent, 0.8)
            await broadcast.close()
            add_adapters(model, AdapterConfig(4, 8), 0)
            adapters = AdapterTransport(engine, tmp_path, policy)
            for version in (3, 4):
                differences.append(await adapters.publish(adapted(0.1), version))
            hot = await engine.generate(request([5, 6, 7]))
            by_adapters = scored(merged(model), [5, 6, 7], hot, 0.8)
            # Adapters of the previous version, presented as the learner's current ones.
            stale = loading_adapter(tmp_path / "adapters-in-transit" / "4", 5)
            with pytest.raises(WeightsDiffer):
                await engine.update(Weights(probe_of(adapted(0.1)), transfer=stale), 5)
            return differences, (sent, by_transfer), (hot, by_adapters)
        finally:
            await engine.close()

    differences, *compared = asyncio.run(scenario())
    assert all(0 < difference < 1e-4 for difference in differences)
    assert [reply.spans for reply, _ in compared] == [[(2, 0, 24)], [(4, 0, 24)]]
    for reply, expected in compared:
        assert reply.log_probabilities == pytest.approx(expected, abs=1e-4)


def test_evaluation_starts_uses_and_stops_a_server(policy, tmp_path, monkeypatch):
    """Greedy episodes are those that torch samples."""
    monkeypatch.setenv(INTERPRETER, str(interpreter()))
    others = guards_of(os.getpid())  # such as that of this module's server
    flags = {"model": str(policy), "envs": (TOY,), "tasks": 6, "temperature": 0.0}
    played = {}
    for engine in ("torch", "vllm"):
        chosen = {**flags, "engine": engine, "max_reply_tokens": 12, "limit_turns": 3}
        evaluate(*load_config(chosen), tmp_path / engine)
        played[engine] = [
            (record["key"], record["status"], record["steps"], record["reward"])
            for record in sorted(read_records(tmp_path / engine), key=lambda r: str(r["key"]))
        ]
    assert len(played["vllm"]) == 6
    assert played["vllm"] == played["torch"]
    assert guards_of(os.getpid()) == others


def test_names_of_the_nccl_sender_are_those_of_vllm():
    """Read from its source, because importing it takes tens of seconds."""
    (folder,) = interpreter().parents[1].glob("lib/python*/site-packages/vllm/distributed")
    sources = {
        name: ast.parse((folder / "weight_transfer" / f"{name}.py").read_text())
        for name in ("base", "factory", "nccl_engine")
    }
    classes = {
        node.name: node
        for tree in sources.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    fields = [
        n.target.id for n in classes["NCCLTrainerInitInfo"].body if isinstance(n, ast.AnnAssign)
    ]
    assert {"master_address", "master_port", "world_size"} < {*fields}
    assert "rank" in [
        n.target.id for n in classes["TrainerInitInfo"].body if isinstance(n, ast.AnnAssign)
    ]
    methods = {
        n.name: n
        for n in classes["WeightTransferTrainerFactory"].body
        if isinstance(n, ast.FunctionDef)
    }
    arguments = methods["trainer_init"].args
    assert [a.arg for a in (*arguments.args, *arguments.kwonlyargs)] == [
        "cls", "init_info", "client", "source",
    ]  # fmt: skip
    assert "ModuleSource" in classes
    called = {
        n.name for n in classes["VLLMWeightSyncClient"].body if isinstance(n, ast.FunctionDef)
    }
    assert all(hasattr(TransferClient, name) for name in called)
    sender = {
        n.name
        for n in classes["NCCLTrainerWeightTransferEngine"].body
        if isinstance(n, ast.FunctionDef)
    }
    assert {"send_weights", "shutdown"} < sender


def test_unservable_checkpoint_is_reported_with_its_reason(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConnectionFailed, match="exited during startup: .*local directory"):
        VllmServer(tmp_path / "empty", tmp_path / "log", VllmSettings(), interpreter()).start()
