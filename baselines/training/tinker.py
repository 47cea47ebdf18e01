"""A training run whose engine and learner are at a Tinker endpoint.

The loop, the tasks, the credit and the objective are those of every run. Weights, gradients and
optimiser stay at the endpoint: `states/` has the paths of its saved states, `before.json` and
`after.json` rewards on dev tasks, and `tinker.json` finally the path of the trained policy.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.engines.errors import EngineMissing, UnknownModel, WeightsDiffer
from hexathlon.baselines.engines.tinker import TinkerEngine
from hexathlon.baselines.learner.tinker import TinkerLearner
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.rollout.executor import Executor, LocalExecutor
from hexathlon.baselines.training.curve import write_curve
from hexathlon.baselines.training.engines import OpenedEngine
from hexathlon.baselines.training.loggers import Logger
from hexathlon.baselines.training.metrics import MetricsLog, ProgressCallback
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.envs.base import Environment
from hexathlon.evaluators.statistics import ScoreInterval, score_interval

__all__ = ["TinkerBackend", "launch_tinker"]

_TOLERANCE = 0.3
"""Largest difference of a log-probability between sampler and learner, in low precision."""

_PROBE = 24


class TinkerBackend:
    """Opens the endpoint of a recipe: its learner, its engine, and the way from one to the other.

    Args:
        recipe: The recipe; `scale` is applied.

    Raises:
        EngineMissing: If the package is not installed.
        UnknownModel: If the endpoint has no such base model.
        ValueError: If a setting does not fit an endpoint.
    """

    def __init__(self, recipe: Recipe) -> None:
        try:
            import tinker
        except ImportError:
            raise EngineMissing("pip install 'hexathlon[tinker]'") from None
        table = recipe.engine
        self.service = tinker.ServiceClient(base_url=table.urls[0])
        supported = self.service.get_server_capabilities().supported_models
        models = {each.model_name: each for each in supported}
        if table.model not in models:
            raise UnknownModel(f"{table.urls[0]} has {', '.join(models)}, not {table.model!r}")
        client = self.service.create_lora_training_client(
            table.model, rank=recipe.policy.lora_rank, seed=recipe.seed
        )
        steps = recipe.steps * recipe.learn.minibatches * recipe.learn.epochs
        self.learner = TinkerLearner(client, recipe.learner_config(), steps)
        self.engine = TinkerEngine(
            table.context or models[table.model].max_context_length or 32_768
        )
        self._tolerance = table.tolerance or _TOLERANCE

    def central(self, recipe: Recipe) -> bool:
        """Return True."""
        return True

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Return the engine, with this as its transport."""
        return OpenedEngine(self.engine, self)

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Create an executor on the event loop of this process."""
        return LocalExecutor(agent, make, recipe.rollout.concurrency)

    async def publish(self, model: Any, version: int) -> float:
        """Sample from the learner's weights; return the difference of log-probabilities."""
        sampler = await self.learner.client.save_weights_and_get_sampling_client()
        self.engine.use(sampler, version)
        ids = list(range(_PROBE))
        values = await self.engine.logprobs(ids)
        expected = self.learner.logprobs([ids])[0]
        difference = max(abs(a - b) for a, b in zip(values, expected, strict=True))
        if not difference <= self._tolerance:
            raise WeightsDiffer(f"sampler and learner of the endpoint differ by {difference:.3g}")
        return difference

    async def close(self) -> None:
        """Do nothing: the client's threads end with the process."""


def launch_tinker(
    recipe: Recipe, out: Path, report: ProgressCallback, loggers: Sequence[Logger]
) -> dict[str, ScoreInterval]:
    """Run a recipe against its endpoint; see `run.train`."""
    from transformers import AutoTokenizer

    backend = TinkerBackend(recipe)
    tokenizer = AutoTokenizer.from_pretrained(recipe.policy.checkpoint)
    trainer = Trainer(recipe, None, tokenizer, make_env, out, backend=backend,
                      learner=backend.learner)  # fmt: skip
    log: MetricsLog | None = None
    results: dict[str, ScoreInterval] = {}
    try:
        trainer.resume()
        log = MetricsLog(out / "metrics.jsonl", trainer.step or -1)
        results["before"] = _measured(trainer, recipe, out / "before.json")
        if trainer.step == 0:
            log.log(0, {"dev/success": results["before"].mean})
        while trainer.step < recipe.steps:
            metrics = trainer.advance()
            log.log(trainer.step, metrics)
            for logger in loggers:
                logger.log(trainer.step, metrics)
            report("train", trainer.step, recipe.steps, metrics)
            if trainer.step % recipe.save_every == 0 or trainer.step == recipe.steps:
                trainer.save()
        results["after"] = _measured(trainer, recipe, out / "after.json")
        write_curve(out, {"dev/success": results["after"].mean})
        path = backend.learner.client.save_weights_for_sampler("final").result().path
        (out / "tinker.json").write_text(json.dumps({"url": recipe.engine.urls[0], "path": path}))
    finally:
        trainer.close()
        if log is not None:
            log.close()
    return results


def _measured(trainer: Trainer, recipe: Recipe, kept: Path) -> ScoreInterval:
    """Play dev tasks once, and keep the rewards for a resumed run."""
    if not kept.exists():
        records = trainer.measure(recipe.evaluation.tasks).records
        kept.write_text(json.dumps([float(record["reward"] or 0.0) for record in records]))
    return score_interval(json.loads(kept.read_text()))
