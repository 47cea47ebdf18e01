"""Asynchronous training on the toy event: overlap, staleness, stragglers, failures, resumption.

Environments wait for events that the test sets, so that nothing here depends on time.
"""

import asyncio
import copy
import json
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.errors import WeightsDiffer
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.pipeline.tables import AsynchronyTable
from hexathlon.baselines.training.asynchronous import AsynchronousSource, BatchEmpty
from hexathlon.baselines.training.components import BatchLate
from hexathlon.baselines.training.journal import LOST_FILE
from hexathlon.baselines.training.recipe import RecipeError
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.envs.aio import AsyncEnvironment
from hexathlon.tasks.task import Task
from support.asynchronous import DEADLINE, Faults, made_start, played, recipe, trainer
from support.toy import ToyEnv
from support.training import weight_hashes


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_start(tmp_path_factory.mktemp("start") / "policy")


def advance(run: Trainer, steps: int) -> list[dict[str, float]]:
    return [run.advance() for _ in range(steps)]


def tasks_of(run: Trainer, lot: int) -> list[str]:
    """Tasks of a batch, as they are drawn."""
    return list(run.components.generation.tasks(lot, 0))


def tasks_played(folder: Path, step: int) -> list[str]:
    return list(dict.fromkeys(record["key"]["task"] for record in played(folder, step)))


