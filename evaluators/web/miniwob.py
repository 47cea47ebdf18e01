"""MiniWoB++'s rewards by name, from what the page itself reported."""

from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task

__all__ = ["miniwob"]


def miniwob(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Score an episode of a MiniWoB++ page.

    Args:
        task: Not used.
        params: `reward` (`original`, `raw`, `binary` or `threshold`), `threshold`, `turns`.
        final_state: `miniwob` with `done`, `raw`, `timed` (whether the page discounts by time),
            `actions` and `reason`.
        transcript: Not used.

    Returns:
        The verdict; its terms hold all four rewards on the published scale from -1 to 1. The score
        is the chosen one, and 0 where that is negative. The original reward is discounted by the
        share of the turns that was used, not by the wall clock.
    """
    page = final_state["miniwob"]
    done, raw = bool(page["done"]), float(page["raw"])
    left = max(0.0, 1.0 - page["actions"] / params["turns"])
    original = raw * left if page["timed"] else raw
    terms = {
        "original": original if done else 0.0,
        "raw": raw if done else 0.0,
        "binary": (1.0 if raw == 1.0 else -1.0) if done else 0.0,
        "threshold": (1.0 if raw >= params["threshold"] else -1.0) if done else 0.0,
    }
    score = min(1.0, max(0.0, terms[params["reward"]]))
    return Verdict(
        score=score,
        partial=min(1.0, max(0.0, terms["raw"])),
        terms=terms,
        evidence={"reason": str(page["reason"])[:200], "done": done},
    )
