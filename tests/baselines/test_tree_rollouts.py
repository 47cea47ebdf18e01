"""Trees of a real policy in real environments: shared tokens, cached keys, states, corrections."""

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_tokenizer
from hexathlon.baselines.pipeline.catalogue import STRUCTURES
from hexathlon.baselines.pipeline.collect import Collector, GroupPlan
from hexathlon.baselines.pipeline.growth import Branch, Leaf, RolloutTree, TreeGrowth
from hexathlon.baselines.rollout.executor import LocalExecutor, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import Span, TokenReply, TokenRequest, TokenSampling
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.tasks.taskset import TaskSet
from support.resuming import copied, key_of, record_bytes, slot_of
from support.served import learner, sharp_policy

TURNS = 4
TALK = "hexathlon/RolePlay-v1"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("policy"))


def agent_of(checkpoint: Path, engine: Any = None) -> PolicyAgent:
    engine = engine or LocalEngine(learner(checkpoint))
    renderer = ChatRenderer(load_tokenizer(checkpoint))
    sampling = TokenSampling(max_tokens=12, seed=3, entropies=True)
    return PolicyAgent(engine, renderer, get_codec("compact"), sampling)


def executor_of(agent: PolicyAgent) -> LocalExecutor:
    return LocalExecutor(agent, lambda name: slot_of(name, limits={"turns": TURNS}).get(), 4)


def played(
    executor: Any, event: str, members: int, growth: TreeGrowth, task: str = ""
) -> list[Trajectory]:
    kept: list[Trajectory] = []

    def keep(batch: list[Trajectory]) -> list[Trajectory]:
        kept.extend(batch)
        return batch

    key = key_of(event) if not task else (event, task, 7, 0)
    plan = GroupPlan(key[1], event, TrialLimits(), members, key[2])
    asyncio.run(Collector(executor, (), keep, growth=growth).collect([plan]))
    return kept


def turns(trajectory: Trajectory) -> list[Any]:
    assert trajectory.tokens is not None
    return [node for node in trajectory.tokens.nodes if node.turn >= 0]


GROWING = ["arpo", "aepo", "trace", "treepo", "tree_ps", "vines", "reex"]
INSIDE_TURNS = ["random_branches", "latr", "ettrl", "echo_ttrl"]


@pytest.mark.parametrize("name", [*GROWING, *INSIDE_TURNS])
def test_leaves_share_the_tokens_of_their_tree(name: str, checkpoint: Path) -> None:
    agent = agent_of(checkpoint)
    executor = executor_of(agent)
    inside = {"inside": True} if name == "random_branches" else {}
    leaves = played(executor, TALK, 6, STRUCTURES[name](**inside))
    executor.close()
    assert len(leaves) == 6
    own = {(node.trial, node.turn): node for one in leaves for node in turns(one)}
    drawn = 0
    for one in leaves:
        for node in turns(one):
            assert own[node.trial, node.turn] == node  # ids, log-probabilities, entropies, versions
        drawn += sum(len(node.ids) for node in turns(one) if node.trial == one.key[3])
    counts = agent.engine.counts  # type: ignore[attr-defined]
    assert counts["forked"] > 0
    if name in GROWING and name != "tree_ps":  # which prunes
        assert counts["drawn"] == drawn
    if name in INSIDE_TURNS:
        ids = sorted((node.turn, node.ids, node.log_probabilities) for node in own.values())
        starts = [
            a[1][0] == b[1][0] and a[2][0] == b[2][0] and a[1] != b[1]
            for a, b in zip(ids, ids[1:], strict=False)
            if a[0] == b[0]
        ]
        assert any(starts)  # turns that differ only after tokens that they share


HINTED = {
    "random_branches": {"inside": True},
    "latr": {},
    "ettrl": {},
    "echo_ttrl": {},
    "scope": {},
}


