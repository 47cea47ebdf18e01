"""Report of the kit: one result per check, with a line on how to fix each failure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = [
    "CheckFailed",
    "CheckResult",
    "CheckSkipped",
    "ConformanceCheck",
    "ConformanceError",
    "Report",
]


class CheckFailed(Exception):
    """A check found a fault; the message states the received and the expected value."""


class CheckSkipped(Exception):
    """A check does not apply; the message gives the reason."""


class ConformanceError(AssertionError):
    """An environment does not conform; the message lists the failures and how to fix them."""


class ConformanceCheck(NamedTuple):
    """One check."""

    name: str
    remedy: str
    """One line on how to fix a failure."""

    run: Callable[[Any], None]
    """Receives the subject; raises `CheckFailed` or `CheckSkipped`."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    detail: str = ""
    remedy: str = ""
    same_as: str = ""
    """The earlier check that failed with the same exception."""

    def __str__(self) -> str:
        line = f"{self.status:8}{self.name}"
        if self.detail:
            line += f": {self.detail}"
        return f"{line}\n        fix: {self.remedy}" if self.remedy else line


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of the kit on one environment."""

    subject: str
    results: tuple[CheckResult, ...]

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The failed checks, in order."""
        return tuple(result for result in self.results if result.status == "failed")

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the failed checks."""
        return tuple(result.name for result in self.failures)

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    @property
    def counts(self) -> str:
        """The numbers of checks by outcome, such as `38 passed, 1 failed, 0 skipped`."""
        return ", ".join(
            f"{sum(result.status == status for result in self.results)} {status}"
            for status in ("passed", "failed", "skipped")
        )

    def __str__(self) -> str:
        return "\n".join([f"{self.subject}: {self.counts}", *self._lines()])

    def _lines(self) -> Iterator[str]:
        """Yield each result, with later checks that failed with the same exception."""
        for result in self.results:
            if not result.same_as:
                yield str(result)
                same = [other.name for other in self.results if other.same_as == result.name]
                if same:
                    yield f"        the same exception failed {len(same)} more: {', '.join(same)}"
