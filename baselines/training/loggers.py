"""TensorBoard and Weights & Biases: metrics, evaluations and sample trajectories of a run.

`metrics.jsonl` in the run's folder is always written and needs neither; see `metrics`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.samples import TrialSample

__all__ = ["Logger", "close_loggers", "open_loggers"]


class Logger(Protocol):
    """Receives a run's metrics and samples, in the order of its steps."""

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log the metrics of a step or of an evaluation."""
        ...

    def show(self, step: int, samples: Sequence[TrialSample]) -> None:
        """Log sample trajectories of an evaluation."""
        ...

    def close(self) -> None:
        """Flush and close."""
        ...


class _TensorBoard:
    def __init__(self, folder: Path, recipe: Recipe) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder / "tensorboard"))
        self._writer.add_text("recipe", f"```\n{recipe.model_dump_json(indent=1)}\n```")

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def show(self, step: int, samples: Sequence[TrialSample]) -> None:
        for sample in samples:
            solved = "solved" if sample.reward == 1.0 else "failed"
            text = f"`{sample.task}`, reward {sample.reward}\n\n{sample.transcript}"
            self._writer.add_text(f"samples/{solved}", text, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class _Wandb:
    def __init__(self, folder: Path, recipe: Recipe) -> None:
        import wandb

        self._wandb = wandb
        self._run = wandb.init(
            project="hexathlon",
            name=folder.name,
            dir=str(folder),
            config=recipe.model_dump(mode="json"),
        )

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self._run.log(dict(metrics), step=step)

    def show(self, step: int, samples: Sequence[TrialSample]) -> None:
        table = self._wandb.Table(columns=["task", "reward", "transcript"])
        for sample in samples:
            table.add_data(*sample)
        self._run.log({"samples": table}, step=step)

    def close(self) -> None:
        self._run.finish()


_Opener = Callable[[Path, Recipe], Logger]
_KINDS: Mapping[str, _Opener] = {"tensorboard": _TensorBoard, "wandb": _Wandb}


def open_loggers(names: Sequence[str], folder: Path, recipe: Recipe) -> list[Logger]:
    """Open loggers by name.

    Args:
        names: `tensorboard`, `wandb`.
        folder: The run's folder; TensorBoard writes to `tensorboard/` in it, W&B to `wandb/`.
        recipe: Logged with the run.

    Raises:
        ValueError: If a name is unknown, or its package is not installed.
    """
    opened: list[Logger] = []
    for name in dict.fromkeys(names):
        if name not in _KINDS:
            known = " and ".join(_KINDS)
            raise ValueError(f"there is no logger {name!r}: expected {known}")
        try:
            opened.append(_KINDS[name](folder, recipe))
        except ImportError as error:
            close_loggers(opened)
            raise ValueError(
                f"{name} is not installed ({error}): pip install 'hexathlon[logging]'"
            ) from None
    return opened


def close_loggers(loggers: Sequence[Logger]) -> None:
    """Close every logger, even if closing another one fails."""
    with ExitStack() as stack:
        for logger in loggers:
            stack.callback(logger.close)
