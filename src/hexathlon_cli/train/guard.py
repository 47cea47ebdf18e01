"""Errors of a training run that a user can fix, as one-line messages with exit codes.

PyTorch may be missing when this module is imported; what needs it is imported in the functions.
"""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["guarded", "require_torch"]

Result = TypeVar("Result")


def require_torch() -> None:
    """Check that PyTorch is installed.

    Raises:
        EnvironmentUnavailable: If the extra `train` is not installed.
    """
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.engines.local import loading
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable

    try:
        loading.require_torch()
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None


def guarded(work: Callable[[Any], Result]) -> Result:
    """Run `work(report)` under a progress display.

    Raises:
        UsageError: If the recipe, the checkpoint or the run directory cannot be used.
        CommandError: If training cannot continue.
    """
    from hexathlon.baselines.distributed.launch import RankFailed
    from hexathlon.baselines.engines.errors import EngineError
    from hexathlon.baselines.engines.local.loading import CheckpointError
    from hexathlon.baselines.harness.errors import CommandError, UsageError
    from hexathlon.baselines.learner.learner import LossNotFinite
    from hexathlon.baselines.pipeline.collect import StartsDiffer
    from hexathlon.baselines.pipeline.generation import HintFailed
    from hexathlon.baselines.training.folder import FolderInUse, RecipeDiffers
    from hexathlon.baselines.training.saving import CorruptState, StateNotSaved
    from hexathlon.baselines.training.step import NothingToLearn
    from hexathlon.tasks.validation import reason
    from hexathlon_cli.train.progress import shown

    ends = (
        NothingToLearn, HintFailed, LossNotFinite, CorruptState, StateNotSaved, StartsDiffer,
        RankFailed, EngineError,
    )  # fmt: skip
    try:
        with shown() as report:
            return work(report)
    except (RecipeDiffers, FolderInUse, CheckpointError, ValueError) as error:
        raise UsageError(str(error)) from None
    except ends as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise CommandError(
            f"the run stopped: {place}{reason(error)}; fix this and repeat the command"
        ) from None