@pytest.mark.parametrize("name", HINTED)
def test_trees_grow_from_a_hint(name: str, checkpoint: Path) -> None:
    """The state after the hint's last turn is kept, so that the turn after it can be split."""
    executor, key = executor_of(agent_of(checkpoint)), key_of("hexathlon/SQL-v1")
    (oracle,) = asyncio.run(executor.run([Request(key, agent="agent:oracle")]))
    assert isinstance(oracle, Trajectory)
    hint = Prefix.of(oracle, 1)
    kept: list[Trajectory] = []
    collector = Collector(
        executor,
        (),
        lambda batch: kept.extend(batch) or batch,
        growth=STRUCTURES[name](**HINTED[name]),
    )
    plan = GroupPlan(key[1], key[0], TrialLimits(), 6, key[2], start=hint)
    asyncio.run(collector.collect([plan]))
    executor.close()
    assert len(kept) == 6
    assert {one.record["steps"][0]["action"] for one in kept} == {hint.steps[0]["action"]}
    assert len({(node.trial, node.turn) for one in kept for node in turns(one)}) > 6


@pytest.mark.parametrize("event", ["hexathlon/SQL-v1", "hexathlon/Terminal-v1"])
def test_a_forked_environment_equals_a_replayed_one(event: str, checkpoint: Path) -> None:
    agent = agent_of(checkpoint)
    executor = executor_of(agent)
    key = key_of(event)
    tree = RolloutTree(4)
    (chain,) = asyncio.run(executor.run([tree.request(Branch(), Request(key))]))
    assert isinstance(chain, Trajectory) and chain.scored
    tree.add(Leaf(chain))
    assert [point.turns for point in chain.points] == list(range(len(chain.record["steps"])))
    request = tree.request(Branch(0, 2), Request(key))
    assert request.start is not None and request.start.state is not None
    forms = [request.start, request.start.portable(), copied(request.start)]
    ends = [
        asyncio.run(executor.run([request._replace(start=form, points=False)]))[0] for form in forms
    ]
    executor.close()
    for end in ends:
        assert isinstance(end, Trajectory)
        assert record_bytes(end) == record_bytes(ends[0])  # type: ignore[arg-type]
        assert end.record["final_state_hash"] == ends[0].record["final_state_hash"]  # type: ignore[union-attr]
        assert turns(end)[:2] == turns(chain)[:2]
        assert end.record["steps"][:2] == chain.record["steps"][:2]


def test_a_fork_of_the_cache_continues_bit_for_bit(checkpoint: Path) -> None:
    """A session that copies its parent's keys and values samples what the parent would."""
    prompt = [5, 9, 22, 7, 31, 12]

    async def replies(engine: LocalEngine, session: str, parent: str) -> tuple[Any, int]:
        first = await engine.generate(TokenRequest(prompt, TokenSampling(max_tokens=9), "a"))
        longer = [*prompt, *first.ids, 3, 8, 44]
        read = engine.counts["read"]
        sampling = TokenSampling(max_tokens=9, seed=1)
        reply = await engine.generate(TokenRequest(longer, sampling, session, parent))
        return reply, engine.counts["read"] - read

    engine = LocalEngine(learner(checkpoint))
    own, read = asyncio.run(replies(engine, "a", ""))
    forked, read_forked = asyncio.run(replies(LocalEngine(learner(checkpoint)), "b", "a"))
    alone, read_alone = asyncio.run(replies(LocalEngine(learner(checkpoint)), "b", ""))
    assert forked == own
    assert read_forked == read == 4 < read_alone  # the last sampled token and the new ones
    assert alone.log_probabilities == pytest.approx(own.log_probabilities, abs=1e-5)


def test_many_forks_in_one_batch_share_a_parent(checkpoint: Path) -> None:
    async def replies(parent: str) -> tuple[list[TokenReply], dict[str, int]]:
        engine = LocalEngine(learner(checkpoint), batch=4, rows=5)
        first = await engine.generate(TokenRequest([5, 9, 22], TokenSampling(max_tokens=30), "a"))
        ids = [5, 9, 22, *first.ids, 3]
        asked = [
            engine.generate(TokenRequest(ids, TokenSampling(max_tokens=6, seed=n), f"b{n}", parent))
            for n in range(4)
        ]
        asked.append(engine.generate(TokenRequest(ids, TokenSampling(max_tokens=6, seed=9), "a")))
        return await asyncio.gather(*asked), engine.counts

    shared, counts = asyncio.run(replies("a"))
    alone, _ = asyncio.run(replies(""))
    assert counts["forked"] == 4 * 32  # up to the last sampled token
    for one, other in zip(shared, alone, strict=True):
        assert one.ids == other.ids
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-5)


