"""Proximal policies of stale tokens, interrupted requests, averages that count withheld tokens."""

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.distributed.transports import InProcessTransport
from hexathlon.baselines.engines.interruption import InterruptedRequests
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.baselines.training.proximal import MovingAverage, Snapshots
from support.learning import difference, examples, model

CONFIG = LearnerConfig(optimiser=OptimiserConfig(learning_rate=1e-2), objective=Objective())


def versioned(example: Example, first: int, second: int) -> Example:
    """Give the tokens of the two turns their versions."""
    turn = example.sample.turn
    version = np.where(turn == 0, first, np.where(turn == 1, second, -1))
    return replace(example, sample=replace(example.sample, version=version))


def scores(learner: Learner, batch: list[Example], weights: Any) -> list[np.ndarray]:
    """Log-probabilities of the sampled tokens with given weights."""
    other = model()
    other.load_state_dict(weights)
    return [score.numpy() for score in learner.score(batch, other)]


def three_versions() -> tuple[Learner, Snapshots, list[Any]]:
    learner = Learner(model(), CONFIG, 10)
    snapshots = Snapshots(learner, 3)
    snapshots.begin(0, None)
    weights = [_copied(learner.model)]
    for version in (1, 2):
        learner.update(examples(6))
        snapshots.note(version)
        weights.append(_copied(learner.model))
    return learner, snapshots, weights


def _copied(made: Any) -> Any:
    return {name: weight.clone() for name, weight in made.state_dict().items()}


def test_snapshots_score_each_token_with_the_weights_that_sampled_it() -> None:
    learner, snapshots, weights = three_versions()
    batch = [versioned(one, 0, 1) for one in examples(3)] + [versioned(examples(4)[3], 2, 2)]
    prepared = snapshots.added(batch, 2)
    by_version = [scores(learner, batch, each) for each in weights]
    for number, one in enumerate(prepared[:3]):
        turn = one.sample.turn
        assert one.proximal is not None
        for version in (0, 1):
            expected = by_version[version][number][turn == version]
            assert one.proximal[turn == version] == pytest.approx(expected, abs=1e-6)
            assert abs(expected - by_version[2][number][turn == version]).max() > 1e-3
    assert prepared[3].proximal is None  # the learner's own: the policy at the update's start


def test_tokens_of_forgotten_versions_keep_the_sampler_s_log_probabilities() -> None:
    _, snapshots, _ = three_versions()
    snapshots.note(3)  # version 0 is dropped
    (one,) = snapshots.added([versioned(examples(1)[0], 0, 3)], 3)
    turn = one.sample.turn
    assert one.proximal is not None
    assert (one.proximal[turn == 0] == one.sample.behaviour[turn == 0]).all()
    assert (one.proximal[turn == 1] != one.sample.behaviour[turn == 1]).all()


def test_the_clip_sees_the_staleness_of_snapshots() -> None:
    """The ratio to the version that sampled is clipped; that to the update's start is 1."""
    learner, snapshots, _ = three_versions()
    config = replace(CONFIG, bounds_parameters={"low": 1e-4, "high": 1e-4})
    batch = [versioned(one, 0, 0) for one in examples(6)]
    clipped = {}
    for name, prepared in (("start", batch), ("snapshot", snapshots.added(batch, 2))):
        made = model()
        made.load_state_dict(learner.model.state_dict())
        clipped[name] = Learner(made, config, 1).update(prepared)["clipped"]
    assert clipped["start"] == 0.0
    assert clipped["snapshot"] > 0.2