def lost(folder: Path) -> list[dict[str, Any]]:
    path = folder / LOST_FILE
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_the_asynchronous_source_without_staleness_gives_the_same_bits(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another executor, loop, engine copy and order of arrival: the same policy."""
    with trainer(start, tmp_path / "synchronous") as run:
        rows = advance(run, 3)
        expected = weight_hashes(run.components.model)
    monkeypatch.setattr(AsynchronyTable, "active", True)
    with trainer(start, tmp_path / "source") as run:
        again = advance(run, 3)
        assert weight_hashes(run.components.model) == expected
    for row, other in zip(rows, again, strict=True):
        # The engine's log-probabilities, unlike its tokens, depend on the batch in their last bits.
        assert row.pop("sampler_gap") == pytest.approx(other.pop("sampler_gap"), abs=1e-5)
        shared = {name for name in row if not name.startswith("seconds/")}
        assert {name: row[name] for name in shared} == {name: other[name] for name in shared}
        assert other["staleness/0"] == 1.0


def test_rollouts_continue_while_the_learner_updates(start: Path, tmp_path: Path) -> None:
    updating, sampled_meanwhile = threading.Event(), threading.Event()
    ahead: set[str] = set()

    def before(task: Task) -> None:
        if task.id in ahead:
            assert updating.wait(DEADLINE)

    with trainer(start, tmp_path, before, asynchrony__staleness=1) as run:
        ahead.update(tasks_of(run, 1))
        engine: Any = run.components.opened.engine
        generate, update = engine.generate, run.components.learner.update

        async def generated(request: Any) -> Any:
            reply = await generate(request)
            if updating.is_set():
                sampled_meanwhile.set()
            return reply

        def updated(examples: Any) -> Any:
            updating.set()
            # The engine samples for the next step while this one's update has not begun.
            assert sampled_meanwhile.wait(DEADLINE)
            return update(examples)

        engine.generate = generated
        run.components.learner.update = updated  # type: ignore[method-assign]
        first, second = advance(run, 2)
    assert first["staleness/0"] == 1.0
    assert second["staleness/1"] > 0  # sampled before the first update
    assert tasks_played(tmp_path, 2) == sorted(ahead, key=tasks_played(tmp_path, 2).index)


@pytest.mark.parametrize("more", [{}, {"asynchrony__update": "abort"}])
def test_staleness_is_bounded_and_batches_follow_the_order(
    start: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    with trainer(start, tmp_path, asynchrony__staleness=2, **more) as run:
        rows = advance(run, 5)
        for step in range(5):
            assert tasks_played(tmp_path, step + 1) == tasks_of(run, step)
    for row in rows:
        assert sum(row[f"staleness/{age}"] for age in range(3)) == pytest.approx(1.0)
        assert row["staleness/later"] == row["tokens/withheld"] == 0
        assert row["version/newest"] - row["version/oldest"] <= 2
        assert row["length/trained"] > 0


def test_failed_member_is_absent_and_not_a_failure_of_the_policy(
    start: Path, tmp_path: Path
) -> None:
    """The third opening of a task fails for good, so one of two members has no score."""
    faults = Faults(lambda task, number: number >= 1)
    with trainer(start, tmp_path, faults, asynchrony__staleness=1) as run:
        groups: list[Any] = []
        source = run._source
        batch = source.batch

        def seen(*arguments: Any) -> Any:
            result = batch(*arguments)
            groups.extend(result.groups)
            return result

        source.batch = seen  # type: ignore[method-assign]
        (row,) = advance(run, 1)
    assert [len(group.samples) for group in groups] == [1, 1]
    assert row["trials/faults"] == 2
    assert lost(tmp_path) == []


@pytest.mark.parametrize("staleness", [0, 1])
def test_group_below_its_least_size_is_replaced_also_after_a_restart(
    start: Path, tmp_path: Path, staleness: int
) -> None:
    with trainer(start, tmp_path / "draw") as run:
        bad = tasks_of(run, 0)[0]
    changes = {"asynchrony__staleness": staleness, "asynchrony__least": 2}
    faults = Faults(lambda task, number: task == bad)
    with trainer(start, tmp_path / "run", faults, **changes) as run:
        (row,) = advance(run, 1)
        expected = weight_hashes(run.components.model)
    assert row["groups/redrawn"] == 1
    assert row["groups/kept"] == 2
    assert [entry["task"] for entry in lost(tmp_path / "run")] == [bad]
    trained = {record["key"]["task"] for record in played(tmp_path / "run", 1)} - {bad}
    assert len(trained) == 2

    healthy = Faults(lambda task, number: False)
    with trainer(start, tmp_path / "run", healthy, **changes) as run:
        advance(run, 1)
        assert staleness or weight_hashes(run.components.model) == expected
    assert bad not in healthy.openings


@pytest.mark.parametrize("staleness", [0, 1])
def test_resumed_run_never_draws_the_batch_whose_update_failed(
    start: Path, tmp_path: Path, staleness: int
) -> None:
    def failing(examples: Any) -> Any:
        raise LossNotFinite("the loss is nan")

    with trainer(start, tmp_path, asynchrony__staleness=staleness) as run:
        advance(run, 1)
        run.save()
        run.components.learner.update = failing  # type: ignore[method-assign]
        with pytest.raises(LossNotFinite):
            run.advance()
    poisoned = tasks_played(tmp_path, 2)
    assert [entry["task"] for entry in lost(tmp_path)] == poisoned
    assert {entry["cause"] for entry in lost(tmp_path)} == {"the loss is nan"}
    healthy = Faults(lambda task, number: False)
    with trainer(start, tmp_path, healthy, asynchrony__staleness=staleness) as run:
        assert run.step == 1
        (row,) = advance(run, 1)
    assert row["groups/kept"] == 2
    assert not set(poisoned) & set(healthy.openings)


def test_resumed_run_submits_again_what_was_in_flight(start: Path, tmp_path: Path) -> None:
    with trainer(start, tmp_path, asynchrony__staleness=2) as run:
        advance(run, 2)
        run.save()
    with trainer(start, tmp_path, asynchrony__staleness=2) as run:
        assert run.step == 2
        rows = advance(run, 2)
        for step in range(4):
            assert tasks_played(tmp_path, step + 1) == tasks_of(run, step)
    assert rows[0]["staleness/0"] == 1.0  # everything is sampled again


def waited(stragglers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an update's deadline pass as soon as only stragglers run."""
    wait = AsynchronousSource._wait

    async def passed(self: AsynchronousSource, limit: float) -> bool:
        if len(self._tasks) <= stragglers:
            return False
        return await wait(self, limit)

    monkeypatch.setattr(AsynchronousSource, "_wait", passed)


@pytest.mark.parametrize("least", [1, 2])
def test_straggler_does_not_delay_an_update_beyond_its_deadline(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    """One of two members of a group never opens; the environment blocks its thread."""
    waited(1, monkeypatch)
    with trainer(start, tmp_path / "draw") as run:
        slow = tasks_of(run, 0)[0]
    released, lock, stuck = threading.Event(), threading.Lock(), []

    def before(task: Task) -> None:
        with lock:
            first = task.id == slow and not stuck
            if first:
                stuck.append(task.id)
        if first:
            assert released.wait(DEADLINE)

    changes = {
        "asynchrony__over_provision": 1.5,
        "asynchrony__late": "token_mask",
        "asynchrony__window": 1.0,
        "rollout__groups": 1,
    }
    try:
        with trainer(start, tmp_path / "run", before, **changes, asynchrony__least=least) as run:
            rows = advance(run, 3)
    finally:
        released.set()
    assert sum(row["rollouts/cut"] for row in rows) <= 1
    assert all(row["groups/kept"] == 1 for row in rows)


def test_redundant_rollout_replaces_a_straggler(start: Path, tmp_path: Path) -> None:
    """The first episode of every task never starts, and no deadline passes."""
    released, lock, seen = threading.Event(), threading.Lock(), set[str]()

    def before(task: Task) -> None:
        with lock:
            first = task.id not in seen
            seen.add(task.id)
        if first:
            assert released.wait(DEADLINE)

    changes = {"asynchrony__redundant": 1, "asynchrony__least": 2, "rollout__concurrency": 16}
    try:
        with trainer(start, tmp_path, before, **changes) as run:
            rows = advance(run, 2)
    finally:
        released.set()
    for row in rows:
        assert row["groups/kept"] == 2
        assert row["rollouts/redundant"] == 2
        assert row["rollouts/cut"] == row["groups/redrawn"] == row["trials/faults"] == 0
    assert [record["status"] for record in played(tmp_path, 1)] == ["scored"] * 4


def test_deadline_ends_the_rollouts_of_a_paced_update(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited(1, monkeypatch)
    with trainer(start, tmp_path / "draw") as run:
        slow = tasks_of(run, 0)[0]
    released, stuck = threading.Event(), Faults(lambda task, number: False)

    def before(task: Task) -> None:
        stuck(task)
        if task.id == slow and stuck.openings[slow] == 1:
            assert released.wait(DEADLINE)

    try:
        with trainer(start, tmp_path / "run", before, asynchrony__staleness=1) as run:
            first, second = advance(run, 2)
    finally:
        released.set()
    assert first["rollouts/cut"] == 1
    assert first["groups/kept"] == 2  # the straggler's group is trained on without it
    assert second["rollouts/cut"] == 0
    counts = [record["key"]["task"] for record in played(tmp_path / "run", 1)]
    assert counts.count(slow) == 1


def test_late_batch_and_empty_buffer_are_errors_with_names(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(lambda task, number: True)
    with (
        trainer(start, tmp_path / "failing", faults, asynchrony__staleness=1) as run,
        pytest.raises(BatchEmpty, match=r"groups in a row were lost .*a planted fault.*fix the"),
    ):
        run.advance()

    waited(100, monkeypatch)
    released = threading.Event()

    def blocked(task: Task) -> None:
        assert released.wait(DEADLINE)

    try:
        with trainer(start, tmp_path / "late", blocked, asynchrony__staleness=1) as run:
            with pytest.raises(BatchLate, match=r"step 0: no group finished within 3600 s; "):
                run.advance()
            released.set()
    finally:
        released.set()


class HangingToy(AsyncEnvironment, ToyEnv):
    """The toy event whose episodes never start."""

    async def on_reset(self, task: Task) -> str:  # type: ignore[override]
        await asyncio.Event().wait()
        return super().on_reset(task)


def test_a_hanging_environment_stops_a_synchronous_update_by_name(
    start: Path, tmp_path: Path
) -> None:
    changes = {"asynchrony__deadline": 0.2}
    with trainer(start, tmp_path, environment=HangingToy, **changes) as run:
        first = tasks_of(run, 0)[0]
        with pytest.raises(BatchLate, match=f"2 tasks .{first}, .*did not finish within 0.2 s"):
            run.advance()


def test_a_wrong_weight_stops_the_run_by_name_and_its_state_is_intact(
    start: Path, tmp_path: Path
) -> None:
    """The engine gets other weights than those that the learner publishes."""
    with trainer(start, tmp_path, asynchrony__staleness=1) as run:
        advance(run, 1)
        run.save()
        engine: Any = run.components.opened.engine
        update = engine.update

        async def planted(weights: Weights, version: int) -> float:
            wrong = copy.deepcopy(weights.model)
            with torch.no_grad():
                wrong.get_output_embeddings().weight[:100] += 0.5
            return float(await update(Weights(weights.probe, model=wrong), version))

        engine.update = planted
        with pytest.raises(WeightsDiffer, match="does not sample from the weights it was sent"):
            run.advance()
        saved = weight_hashes(run.components.model)
    with trainer(start, tmp_path, asynchrony__staleness=1) as run:
        assert run.step == 1
        assert weight_hashes(run.components.model) != saved
        (row,) = advance(run, 1)
    assert row["engine/difference"] < 1e-3


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"asynchrony__staleness": -1}, "staleness must be at least 0"),
        ({"asynchrony__late": "later"}, "there is no late policy 'later'; there are drop, pace"),
        ({"asynchrony__over_provision": 2.0}, "pacing would wait for them: set late to"),
        ({"asynchrony__least": 3}, "least must be at most rollout.members, 2, got 3"),
        ({"asynchrony__update": "abort"}, "needs requests in flight at an update"),
        (
            {"asynchrony__ratio": "ewma", "learn__objective": {"proximal": "behaviour"}},
            "remove learn.objective.proximal, got 'behaviour'",
        ),
    ],
)
def test_settings_that_do_not_fit_are_rejected(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(RecipeError, match=complaint):
        recipe(**changes)