def test_entropies_are_those_of_the_sampled_distributions(checkpoint: Path) -> None:
    engine = LocalEngine(learner(checkpoint))
    sampling = TokenSampling(max_tokens=5, entropies=True)
    reply = asyncio.run(engine.generate(TokenRequest([5, 9, 22], sampling)))
    with torch.no_grad():
        logits = learner(checkpoint)(torch.tensor([[5, 9, 22, *reply.ids]])).logits[0, 2:-1]
    expected = torch.distributions.Categorical(logits=logits).entropy()
    assert list(reply.entropies) == pytest.approx(expected.tolist(), abs=1e-4)
    plain = asyncio.run(engine.generate(TokenRequest([5, 9, 22], TokenSampling(max_tokens=5))))
    assert plain.entropies == () and plain.ids == reply.ids


class Aborting(LocalEngine):
    """Aborts all rollouts once, after a number of tokens."""

    abort_at: int | None = None
    executor: LocalExecutor | None = None

    async def generate(self, request: TokenRequest) -> TokenReply:
        asking = asyncio.ensure_future(super().generate(request))
        while not asking.done():
            await asyncio.sleep(0)
            if self.abort_at is not None and self.counts["drawn"] >= self.abort_at:
                self.abort_at = None
                assert self.executor is not None
                await self.executor.abort()
        return await asking


@pytest.mark.parametrize("after", [20, 90])
def test_an_aborted_tree_is_the_same(after: int, checkpoint: Path) -> None:
    growth = STRUCTURES["latr"](chains=0.3, least=0.0)
    engine = Aborting(learner(checkpoint))
    executor = executor_of(agent_of(checkpoint, engine))
    first = played(executor, TALK, 4, growth)
    asyncio.run(engine.clear())
    engine.executor, engine.abort_at = executor, engine.counts["drawn"] + after
    again = played(executor, TALK, 4, growth)
    executor.close()
    assert engine.abort_at is None
    for one, other in zip(again, first, strict=True):
        assert record_bytes(one) == record_bytes(other)
        assert [node.ids for node in turns(one)] == [node.ids for node in turns(other)]


# Corrections, with a policy whose turns are scripted --------------------------------------------


class Scripted:
    """An engine that says given actions, by trial; sampled tokens are those of the codec's text."""

    version, context = 0, 4096

    def __init__(self, checkpoint: Path, actions: dict[int, Sequence[str]]) -> None:
        self._renderer = ChatRenderer(load_tokenizer(checkpoint))
        self._left = {trial: deque(given) for trial, given in actions.items()}
        self.asked: list[int] = []

    async def generate(self, request: TokenRequest) -> TokenReply:
        trial = int(request.session.split("|")[3])
        self.asked.append(trial)
        text = get_codec("compact").encode(self._left[trial].popleft())["content"]
        assert self._renderer.end_of_turn is not None
        ids = [*self._renderer.encode(text), self._renderer.end_of_turn]
        return TokenReply(ids, [-0.5 - trial] * len(ids), "stop", [Span(0, 0, len(ids))])

    def forget(self, session: str) -> None:
        pass


def add(amount: int) -> str:
    return json.dumps({"name": "add", "arguments": {"amount": amount}})


SUBMIT = json.dumps({"name": "submit", "arguments": {}})


def toy() -> tuple[str, int]:
    """A task of the toy event and its target."""
    from support.toy import ToySource

    tasks = TaskSet("toy", "test", "tiny")
    task = tasks.task_id(0)
    return task, int(ToySource().build(task).params["target"])


def steps_to(target: int) -> list[str]:
    amounts = [min(9, target - total) for total in range(0, target, 9)]
    return [*map(add, amounts), SUBMIT]


