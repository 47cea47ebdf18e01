"""R-EMID of a run on the task source `roleplay-shift`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.plan import open_row
from hexathlon.evaluators.records import RecordError, check_chain, read_records, record_key
from hexathlon.evaluators.records.plan import PlanError, TrialKey, read_plan
from hexathlon.evaluators.roleplay.emid import Exchange, RolePlayShift, role_play_shift
from hexathlon.tasks.roleplay.shift import SHIFTS, reference_turns
from hexathlon.tasks.source import parse_address

__all__ = ["MeasuredShift", "shift_exchanges", "shifts_of_run"]

SOURCE = "roleplay-shift"

ScoreReply = Callable[[str, str], float]
"""Natural logarithm of a reply's probability after a context."""


class MeasuredShift(NamedTuple):
    """R-EMID under the shift of one factor."""

    factor: str
    """`user`, `character` or `dialogue`."""

    inside: int
    """Number of replies in the distribution."""

    outside: int
    """Number of replies under the shift."""

    result: RolePlayShift


def shifts_of_run(
    run: Path,
    score: ScoreReply,
    *,
    length: Callable[[str], float] | None = None,
    negatives: int = 1000,
    seed: int = 0,
) -> list[MeasuredShift]:
    """Return R-EMID of the replies in a run, for each factor with replies on both sides.

    Args:
        run: The run directory; its tasks are those of `roleplay-shift`.
        score: Scores a reply given the text of its context.
        length: Length of a reply, such as its tokens; information is then per unit of length.
        negatives: Mismatched pairs per estimate.
        seed: Seed of the mismatched pairs.

    Raises:
        UsageError: If the run cannot be read, or no factor has replies on both sides.
    """
    exchanges = shift_exchanges(run)
    found = []
    for factor in SHIFTS:
        inside, outside = exchanges.get(f"{factor}-in", []), exchanges.get(f"{factor}-out", [])
        if min(len(inside), len(outside)) > 1:
            result = role_play_shift(
                score, inside, outside, negatives=negatives, length=length, seed=seed
            )
            found.append(MeasuredShift(factor, len(inside), len(outside), result))
    if not found:
        raise UsageError(
            f"{run} has no factor with two replies on both sides: evaluate the model on "
            f"--taskset {SOURCE}"
        )
    return found


def shift_exchanges(run: Path) -> dict[str, list[Exchange]]:
    """Return the replies of a run with their contexts and references, by template.

    Trials that ended in infrastructure failures are left out.

    Raises:
        UsageError: If the run cannot be read, or is not one of `roleplay-shift`.
    """
    try:
        plan = read_plan(run)
        faults = check_chain(run, plan["plan_hash"])
        if faults:
            raise UsageError(f"{run}: {faults[0]}")
        rows = [row for row in plan["envs"] if row["taskset"] == SOURCE]
        if not rows:
            raise UsageError(f"{run} has no task of {SOURCE}: evaluate with --taskset {SOURCE}")
        last: dict[TrialKey, Mapping[str, Any]] = {
            record_key(record): record for record in read_records(run)
        }
    except (PlanError, RecordError, OSError) as error:
        raise UsageError(str(error)) from None
    tasks = open_row(rows[0], None)
    exchanges: dict[str, list[Exchange]] = {}
    for (_, task_id, _, _), record in last.items():
        if record["status"] == "infra" or not task_id.startswith(f"{SOURCE}/"):
            continue
        # Of the state, not of the steps: a malformed call is a step, and the visitor still waits.
        replies = [str(turn["reply"]) for turn in record["final_state"].get("turns", ())]
        turns = reference_turns(tasks.get(task_id), replies)
        own = exchanges.setdefault(parse_address(task_id).template, [])
        own += [
            Exchange(_text(turn.context), reply, turn.reference)
            for turn, reply in zip(turns, replies, strict=False)
        ]
    return exchanges


def _text(context: Mapping[str, str]) -> str:
    parts: Sequence[str] = [f"{name}: {value}" for name, value in context.items()]
    return "\n\n".join(parts) + "\n\nreply: "
