"""What judges say of a run: read beside the verified scores, shown beside them, never among them.

A judged file is not replayed. What is checked is that nobody changed it after it was written and
that it speaks of this run; a file that fails is named and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.judged.file import (
    JudgedError,
    JudgedFile,
    judged_files,
    last_of_trials,
    read_judged,
)
from hexathlon.evaluators.judged.results import JudgedSummary, summarise_judged

__all__ = ["Judgement", "Judgements", "load_judgements"]


class Judgement(NamedTuple):
    """What one judge says of a run's trials in one environment."""

    env: str
    summary: JudgedSummary


class Judgements(NamedTuple):
    """What all judges say of a run."""

    found: tuple[Judgement, ...] = ()
    faults: tuple[str, ...] = ()
    """Judged files that are left out, each with its reason."""

    def of(self, env: str) -> list[JudgedSummary]:
        """Return the summaries for one environment."""
        return [one.summary for one in self.found if one.env == env]


def load_judgements(run: Path, plan_hash: str) -> Judgements:
    """Read a run's judged files."""
    found: list[Judgement] = []
    faults: list[str] = []
    for path in judged_files(run):
        try:
            found += _by_env(path, plan_hash)
        except JudgedError as error:
            faults.append(str(error).replace(str(path), path.name))
        except (AttributeError, LookupError, TypeError, ValueError):
            # The chain holds, so its writer meant it; only the content is none that we know.
            faults.append(f"{path.name} does not hold what a judged file holds")
    return Judgements(tuple(found), tuple(faults))


def _by_env(path: Path, plan_hash: str) -> Iterator[Judgement]:
    whole = read_judged(path)
    if whole.header["plan_hash"] != plan_hash:
        raise JudgedError(f"{path.name} judges another run")
    envs = dict.fromkeys(str(line["key"]["env"]) for line in last_of_trials(whole.lines))
    for env in envs:
        yield Judgement(env, summarise_judged(_only(whole, env)))


def _only(whole: JudgedFile, env: str) -> JudgedFile:
    """Leave out the trials of other environments; controls and usage are the whole file's."""

    def belongs(line: dict[str, Any]) -> bool:
        return "key" not in line or line["key"]["env"] == env

    return whole._replace(lines=tuple(filter(belongs, whole.lines)))
