"""Rubrics by file or by name."""

from pathlib import Path

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.evaluators.judges.rubric import Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import get_rubric, read_rubric

__all__ = ["load_rubric"]


def load_rubric(name: str) -> Rubric:
    """Return the rubric of a TOML file or a built-in name.

    Raises:
        UsageError: If the file cannot be read or the name is unknown.
    """
    try:
        return read_rubric(Path(name)) if name.endswith(".toml") else get_rubric(name)
    except RubricError as error:
        raise UsageError(str(error)) from None
