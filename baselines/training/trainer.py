"""The trainer: creates a run's components, resumes, steps, evaluates, saves and closes them.

The step itself is in `step`. A killed run resumes from its last state bit for bit.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.distributed.sharding import Sharded
from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.tokens import HeatedEngine
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.pipeline.collect import Collector, GroupPlan
from hexathlon.baselines.pipeline.generation import Generation
from hexathlon.baselines.pipeline.pruning import Pruner
from hexathlon.baselines.pipeline.replay import Memory, ReplayStage
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.rollout.executor import Executor
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenSampling
from hexathlon.baselines.tokens.soft import SoftPrefixes
from hexathlon.baselines.training.asynchronous import AsynchronousSource
from hexathlon.baselines.training.backend import IdleBackend, InProcess, TrainingBackend
from hexathlon.baselines.training.components import Components, PolicyLearner
from hexathlon.baselines.training.engines import OpenedEngine
from hexathlon.baselines.training.journal import LOST_FILE, Journal
from hexathlon.baselines.training.loops import BackgroundLoop, ForegroundLoop, Loop
from hexathlon.baselines.training.proximal import proximal_of
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.rollouts import RolloutLog
from hexathlon.baselines.training.saving import (
    latest_state,
    load_average,
    load_state,
    save_state,
)
from hexathlon.baselines.training.source import BatchSource, SynchronousSource
from hexathlon.baselines.training.step import training_step
from hexathlon.baselines.training.step_metrics import mean_reward, mean_rewards_by_event
from hexathlon.baselines.training.swarm import Swarm
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialRecord

__all__ = ["DevResult", "Trainer"]


class DevResult(NamedTuple):
    """Result of a policy on dev tasks."""

    success: float
    records: list[TrialRecord]
    by_event: dict[str, float] = {}
    """Metrics by event, for mixtures."""


class Trainer:
    """Trains a policy in this process.

    Args:
        recipe: The recipe; `scale` is applied.
        model: The policy; changed in place.
        tokenizer: Its tokenizer.
        make: Creates an environment from its id.
        folder: The run's folder, for states and rollouts.
        reference: Frozen reference policy of the KL penalty, if the recipe has a beta.
        ranks: The learner ranks.
        backend: Supplies the engine and the executor of the environments.
        learner: Updates the policy; by default, one in this process.

    Attributes:
        step: Number of completed steps.
        components: The components that a step uses.
    """

    def __init__(
        self,
        recipe: Recipe,
        model: Any,
        tokenizer: Any,
        make: Callable[[str], Environment],
        folder: Path,
        reference: Any = None,
        ranks: Ranks = ALONE,
        backend: TrainingBackend | None = None,
        learner: PolicyLearner | None = None,
    ) -> None:
        recipe = recipe.scaled()
        self.step = 0
        self._states = folder / "states"
        self._make = make
        backend = backend or InProcess()
        central = backend.central(recipe)
        self._backend = backend if ranks.first or not central else IdleBackend()
        self._renderer = ChatRenderer(tokenizer)
        keeps = ranks.first or not central
        learner = learner or _learner(recipe, model, reference, ranks, keeps)
        loop: Loop = BackgroundLoop() if recipe.asynchrony.active else ForegroundLoop()
        try:
            opening = self._backend.open_engine(recipe, model, recipe.starting(folder), folder)
            opened = loop.run(opening)
        except BaseException:
            loop.close(_nothing())
            raise
        rollout = recipe.rollout
        if rollout.heat and not isinstance(opened.engine, HeatedEngine):
            loop.close(opened.close())
            raise EngineMissing(
                "rollout.heat needs the engine in the trainer's process: run without a cluster, or "
                "set rollout.heat = 0"
            )
        if recipe.palette.active and not isinstance(opened.engine, LocalEngine):
            loop.close(opened.close())
            raise EngineMissing(
                "palette.share needs the engine in the trainer's process, whose embedding reads "
                "soft tokens: run without a cluster, or set palette.share = 0"
            )
        prefixes = SoftPrefixes(recipe.seed, recipe.palette.tokens)
        executor = self._executor(
            recipe,
            opened,
            rollout.temperature,
            rollout.heat,
            prefixes if recipe.palette.active else None,
        )
        generation = _generation(recipe)
        pruner = _pruner(recipe, generation.known)
        self.components = Components(
            recipe=recipe,
            model=model,
            learner=learner,
            opened=opened,
            executor=executor,
            collector=Collector(
                executor,
                recipe.generate.splits(),
                growth=recipe.generate.growth(),
                pruner=pruner,
            ),
            generation=generation,
            replay=_replay(recipe),
            swarm=Swarm(
                recipe.swarm, recipe.tasks, recipe.policy.dialect, self._renderer, recipe.seed
            ),
            rollouts=RolloutLog(
                folder / "rollouts",
                recipe.rollout.rewards,
                ranks.number if ranks.count > 1 and not central else None,
                tokens=recipe.rollout.keep_tokens,
                texts=recipe.swarm.share,
            ),
            ranks=ranks,
            loop=loop,
            journal=Journal(folder / LOST_FILE, writes=ranks.first or not central),
            proximal=proximal_of(recipe, learner),
            prefixes=prefixes,
            central=central,
        )
        kind = AsynchronousSource if recipe.asynchrony.active else SynchronousSource
        self._source: BatchSource = kind(self.components)
        self._source_state: dict[str, Any] = {}

    def resume(self) -> bool:
        """Resume from the newest state; return whether there was one.

        Afterwards, the engine samples from the policy.

        Raises:
            CorruptState: If the state cannot be read.
            EngineError: If the engine does not sample from this policy.
        """
        run, state = self.components, latest_state(self._states)
        average, pending = None, {}
        if state is not None:
            learner = run.learner
            kept = load_state(
                state,
                learner.model,
                learner.optimisers,
                learner.critic,
                self._memory,
                learner.parallelism,
            )
            self.step = int(kept["step"])
            run.generation.known.load(kept)
            if run.collector.pruner is not None:
                run.collector.pruner.head.load(kept["quality"])
            average, pending = load_average(state), kept.get("source", {})
            run.heat(kept.get("entropy_scale"))
        run.proximal.begin(self.step, average)
        self._source.load(pending, self.step)
        run.publish(self.step)
        return state is not None

    def save(self) -> None:
        """Write the state; every rank calls this."""
        run = self.components
        pruner = run.collector.pruner
        save_state(
            self._states,
            self.step,
            run.learner.model,
            run.learner.optimisers,
            {
                "recipe": run.recipe.name,
                **run.generation.known.state(),
                "quality": None if pruner is None else pruner.head.state(),
                "source": self._source_state,
                "entropy_scale": run.entropy_scale,
            },
            run.learner.critic,
            self._memory,
            run.proximal.state(),
            run.learner.parallelism,
            run.ranks,
        )

    def advance(self) -> dict[str, float]:
        """Run one training step and return its metrics.

        Raises:
            NothingToLearn: If the filters leave no group in as many batches as the recipe allows.
            BatchLate: If there is no group to learn from within the recipe's deadline.
            LossNotFinite: If the update fails; the policy is unchanged.
            EngineError: If the engine does not sample from the policy after the update.
        """
        metrics = training_step(self.components, self._source, self.step)
        self._source_state = self._source.state()  # on every rank, even on those that do not save
        self.step += 1
        return metrics

    def measure(self, count: int) -> DevResult:
        """Play the first dev tasks of each table once, as `hexathlon eval` would."""
        run = self.components
        if not run.recipe.asynchrony.active:  # else rollouts are in progress
            run.complete(run.opened.engine.clear())
        plans = [
            GroupPlan(task, table.env, TrialLimits(turns=table.turns), 1, 0)
            for table in run.recipe.tasks
            for task in table.addresses("dev", count)
        ]
        executor = self._executor(run.recipe, run.opened, run.recipe.evaluation.temperature)
        try:
            records = run.collect(Collector(executor), plans).records
        finally:
            executor.close()
        by_event = mean_rewards_by_event("dev/success", records, run.recipe.tasks)
        return DevResult(mean_reward(records), records, by_event)

    def close(self) -> None:
        """Close the environments, the engine and the event loop."""
        run = self.components
        self._source.close()
        run.executor.close()
        run.loop.close(run.opened.close())

    @property
    def _memory(self) -> Memory | None:
        """The replay memory, if the recipe uses one."""
        replay = self.components.replay
        return replay.memory if replay.active else None

    def _executor(
        self,
        recipe: Recipe,
        opened: OpenedEngine,
        temperature: float,
        heat: float = 0.0,
        prefixes: SoftPrefixes | None = None,
    ) -> Executor:
        growth = recipe.generate.growth()
        sampling = TokenSampling(
            temperature=temperature,
            heat=heat,
            max_tokens=recipe.rollout.max_tokens,
            seed=recipe.seed,
            entropies=growth is not None and growth.entropies,
        )
        codec = get_codec(recipe.policy.dialect)
        agent = PolicyAgent(opened.engine, self._renderer, codec, sampling, prefixes)
        return self._backend.executor(recipe, agent, self._make)


async def _nothing() -> None:
    pass


def _learner(recipe: Recipe, model: Any, reference: Any, ranks: Ranks, keeps: bool) -> Learner:
    """Return the learner of a rank, which keeps the whole policy if the rank samples."""
    config = recipe.learner_config()
    critic = None
    if recipe.critic is not None:
        critic = Critic(model, recipe.critic, recipe.steps, config.token_budget, ranks)
    steps = recipe.steps * recipe.learn.minibatches * recipe.learn.epochs
    parallelism = None
    if recipe.learner.kind == "sharded":
        parallelism = Sharded(
            ranks, precision=config.precision, reshard=recipe.learner.reshard, keeps=keeps
        )
    return Learner(model, config, steps, reference, critic, ranks, parallelism)


def _generation(recipe: Recipe) -> Generation:
    rollout = recipe.rollout
    return Generation(
        recipe.tasks,
        recipe.generate,
        rollout.groups,
        rollout.members,
        recipe.seed,
        TaskStatistics(),
    )


def _pruner(recipe: Recipe, known: TaskStatistics) -> Pruner | None:
    table = recipe.generate
    part = table.pruning
    return None if part is None else Pruner(part.name, part.parameters, table.prune_after, known)


def _replay(recipe: Recipe) -> ReplayStage:
    table = recipe.replay
    memory = Memory(table.groups, table.tasks)
    return ReplayStage(table.name, table.parameters, memory, recipe.seed)
