"""Base class of forgeries, and the honest runs that they edit."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hexathlon.evaluators.judges.rubric import Control, Criterion, Predicate, Rubric
from support.counter import counter_run
from support.events import toy_run
from support.forger import Forger, Record
from support.judged import judge_by

RUBRIC = Rubric(
    id="forged",
    criteria=(
        Criterion(
            id="short", text="The trial is short.",
            check=Predicate(name="turns", params={"least": 1, "most": 3}),
        ),
        Criterion(
            id="polite", text="The reply is polite.", why="Manners have no closed form.",
            controls=(Control(reply="Please.", label="met"), Control(reply="No!", label="not_met")),
        ),
    ),
)  # fmt: skip


def honest_runs(folder: Path) -> None:
    """Write the runs that forgers change or copy from; `Parts` must be registered."""
    counter_run(folder / "model")
    counter_run(folder / "judged", tasks=4)
    judge_by(folder / "judged", RUBRIC)
    counter_run(folder / "twice", trials=2, seeds=2, tasks=4)
    counter_run(folder / "limited", limit_output_tokens=11)
    counter_run(folder / "tiny", level="tiny")
    counter_run(folder / "dev", split="dev")
    counter_run(folder / "more", tasks=24)
    counter_run(folder / "images", envs=("Parts",), tasks=2)
    toy_run(folder / "oracle", tasks=4)
    toy_run(folder / "oracle12", tasks=12)
    toy_run(folder / "noop", "agent:noop", tasks=4)


def failed(record: Record) -> bool:
    return bool(record["reward"] == 0.0)


def passed(record: Record) -> bool:
    return bool(record["reward"] == 1.0)


class Forgery(NamedTuple):
    """A change to a run, and where `verify` must locate it."""

    name: str
    change: Callable[[Forger], Record | None]
    """Returns the forged record; None for a forgery of the plan or of a whole file."""

    field: str
    """Start of the finding's field."""

    where: str = ""
    """Name in the finding, if not that of the record's task."""

    run: str = "model"
