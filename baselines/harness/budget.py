"""Budgets of a whole run: money, tokens and hours.

A budget limits how much of a plan is played now. It never affects a trial or its score: it cuts no
trial short and is not part of the plan's hash. A stopped run has planned trials without records,
which count as unscored, until it is resumed with a larger budget.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hexathlon.baselines.harness.config import ExecutionConfig
from hexathlon.baselines.harness.errors import UsageError

__all__ = ["RunBudget", "require_price"]


def require_price(execution: ExecutionConfig, price: float | None) -> None:
    """Check that costs are known if they are limited.

    Raises:
        UsageError: If they are not.
    """
    if execution.max_cost and price is None:
        raise UsageError(
            "--max-cost needs the model's price, which no price table lists: name one with "
            "--prices, or limit the run with --max-tokens or --max-hours"
        )


class RunBudget:
    """Counts what a run has spent.

    Tokens and cost include the records of earlier calls, of every role and every attempt; hours
    are those of this call.

    Args:
        execution: The limits `max_cost`, `max_tokens` and `max_hours`.
        records: The records of earlier calls.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        execution: ExecutionConfig,
        records: Iterable[Mapping[str, Any]] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._execution, self._clock = execution, clock
        self._started = clock()
        self._tokens, self._cost = 0, 0.0
        if execution.max_cost or execution.max_tokens:
            for record in records:
                self.add(record)

    def add(self, record: Mapping[str, Any]) -> None:
        """Count a record.

        Raises:
            UsageError: If costs are limited and this trial's cost is unknown.
        """
        for usage in record["usage"].values():
            self._tokens += int(usage.get("input") or 0) + int(usage.get("output") or 0)
            if usage.get("cost") is not None:
                self._cost += float(usage["cost"])
            elif usage.get("calls"):
                require_price(self._execution, None)

    def exhausted(self) -> str | None:
        """Return the limit that is reached, with the amount spent; None while budget is left."""
        execution, hours = self._execution, (self._clock() - self._started) / 3600
        if execution.max_cost and self._cost >= execution.max_cost:
            return f"--max-cost {execution.max_cost:g} is reached: {self._cost:.4g} spent"
        if execution.max_tokens and self._tokens >= execution.max_tokens:
            return f"--max-tokens {execution.max_tokens:,} is reached: {self._tokens:,} used"
        if execution.max_hours and hours >= execution.max_hours:
            return f"--max-hours {execution.max_hours:g} is reached: {hours:.3g} hours passed"
        return None