def correct(
    checkpoint: Path, name: str, actions: dict[int, Sequence[str]], members: int, **parameters: Any
) -> tuple[list[Trajectory], Scripted]:
    from support.toy import ToyEnv

    engine = Scripted(checkpoint, actions)
    executor = LocalExecutor(agent_of(checkpoint, engine), lambda env: ToyEnv(), 2)
    task, _ = toy()
    leaves = played(executor, "harness/Toy-v0", members, STRUCTURES[name](**parameters), task)
    executor.close()
    return leaves, engine


def test_a_later_correction_replaces_a_failed_call(checkpoint: Path) -> None:
    _, target = toy()
    right = steps_to(target)
    failing = [right[0], '{"name": "add", "arguments": {"amount": "x"}}', *right[1:]]
    leaves, engine = correct(checkpoint, "cleaner", {0: failing, 1: right}, 2)
    assert [leaf.key[3] for leaf in leaves] == [1, 2]
    for leaf in leaves:
        assert leaf.record["reward"] == 1.0 and leaf.record["tool_errors"] == 0
        assert [step["action"] for step in leaf.record["steps"]] == right
    (sample,) = leaves[1].samples()
    (clean,) = leaves[0].samples()
    # The stitched rollout has the tokens of a clean one, with its own log-probabilities.
    assert sample.ids.tolist() == clean.ids.tolist()
    assert sample.sampled.tolist() == clean.sampled.tolist()
    assert set(sample.behaviour[sample.sampled]) == {-0.5}
    assert len(engine.asked) == len(failing) + len(right)  # nothing was drawn for it


def test_a_rollout_without_a_correction_stays(checkpoint: Path) -> None:
    failing = ['{"name": "add", "arguments": {"amount": "x"}}', SUBMIT]
    leaves, _ = correct(checkpoint, "cleaner", {0: failing}, 1)
    assert [leaf.key[3] for leaf in leaves] == [0]
    assert leaves[0].record["tool_errors"] == 1


@pytest.mark.parametrize(("name", "trained"), [("scope", False), ("intervention", True)])
def test_the_first_wrong_turn_is_corrected(name: str, trained: bool, checkpoint: Path) -> None:
    _, target = toy()
    right = steps_to(target)
    wrong = [*right[:-2], add(1), SUBMIT] if right[-2] != add(1) else [*right[:-2], add(2), SUBMIT]
    leaves, _ = correct(checkpoint, name, {0: wrong, 1: [SUBMIT]}, 2, chains=0.5)
    first, second = leaves
    assert (first.record["reward"], second.record["reward"]) == (0.0, 1.0)
    assert [step["action"] for step in second.record["steps"]] == right
    place = len(right) - 2
    assert turns(second)[:place] == turns(first)[:place]
    assert [node.kind for node in turns(second)] == [
        *["sampled"] * place, "corrected" if trained else "told", "sampled",
    ]  # fmt: skip
    (sample,) = second.samples()
    learned = {int(turn) for turn in sample.turn[sample.sampled]}
    assert learned == ({place} if trained else {*range(place), place + 1})
    (chain,) = first.samples()
    assert sample.branches[:place] == chain.branches[:place]
    assert sample.branches[place] != chain.branches[place]


def test_a_success_needs_no_correction(checkpoint: Path) -> None:
    _, target = toy()
    right = steps_to(target)
    leaves, _ = correct(checkpoint, "scope", {0: right, 1: right}, 2)
    assert [leaf.record["reward"] for leaf in leaves] == [1.0, 1.0]
    assert all(node.kind == "sampled" for leaf in leaves for node in turns(leaf))


def test_a_paused_rollout_keeps_its_states(checkpoint: Path) -> None:
    executor = executor_of(agent_of(checkpoint))
    request = Request(key_of(TALK), points=True)
    (whole,) = asyncio.run(executor.run([request]))
    (paused,) = asyncio.run(executor.run([request._replace(pause_after=2)]))
    assert isinstance(paused, Prefix) and isinstance(whole, Trajectory)
    (resumed,) = asyncio.run(executor.run([request._replace(start=paused)]))
    executor.close()
    assert isinstance(resumed, Trajectory)
    assert [point.turns for point in resumed.points] == [point.turns for point in whole.points]
    assert record_bytes(resumed) == record_bytes(whole)
    assert Trajectory.from_json(whole.as_json()).points == ()