def test_moving_average_blends_the_weights_and_survives_a_restart() -> None:
    learner = Learner(model(), CONFIG, 10)
    average = MovingAverage(learner, 0.75)
    average.begin(0, None)
    start = _copied(learner.model)
    learner.update(examples(6))
    average.note(1)
    expected = {
        name: 0.75 * start[name] + 0.25 * weight
        for name, weight in learner.model.state_dict().items()
    }
    state = average.state()
    assert state is not None
    assert difference({name: expected[name] for name in state}, state) < 1e-6
    batch = examples(4)
    prepared = average.added(batch, 1)
    for one, score in zip(prepared, scores(learner, batch, expected), strict=True):
        assert one.proximal == pytest.approx(score, abs=1e-5)

    again = MovingAverage(Learner(model(1), CONFIG, 10), 0.75)
    again.begin(1, state)
    restored = again.state()
    assert restored is not None and difference(restored, state) == 0.0


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_sum", "constant"])
def test_withheld_tokens_count_in_averages(aggregation: str) -> None:
    """Withholding tokens leaves the gradient of the others as it is."""
    config = replace(CONFIG, objective=Objective(aggregation=aggregation))
    batch = examples(6)
    silenced, withheld, uncounted = [], [], []
    for number, one in enumerate(batch):
        late = one.sample.sampled & (number % 2 == 0)
        silenced.append(replace(one, advantage=np.where(late, 0.0, one.advantage)))
        weight = np.where(late, 0.0, one.weight)
        withheld.append(replace(one, weight=weight, counted=one.weight != 0))
        uncounted.append(replace(one, weight=weight))
    gradients = [_gradient(config, part) for part in (silenced, withheld, uncounted)]
    assert difference(gradients[0], gradients[1]) < 1e-7
    assert difference(gradients[0], gradients[2]) > 1e-4


def _gradient(config: LearnerConfig, batch: list[Example]) -> Any:
    made = model()
    learner = Learner(made, replace(config, optimiser=OptimiserConfig(learning_rate=0.0)), 1)
    kept: dict[str, Any] = {}
    step = learner._optimiser_step

    def noted() -> tuple[float, float]:
        named = made.named_parameters()
        kept.update({name: p.grad.clone() for name, p in named if p.grad is not None})
        return step()

    learner._optimiser_step = noted  # type: ignore[method-assign]
    learner.update(batch)
    return kept


# Requests in flight at an update ----------------------------------------------------------------


def reply(more: int, change: bool, abort: bool) -> tuple[TokenReply, int]:
    """Sample 24 tokens with an update after some of them; return also the interruptions."""
    request = TokenRequest([3, 1, 4, 1, 5], TokenSampling(seed=7, max_tokens=24), "session")

    async def sampled() -> tuple[TokenReply, int]:
        inner = LocalEngine(model())
        engine = InterruptedRequests(inner)
        transport = InProcessTransport(inner)
        task = asyncio.create_task(engine.generate(request))
        while inner.counts["drawn"] < more:
            await asyncio.sleep(0)
        published = model(1 if change else 0)
        if abort:
            async with engine.held():
                await transport.publish(published, 1)
        elif more:
            await transport.publish(published, 1)
        result = await asyncio.wait_for(task, 120)
        await engine.close()
        return result, engine.interrupted

    return asyncio.run(sampled())


def test_interrupted_request_continues_with_the_same_draws() -> None:
    whole, _ = reply(0, change=False, abort=False)
    assert len(whole.ids) == 24
    again, interrupted = reply(9, change=False, abort=True)
    assert interrupted == 1
    assert again.ids == whole.ids
    assert again.finish == whole.finish
    assert [span.version for span in again.spans] == [0, 1]
    assert again.spans[0].end == again.spans[1].start >= 9
    assert again.spans[1].end == 24


def test_interrupted_and_kept_requests_sample_the_same_from_new_weights() -> None:
    interrupted, count = reply(9, change=True, abort=True)
    kept, none = reply(9, change=True, abort=False)
    assert (count, none) == (1, 0)
    assert interrupted.ids == kept.ids
    assert interrupted.spans == kept.spans
    assert interrupted.ids != reply(0, change=False, abort=False)[0].ids


def test_an_abort_by_others_reaches_the_player() -> None:
    async def aborted() -> TokenReply:
        inner = LocalEngine(model())
        engine = InterruptedRequests(inner)
        request = TokenRequest([3, 1], TokenSampling(max_tokens=100), "session")
        task = asyncio.create_task(engine.generate(request))
        while inner.counts["drawn"] < 5:
            await asyncio.sleep(0)
        await engine.abort("session")
        result = await asyncio.wait_for(task, 120)
        await engine.close()
        return result

    assert asyncio.run(aborted()).finish == "abort"
