"""Entry points of the kit: run every check on one environment."""

import traceback
from collections.abc import Callable, Iterable
from typing import Any

from hexathlon.envs.testing.content_checks import CHECKS as CONTENT
from hexathlon.envs.testing.determinism_checks import CHECKS as DETERMINISM
from hexathlon.envs.testing.ending_checks import CHECKS as ENDING
from hexathlon.envs.testing.identity_checks import CHECKS as IDENTITY
from hexathlon.envs.testing.interface_checks import CHECKS as INTERFACE
from hexathlon.envs.testing.leak_checks import CHECKS as LEAKS
from hexathlon.envs.testing.neighbour_checks import CHECKS as NEIGHBOURS
from hexathlon.envs.testing.process_checks import CHECKS as PROCESSES
from hexathlon.envs.testing.report import (
    CheckFailed,
    CheckResult,
    CheckSkipped,
    ConformanceCheck,
    ConformanceError,
    Report,
)
from hexathlon.envs.testing.score_checks import CHECKS as SCORES
from hexathlon.envs.testing.source_checks import CHECKS as SOURCE
from hexathlon.envs.testing.state_checks import CHECKS as STATE
from hexathlon.envs.testing.subject import Subject, Target
from hexathlon.envs.testing.truth_checks import CHECKS as TRUTH

__all__ = ["assert_conforms", "check_environment", "check_names"]

_CHECKS: tuple[ConformanceCheck, ...] = (
    *INTERFACE,
    *ENDING,
    *DETERMINISM,
    *PROCESSES,
    *STATE,
    *LEAKS,
    *SCORES,
    *NEIGHBOURS,
    *TRUTH,
    *IDENTITY,
    *SOURCE,
    *CONTENT,
)

_Place = tuple[type[BaseException], str, int]
"""Type of an exception, and file and line where it was raised."""

_RAISED = "the check raised an exception; fix this first"


def check_names() -> list[str]:
    """Return the names of all checks, in execution order."""
    return [check.name for check in _CHECKS]


def check_environment(
    target: Target,
    *,
    floor: float = 0.02,
    fuzz: int = 10_000,
    tasks: int = 1_000,
    sample: int = 50,
    seed: int = 0,
    only: Iterable[str] | None = None,
    skip: Iterable[str] = (),
    started: Callable[[str], None] | None = None,
    progress: Callable[[CheckResult], None] | None = None,
    **kwargs: Any,
) -> Report:
    """Run every check on an environment.

    Args:
        target: A registered id, or a constructor of environments.
        floor: Highest mean score that a trivial policy may reach.
        fuzz: Number of fuzzed actions to send.
        tasks: Number of tasks that the oracle solves, taken evenly from all public splits.
        sample: Number of tasks of one split for the other score checks.
        seed: Base seed of the kit's own choices.
        only: Names of the checks to run; all by default.
        skip: Names of checks to skip; the report lists them as skipped.
        started: Called with the name of each check before it runs.
        progress: Called with each result as it completes.
        **kwargs: For every instance of the environment.

    Raises:
        ValueError: If `only` or `skip` names a check that does not exist.
    """
    wanted = set(check_names() if only is None else only)
    left_out = set(skip)
    unknown = sorted((wanted | left_out) - set(check_names()))
    if unknown:
        raise ValueError(f"there is no check {unknown[0]!r}; the checks are {check_names()}")
    subject = Subject(
        target, kwargs=kwargs, floor=floor, fuzz=fuzz, tasks=tasks, sample=sample, seed=seed
    )
    results = []
    raised: dict[_Place, str] = {}
    for check in _CHECKS:
        if check.name in wanted:
            if started is not None:
                started(check.name)
            result = _left_out(check) if check.name in left_out else _result(check, subject, raised)
            results.append(result)
            if progress is not None:
                progress(result)
    return Report(subject.name, tuple(results))


def assert_conforms(target: Target, **options: Any) -> None:
    """Run the checks and raise if one fails; for use in tests.

    Args:
        target: A registered id, or a constructor of environments.
        **options: As for `check_environment`.

    Raises:
        ConformanceError: If a check failed; the message is the report.
    """
    report = check_environment(target, **options)
    if not report.passed:
        raise ConformanceError(str(report))


def _result(check: ConformanceCheck, subject: Subject, raised: dict[_Place, str]) -> CheckResult:
    """Run a check; an exception already raised at the same line is not described again.

    Args:
        check: The check.
        subject: The environment under test.
        raised: The first check by exception; the check's own is added.
    """
    try:
        check.run(subject)
    except CheckSkipped as skipped:
        return CheckResult(check.name, "skipped", str(skipped))
    except Exception as error:  # whatever the environment raises is a finding
        cause = error.__cause__ if isinstance(error, CheckFailed) else error
        first = check.name if cause is None else raised.setdefault(_place_of(cause), check.name)
        if first != check.name:
            return CheckResult(check.name, "failed", f"as in {first}", same_as=first)
        if isinstance(error, CheckFailed):
            return CheckResult(check.name, "failed", str(error), check.remedy)
        detail = f"raised {type(error).__name__}: {error}"
        return CheckResult(check.name, "failed", detail, _RAISED)
    return CheckResult(check.name, "passed")


def _place_of(error: BaseException) -> _Place:
    """Return type and line of an exception; its text may name a task."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return type(error), str(error), 0
    frame, line = frames[-1]
    return type(error), frame.f_code.co_filename, line


def _left_out(check: ConformanceCheck) -> CheckResult:
    return CheckResult(check.name, "skipped", "skipped by the caller")
