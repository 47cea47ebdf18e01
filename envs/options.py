"""Options of `reset`, and the choices of `make`, checked before anything is built."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from hexathlon.envs.errors import UnknownOption
from hexathlon.tasks.task import LEVELS, SPLITS, Limits
from hexathlon.tasks.validation import choice_problem, explain

__all__ = ["check_choices", "check_limits", "check_options"]

_TEXTS = ("task", "taskset", "split", "level", "salt")
_OPTIONS = ("task", "taskset", "split", "level", "index", "salt")


def check_choices(split: object, level: object) -> None:
    """Check the names of a split and a level.

    Raises:
        ValueError: If there is no such split or level.
    """
    problem = choice_problem("split", split, SPLITS)
    if not problem and level is not None:
        problem = choice_problem("level", level, LEVELS)
    if problem:
        raise ValueError(problem)


def check_limits(limits: object) -> dict[str, Any]:
    """Return overrides of a task's limits as a dictionary.

    Raises:
        ValueError: If a limit is unknown or out of range.
    """
    if not isinstance(limits, Mapping):
        raise ValueError(f"limits must be a mapping such as {{'turns': 5}}, got {limits!r:.80}")
    try:
        Limits(**limits)
    except (ValidationError, TypeError) as error:
        said = explain(error, Limits.model_fields) if isinstance(error, ValidationError) else error
        raise ValueError(f"limits: {said}") from None
    return dict(limits)


def check_options(options: object) -> None:
    """Check the options of a reset.

    Raises:
        UnknownOption: If a name is unknown.
        ValueError: If a value has the wrong type, or options contradict each other.
    """
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dictionary, got {options!r:.80}")
    for name, value in options.items():
        if name not in _OPTIONS:
            raise UnknownOption(str(name), _OPTIONS)
        if name in _TEXTS and value is not None and not isinstance(value, str):
            raise ValueError(f"option {name!r} must be a text, got {value!r:.80}")
    if options.get("task") is not None and len(options) > 1 + ("salt" in options):
        raise ValueError(f"'task' names one task; drop the other options of {dict(options)}")
    index = options.get("index", 0)
    if isinstance(index, bool) or not hasattr(index, "__index__") or index < 0:
        raise ValueError(f"option 'index' must be a whole number of at least 0, got {index!r:.80}")
